// Builds single executables, which contain Node and the files of the package, into dist-executables:
// `npm run executables` for this platform, `npm run executables -- linux-x64 win-x64` for others, `-- all` for all, and `--to DIR`
// into another directory. With --without-compiled, two builds of the same files are the same, byte for byte. --without-archive leaves out the .gz. Signing comes last,
// and is not done here. A build fails unless the executable is of its platform, contains every file, and is small enough.
// Node is fetched from the npm registry, and checked against the integrity in .ci/node-binaries.json. Compiled code belongs to
// one platform, so an executable contains it only if it is built there.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {buildSync} from 'esbuild';
import {compress} from './compress.js';
import {platformAndBlob} from './executable-format.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** In bytes: what someone downloads, if it was compressed as well as a release is. */
const largestArchive = 42_000_000;
const {version, platforms} = JSON.parse(readFileSync(join(root, '.ci/node-binaries.json'), 'utf8'));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'media-cli', 'node');
const here = `${process.platform.replace('win32', 'win')}-${process.arch}`;

const {values, positionals: named} = parseArgs({
  allowPositionals: true,
  options: {
    to: {type: 'string', default: join(root, 'dist-executables')},
    'without-archive': {type: 'boolean', default: false},
    'without-compiled': {type: 'boolean', default: false},
  },
});
const target = resolve(values.to);
const chosen = named.includes('all') ? Object.keys(platforms) : named.length > 0 ? named : [here];
for (const name of chosen) {
  if (platforms[name] === undefined)
    throw new Error(`There is no executable for ${name}, only for ${Object.keys(platforms).join(', ')}.`);
}
const scratch = mkdtempSync(join(tmpdir(), 'media-executables-'));
try {
  const builder = fetchNode(here);
  mkdirSync(target, {recursive: true});
  const rows = [];
  for (const name of chosen) rows.push(await build(name, builder));
  console.table(rows);
} finally {
  rmSync(scratch, {recursive: true, force: true});
}

async function build(name, builder) {
  const node = fetchNode(name);
  const base = join(scratch, `base-${name}`);
  copyFileSync(node.program, base);
  const isStripped = strip(base, name);
  const file = `media-${name}${name.startsWith('win') ? '.exe' : ''}`;
  const output = join(target, file);
  const assets = {...packageFiles(), 'NODE-LICENSE.txt': node.license};
  if (!values['without-compiled'] && name === here) Object.assign(assets, compiledCode(node.program));
  inject(builder.program, {base, output, assets});
  const bytes = readFileSync(output);
  check(bytes, name, Object.keys(assets));
  if (values['without-archive']) return {file, bytes: bytes.length, isStripped};
  const {archive, isLarger} = compress(bytes);
  if (archive.length > largestArchive && !isLarger)
    throw new Error(`media-${name}.gz has ${archive.length} bytes, more than ${largestArchive}.`);
  writeFileSync(join(target, `media-${name}.gz`), archive);
  return {
    file,
    bytes: bytes.length,
    gz: archive.length,
    isStripped,
    sha256: digest(bytes, 'sha256', 'hex'),
  };
}

/** The compiled code of the frequent commands, for the Node of the executable. */
function compiledCode(node) {
  const directory = join(root, 'dist/compiled');
  rmSync(directory, {recursive: true, force: true});
  call(process.execPath, join(root, '.ci/compiled.js'), node);
  const named = readdirSync(directory).map(file => [
    file.replace(/^(.+?\.cjs)-.*(-[a-z]+)$/, 'dist/compiled/$1-node$2'),
    join(directory, file),
  ]);
  return Object.fromEntries(named);
}

/** That it is a program of this platform, which Node takes for a single executable with these files. */
function check(bytes, name, contents) {
  const {platform, blob} = platformAndBlob(bytes);
  if (platform !== name) throw new Error(`The executable for ${name} is one for ${platform}.`);
  // What src/node_sea.cc writes in front of a blob, and where it looks whether there is one.
  if (
    blob?.readUInt32LE(0) !== 0x143da20 ||
    !bytes.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1')
  )
    throw new Error(`The executable for ${name} does not contain what Node looks for.`);
  const missing = contents.filter(path => !blob.includes(path));
  if (missing.length > 0) throw new Error(`The executable for ${name} lacks ${missing.join(', ')}.`);
}

