// Builds the program into a directory, dist by default: src as one file; one file for each package that is loaded only
// when needed; the types of the library; and the licences of all bundled packages.
import {execFileSync} from 'node:child_process';
import {readdirSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, relative, resolve} from 'node:path';
import {PassThrough} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {licenses} from './licenses.js';
import {keepReachableTypes} from './reachable-types.js';

const require = createRequire(import.meta.url);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const {ERROR, TYPE} = require('undici/lib/llhttp/constants.js');
const [directory = 'dist'] = process.argv.slice(2);

/** Packages that are not bundled, since they contain machine code. */
const external = ['@napi-rs/keyring', 'sharp'];
/** Packages that every command needs, or that are too small for a separate file. */
const packagesWithin = [
  ...['commander', 'micromark', 'micromark-core-commonmark', 'vfile-message'],
  'micromark-util-normalize-identifier',
  ...['gfm', 'mdx-expression', 'mdx-jsx', 'mdx-md', 'mdxjs-esm'].map(name => `micromark-extension-${name}`),
  ...['parse5', 'css-tree', 'entities', 'yaml', 'toml-eslint-parser'],
];
/** Large modules that few runs need. Nothing in them may throw or catch a MediaError. */
const modulesApart = {
  'src/embedded/service.ts': 'embedded',
  'src/media/pixels/image.ts': 'media-image',
  'src/media/pixels/video.ts': 'media-video',
  'src/documents/scan/scan.ts': 'rewrite-scan',
  'src/documents/scan/front-matter.ts': 'front-matter',
};

/** The separate files, by name, with the modules that they are built from. */
const apart = new Map();

/** Leaves separate packages and modules out of the main file, and loads their files instead. */
const keepApart = {
  name: 'keep apart',
  setup({onResolve}) {
    onResolve({filter: /^[^./]/}, ({path, kind, importer, namespace}) => {
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(path);
      const isPackage = kind !== 'entry-point' && namespace === 'file' && !path.startsWith('node:');
      if (!isPackage || external.includes(path)) return undefined;
      const isOurs = !importer.includes('node_modules') && !packagesWithin.includes(name);
      const file = name.replace('@', '').replace('/', '-');
      return isOurs || apart.has(file) ? separate(file, name) : undefined;
    });
    onResolve({filter: /^\.{1,2}\/.*\.ts$/}, ({path, kind, resolveDir}) => {
      const module = relative(root, resolve(resolveDir, path)).replaceAll('\\', '/');
      const file = kind === 'entry-point' ? undefined : modulesApart[module];
      return file === undefined ? undefined : separate(file, module);
    });
  },
};

/** Notes that a file is built from this package or module, and returns what imports it instead. */
function separate(file, from) {
  apart.set(file, from);
  return {path: `./${file}.cjs`, external: true};
}

/** Files of packages that are replaced; the build fails by the name of one that the bundle no longer has. */
const replacements = {
  // Of all that undici's index loads, fetch above all, only the client is used: 65 ms.
  'undici/index.js': "exports.Client = require('./lib/dispatcher/client.js');",
  // Tables that nothing here uses, and a search tree of headers' names: 2 % of a small upload.
  'undici/lib/llhttp/constants.js': `Object.assign(exports, ${JSON.stringify({ERROR, TYPE})});`,
  'undici/lib/core/tree.js': 'exports.tree = {lookup: () => undefined};',
  // HTTP/2, which is not used with `allowH2: false`: 24 ms.
  'undici/lib/dispatcher/client-h2.js': '',
  'depd/index.js': 'module.exports = () => () => {};', // It would fail where the working directory was removed.
  // Without a schema, conf validates nothing: 11 ms, 150 kB.
  'ajv/dist/2020.js': 'exports.Ajv2020 = undefined;',
  'ajv-formats/dist/index.js': '',
  // Of its modules for browsers, the bundle has only what is used: 19 kB less, and the package has a bound.
  'yaml/dist/index.js': "export * from '../browser/dist/index.js';",
  // What conf uses to write files would send every signal to this process a second time, to remove temporary files.
  'when-exit/dist/node/index.js': 'export default () => () => {};',
};

const replaced = {
  name: 'replaced',
  setup({onLoad}) {
    onLoad({filter: /node_modules/}, ({path}) => {
      const contents = replacements[path.replaceAll('\\', '/').split('/node_modules/').at(-1)];
      return contents === undefined ? undefined : {contents, resolveDir: dirname(path)};
    });
  },
};

