// Builds the program into a directory, dist by default: src as one file; one file for each package that is loaded only
// when needed; the types of the library; and the licences of all bundled packages.
import {spawnSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, relative, resolve} from 'node:path';
import {PassThrough} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {keepReachableTypes} from './reachable-types.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [directory = 'dist'] = process.argv.slice(2);

/** Packages that are not bundled, since they contain machine code. */
const external = ['@napi-rs/keyring', 'sharp'];
/** Packages that every command needs, or that are too small for a separate file. */
const packagesWithin = [
  'commander',
  ...[
    'micromark',
    'micromark-extension-gfm',
    'micromark-extension-frontmatter',
    'parse5',
    'css-tree',
    'entities',
  ],
];
/** Large modules that few runs need. Nothing in them may throw or catch a MediaError. */
const modulesApart = {
  'src/embedded/service.ts': 'embedded',
  'src/rewrite/scan/scan.ts': 'rewrite-scan',
};

/** The separate files, by name, with the modules that they are built from. */
const apart = new Map();

/** Leaves separate packages and modules out of the main file, and loads their files instead. */
const keepApart = {
  name: 'keep apart',
  setup({onResolve}) {
    onResolve({filter: /^[^./]/}, ({path, kind, importer, namespace}) => {
      if (
        kind === 'entry-point' ||
        namespace !== 'file' ||
        path.startsWith('node:') ||
        external.includes(path)
      )
        return;
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(path);
      const isOurs = !importer.includes('node_modules') && !packagesWithin.includes(name);
      return isOurs || apart.has(fileOf(name)) ? loaded(fileOf(name), name) : undefined;
    });
    onResolve({filter: /^\.{1,2}\/.*\.ts$/}, ({path, kind, resolveDir}) => {
      const module = relative(root, resolve(resolveDir, path)).replaceAll('\\', '/');
      return kind !== 'entry-point' && module in modulesApart
        ? loaded(modulesApart[module], module)
        : undefined;
    });
  },
};

function fileOf(name) {
  return name.replace('@', '').replace('/', '-');
}

function loaded(file, from) {
  apart.set(file, from);
  return {path: `./${file}.cjs`, external: true};
}

/**
 * Modules that packages import but do not need here, by the end of their names, and their replacements. Commander
 * starts programs for external commands, which we do not have. Undici's client includes HTTP/2 and the bodies of fetch,
 * which are never used with `allowH2: false` and bodies that are not FormData; a connector, where src has its own; two of
 * Node's modules, of which it uses little; and its tree of header field names, which takes longer to build than it saves. What
 * conf uses to write files would send every signal to this process a second time, to remove temporary files; and without a
 * schema, conf validates nothing. The metrics of one process need neither traces, summaries, other processes of a cluster, nor
 * a gateway.
 */
const replacements = {
  atomically: {'when-exit': 'export default () => () => {};'},
  commander: {'node:child_process': ''},
  'prom-client': {
    '@opentelemetry/api': 'exports.trace = {getSpan() {}}; exports.context = {active() {}};',
    '/summary': '',
    '/cluster': '',
    '/pushgateway': '',
  },
  conf: {'ajv/dist/2020': 'export const Ajv2020 = undefined;', 'ajv-formats': 'export default {};'},
  undici: {
    '/client-h2': '',
    '/web/fetch/body': '',
    '/core/connect': '',
    '/tree': 'exports.tree = {lookup() {}};',
    'node:http': 'exports.maxHeaderSize = 16384; exports.IncomingMessage = class {};',
    'node:assert': `module.exports = (holds, message) => {
      if (!holds) throw new Error(message ?? 'an assertion of undici failed');
    };`,
  },
};

const withoutUnneeded = {
  name: 'without what is not needed',
  setup({onResolve, onLoad}) {
    for (const [name, modules] of Object.entries(replacements)) {
      for (const [ending, contents] of Object.entries(modules)) {
        onResolve({filter: new RegExp(`${ending}(\\.js)?$`)}, ({path, importer}) =>
          importer.includes(`/node_modules/${name}/`)
            ? {path, namespace: 'replaced', pluginData: contents}
            : undefined,
        );
      }
    }
    onLoad({filter: /.*/, namespace: 'replaced'}, ({pluginData}) => ({contents: pluginData}));
  },
};

