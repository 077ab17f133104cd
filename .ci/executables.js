// Builds single executables, which contain Node and the files of the package, into dist-executables:
// `npm run executables` for this platform, `npm run executables -- linux-x64 win-x64` for others, `-- all` for all. With
// --without-compiled, two builds of the same files are the same, byte for byte. Signing comes last, and is not done here.
// Node is fetched from the npm registry, and checked against the integrity in .ci/node-binaries.json. Compiled code belongs to
// one platform, so an executable contains it only if it is built there; otherwise it is stored on first use, as by the package.
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
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {buildSync} from 'esbuild';
import {compiledCode} from './executable-compiled.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'dist-executables');
const {version, platforms} = JSON.parse(readFileSync(join(root, '.ci/node-binaries.json'), 'utf8'));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'media-cli', 'node');
const here = `${process.platform.replace('win32', 'win')}-${process.arch}`;

const parameters = process.argv.slice(2);
const isCompiled = !parameters.includes('--without-compiled');
const named = parameters.filter(name => name !== '--without-compiled');
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
  inject(builder.program, {base, output, assets});
  if (isCompiled && name === here) {
    const compiled = await compiledCode(output, scratch, join(root, 'test/fixtures'));
    inject(builder.program, {base, output, assets: {...assets, ...compiled}});
  }
  const bytes = readFileSync(output);
  const compressed = compress(bytes);
  writeFileSync(join(target, `media-${name}.gz`), compressed);
  return {
    file,
    bytes: bytes.length,
    gz: compressed.length,
    isStripped,
    sha256: digest(bytes, 'sha256', 'hex'),
  };
}

/** Writes an executable: Node with the loader as its main script, and these files. */
function inject(node, {base, output, assets}) {
  const main = join(scratch, 'main.cjs');
  const bundle = {bundle: true, platform: 'node', format: 'cjs', minify: true, logLevel: 'warning'};
  buildSync({...bundle, entryPoints: [join(root, '.ci/executable-main.cjs')], outfile: main});
  const config = join(scratch, 'sea.json');
  const settings = {disableExperimentalSEAWarning: true, useCodeCache: false, execArgvExtension: 'none'};
  writeFileSync(config, JSON.stringify({...settings, main, executable: base, output, assets}));
  call(node, '--build-sea', config);
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

/** As .gz, without a name or a time in it: by libdeflate, if it is installed, which is 4 % smaller. */
function compress(bytes) {
  const {status, stdout} = spawnSync('libdeflate-gzip', ['-12', '-c'], {input: bytes, maxBuffer: 2 ** 28});
  return status === 0 ? stdout : gzipSync(bytes, {level: 9});
}

function digest(bytes, algorithm, encoding) {
  return createHash(algorithm).update(bytes).digest(encoding);
}

function call(file, ...args) {
  const {status, error} = spawnSync(file, args, {stdio: ['ignore', 2, 2]});
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed: ${error?.message ?? status}.`);
}