/** Modules of Node that are loaded on first use: crypto takes 12 ms, tls 12, child_process 7 and fs/promises 7, dns 1. */
const lateModules = ['node:crypto', 'node:tls', 'node:child_process', 'node:fs/promises', 'node:dns'];

/** What undici gets in place of modules that take 3 ms, and seconds where an assertion fails: Node quotes its source. */
const stubs = {
  'node:assert': `module.exports = (isTrue, message = 'an assertion of undici failed') => {
    if (!isTrue) throw message instanceof Error ? message : new Error(message);
  };`,
  'node:http': 'exports.maxHeaderSize = 16384;',
};

const nodeModules = {
  name: "Node's modules",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^node:(assert|http)$/}, ({path, importer}) =>
      importer.includes('node_modules/undici/') ? {path, namespace: 'stub'} : undefined,
    );
    onLoad({filter: /.*/, namespace: 'stub'}, ({path}) => ({contents: stubs[path]}));
    onResolve({filter: /^node:/}, ({path, namespace}) =>
      namespace === 'file' && lateModules.includes(path) ? {path, namespace: 'late'} : undefined,
    );
    onLoad({filter: /.*/, namespace: 'late'}, ({path}) => ({
      // On the prototype, since esbuild gives each importer a copy of the module's own members.
      contents: `let node;
      const late = {};
      for (const name of ${JSON.stringify(Object.keys(require(path)))})
        Object.defineProperty(late, name, {get: () => (node ??= require('${path}'))[name]});
      module.exports = Object.create(late);`,
    }));
  },
};

const shared = {absWorkingDir: root, minify: true, logLevel: 'warning'};
const options = {
  ...shared,
  outdir: directory,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  external,
  plugins: [keepApart, replaced],
  metafile: true,
};
/** CommonJS: Node starts it 10 ms sooner than ES modules. */
const commonjs = {
  ...options,
  format: 'cjs',
  plugins: [...options.plugins, nodeModules],
  outExtension: {'.js': '.cjs'},
  supported: {'dynamic-import': false},
  define: {'import.meta.url': 'importMetaUrl'},
  banner: {js: "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;"},
};
// What reads uploaded media and what uses the keychain run as separate processes.
const programs = ['src/main.ts', 'src/media/pixels/media-program.ts', 'src/cli/settings/keychain-child.ts'];
const main = await build({...commonjs, entryNames: '[name]', entryPoints: programs});
const library = await build({...options, format: 'esm', entryPoints: {index: 'src/index.ts'}});
// A default import of a package gets the exports of its file.
const js = 'if(module.exports.default)module.exports=Object.assign(module.exports.default,module.exports);';
const parts = [];
for (const [file, from] of apart)
  parts.push(await build({...commonjs, footer: {js}, entryPoints: {[file]: from}}));
const inParts = parts.flatMap(({metafile}) => Object.keys(metafile.inputs));
if (inParts.includes('src/errors.ts'))
  throw new Error('What stays apart has a MediaError of its own, which nobody else takes for one.');
for (const file of Object.keys(replacements))
  if (!inParts.some(path => path.endsWith(`node_modules/${file}`)))
    throw new Error(`There is no ${file} to replace any more.`);

const pages = 'src/embedded/pages/assets';
const entryPoints = readdirSync(join(root, pages)).map(name => `${pages}/${name}`);
const assets = await build({
  ...shared,
  bundle: true,
  outdir: join(directory, 'assets'),
  entryPoints,
  loader: {'.svg': 'copy'},
  metafile: true,
});

// Output that never changes, which bin/media.js prints without loading the program.
const {run, systemHost} = require(resolve(root, directory, 'main.cjs'));
for (const name of ['version', 'help']) {
  const stdout = new PassThrough();
  await run([`--${name}`], {...systemHost(), stdout});
  writeFileSync(join(root, directory, `${name}.txt`), stdout.read());
}

// `npm run typecheck` checks the types; a build that did as well would take two and a half times as long.
const compiler = [require.resolve('typescript/bin/tsc'), '-p', 'src', '--outDir', directory, '--noCheck'];
execFileSync(process.execPath, compiler, {cwd: root, stdio: ['ignore', 2, 2]});
keepReachableTypes(join(root, directory));
writeFileSync(
  join(root, directory, 'THIRD-PARTY-LICENSES.txt'),
  licenses(root, [main, library, assets, ...parts]),
);