/** Writes an executable: Node with the loader as its main script, and these files. */
function inject(node, {base, output, assets}) {
  // The blob names it, so its path is the same in every build.
  const main = 'main.cjs';
  const bundle = {bundle: true, platform: 'node', format: 'cjs', minify: true, logLevel: 'warning'};
  buildSync({...bundle, entryPoints: [join(root, '.ci/executable-main.cjs')], outfile: join(scratch, main)});
  const settings = {disableExperimentalSEAWarning: true, useCodeCache: false, execArgvExtension: 'none'};
  writeFileSync(
    join(scratch, 'sea.json'),
    JSON.stringify({...settings, main, executable: base, output, assets}),
  );
  call(node, '--build-sea', 'sea.json');
}

/** The files of the package that the program reads when it runs, and its licences, by their paths. */
function packageFiles() {
  const folders = ['dist', 'dist/assets', 'completions', 'docs/schemas', 'man'];
  const read =
    /^(bin\/load\.js|package\.json|LICENSE|dist\/[^/]+\.(cjs|txt)|(dist\/assets|completions|docs\/schemas|man)\/[^/]+)$/;
  const inFolders = folders.flatMap(folder =>
    readdirSync(join(root, folder)).map(file => `${folder}/${file}`),
  );
  const paths = ['bin/load.js', 'package.json', 'LICENSE', ...inFolders.sort()].filter(path =>
    read.test(path),
  );
  return Object.fromEntries(paths.map(path => [path, join(root, path)]));
}

/** Node for a platform, from the npm registry or from an earlier run, whose files are those that the integrity is of. */
function fetchNode(name) {
  const {package: packageName, integrity} = platforms[name];
  const archive = join(cache, `${packageName}-${version}.tgz`);
  if (!existsSync(archive)) {
    console.error(`Fetching Node ${version} for ${name}...`);
    mkdirSync(cache, {recursive: true});
    const npm = process.env.npm_execpath;
    const pack = ['pack', '--silent', '--pack-destination', cache, `${packageName}@${version}`];
    if (npm === undefined) call('npm', ...pack);
    else call(process.execPath, npm, ...pack);
  }
  if (`sha512-${digest(readFileSync(archive), 'sha512', 'base64')}` !== integrity)
    throw new Error(`${archive} does not have the integrity ${integrity}. Remove it, and try again.`);
  const directory = join(scratch, packageName);
  mkdirSync(directory, {recursive: true});
  call('tar', '-xzf', archive, '-C', directory);
  const files = join(directory, 'package');
  const license = join(files, 'LICENSE');
  return {
    program: join(files, 'bin', name.startsWith('win') ? 'node.exe' : 'node'),
    license: existsSync(license) ? license : fetchNode('linux-x64').license,
  };
}

/** Removes the symbols, a fifth of the size, if a program for that is there; the others need a strip for their platform. */
function strip(program, name) {
  const [platform] = name.split('-');
  const ways = {
    linux: name === here ? [['strip'], ['llvm-strip']] : [['llvm-strip']],
    darwin: [
      ['strip', '-x'],
      ['llvm-strip', '-x'],
    ].slice(process.platform === 'darwin' ? 0 : 1),
    win: [],
  };
  return ways[platform].some(([tool, ...options]) => spawnSync(tool, [...options, program]).status === 0);
}

function digest(bytes, algorithm, encoding) {
  return createHash(algorithm).update(bytes).digest(encoding);
}

function call(file, ...args) {
  const {status, error} = spawnSync(file, args, {cwd: scratch, stdio: ['ignore', 2, 2]});
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed: ${error?.message ?? status}.`);
}