/** Of the table of media types, only what has an extension, by which types are looked up. */
const typesWithExtension = {
  name: 'types with an extension',
  setup({onLoad}) {
    onLoad({filter: /mime-db[\\/]db\.json$/}, ({path}) => {
      const types = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const kept = types.flatMap(([type, {source, extensions}]) =>
        extensions === undefined ? [] : [[type, {source, extensions}]],
      );
      return {contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json'};
    });
  },
};

/** Only the parts of undici that src uses: its index would import everything. */
const partsOfUndici = {
  name: 'parts of undici',
  setup({onResolve, onLoad}) {
    onResolve({filter: /^undici$/}, () => ({path: 'undici', namespace: 'parts'}));
    onLoad({filter: /^undici$/, namespace: 'parts'}, () => ({
      contents: `
        export {default as Client} from 'undici/lib/dispatcher/client.js';`,
      resolveDir: root,
    }));
  },
};

/** micromark's table of named characters is the one that parse5 brings. */
const sharedCharacters = {
  name: 'shared characters',
  setup({onResolve, onLoad}) {
    const name = 'decode-named-character-reference';
    onResolve({filter: new RegExp(`^${name}$`)}, () => ({path: name, namespace: 'characters'}));
    onLoad({filter: /.*/, namespace: 'characters'}, () => ({
      contents: `
        import {decodeHTMLStrict} from 'entities/decode';
        export function decodeNamedCharacterReference(name) {
          const reference = '&' + name + ';';
          const text = decodeHTMLStrict(reference);
          return text === reference ? false : text;
        }`,
      resolveDir: root,
    }));
  },
};

/**
 * Modules of Node that take 4 to 16 ms to load, so each is loaded on first use: many commands do not use them. Calls of
 * node:fs/promises are made through node:fs, which is already loaded; only file handles need node:fs/promises itself.
 */
const lateModules = ['node:crypto', 'node:tls', 'node:net', 'node:child_process', 'node:fs/promises'];

const loadLate = {
  name: 'load late',
  setup({onResolve, onLoad}) {
    onResolve({filter: /^node:/}, ({path, importer}) =>
      lateModules.includes(path) && importer.startsWith(join(root, 'src'))
        ? {path, namespace: 'late'}
        : undefined,
    );
    onLoad({filter: /.*/, namespace: 'late'}, ({path}) => {
      const names = Object.keys(createRequire(import.meta.url)(path)).filter(name => name !== 'default');
      const member = path === 'node:fs/promises' ? 'callOf(name)' : `require('${path}')[name]`;
      return {
        contents: `
          for (const name of ${JSON.stringify(names)})
            Object.defineProperty(exports, name, {enumerable: true, configurable: true, get() {
              const value = ${member};
              Object.defineProperty(exports, name, {value});
              return value;
            }});
          function callOf(name) {
            const fs = require('node:fs');
            const call = name === 'realpath' ? fs.realpath.native : fs[name];
            return name === 'open' || typeof call !== 'function'
              ? require('node:fs/promises')[name]
              : require('node:util').promisify(call);
          }`,
      };
    });
  },
};

const options = {
  absWorkingDir: root,
  outdir: directory,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  external,
  plugins: [keepApart, partsOfUndici, typesWithExtension, sharedCharacters, withoutUnneeded],
  metafile: true,
  logLevel: 'warning',
};
/** CommonJS: Node starts it 10 ms sooner than ES modules. */
const commonjs = {
  ...options,
  format: 'cjs',
  plugins: [...options.plugins, loadLate],
  outExtension: {'.js': '.cjs'},
  supported: {'dynamic-import': false},
  define: {'import.meta.url': 'importMetaUrl'},
  banner: {js: "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;"},
};
// The program that reads uploaded media runs as a separate process.
const programs = ['src/main.ts', 'src/embedded/media/media-program.ts'];
const main = await build({...commonjs, entryNames: '[name]', entryPoints: programs});
// The program that uses the keychain runs as a separate process.
const modules = {index: 'src/index.ts', 'keychain-child': 'src/settings/keychain-child.ts'};
const library = await build({...options, format: 'esm', entryPoints: modules});
const parts = [];
// A default import of a package gets the exports of its file.
const footer = {
  js: 'if(module.exports.default)module.exports=Object.assign(module.exports.default,module.exports);',
};
for (const [file, from] of apart) {
  parts.push(await build({...commonjs, footer, entryPoints: {[file]: from}}));
}
if (parts.some(({metafile}) => metafile.inputs['src/errors.ts'] !== undefined)) {
  console.error('What stays apart has a MediaError of its own, which nobody else takes for one.');
  process.exit(1);
}

const pages = 'src/embedded/pages/assets';
await build({
  absWorkingDir: root,
  outdir: join(directory, 'assets'),
  entryPoints: readdirSync(join(root, pages)).map(name => `${pages}/${name}`),
  minify: true,
  loader: {'.svg': 'copy'},
  logLevel: 'warning',
});

await prepareAnswers();

const types = spawnSync(
  process.execPath,
  // `npm run typecheck` checks the types; a build that did as well would take two and a half times as long.
  ['node_modules/typescript/bin/tsc', '-p', 'src', '--outDir', directory, '--noCheck'],
  {
    cwd: root,
    stdio: ['ignore', 2, 2],
  },
);
if (types.status !== 0) process.exit(types.status ?? 1);
keepReachableTypes(join(root, directory));
writeFileSync(join(root, directory, 'THIRD-PARTY-LICENSES.txt'), licenses([main, library, ...parts]));

/** Output that never changes, which bin/media.js prints without loading the program. */
async function prepareAnswers() {
  const {run, systemHost} = createRequire(import.meta.url)(join(root, directory, 'main.cjs'));
  for (const answer of ['version', 'help']) {
    const stdout = new PassThrough();
    await run([`--${answer}`], {...systemHost(), stdout});
    writeFileSync(join(root, directory, `${answer}.txt`), stdout.read());
  }
}

/** Name, version, licence and home page of every bundled package, with each text of a licence once. */
function licenses(builds) {
  const packages = new Map();
  const homes = builds
    .flatMap(({metafile}) => Object.keys(metafile.inputs))
    .map(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0])
    .filter(home => home !== undefined);
  for (const home of new Set(homes)) {
    const {name, version, license, author, repository} = JSON.parse(
      readFileSync(join(root, home, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, home)).find(entry => /^licen[cs]e(-mit)?(\.\w+)?$/i.test(entry));
    const holder = typeof author === 'string' ? author : (author?.name ?? '');
    const text = file === undefined ? holder : readFileSync(join(root, home, file), 'utf8').trim();
    const source = typeof repository === 'string' ? repository : repository?.url;
    const same = packages.get(text) ?? [];
    packages.set(text, [...same, `${name} ${version} (${license})\n${source}\n`]);
  }
  return [...packages]
    .map(([text, names]) => `${[...new Set(names)].sort().join('')}\n${text}\n`)
    .sort()
    .join(`\n${'-'.repeat(80)}\n\n`);
}
