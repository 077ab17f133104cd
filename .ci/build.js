// Builds the program into a directory, dist by default: src and the packages that it uses in one bundle, split so that
// a command loads no more than it needs; the library's types; and the licences of what was bundled.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [directory = 'dist'] = process.argv.slice(2);

/**
 * Of undici only what http.ts imports by name. Its index would bring all of it along, and its client brings HTTP/2 and
 * fetch: they cost a start 30 ms and are never reached with `allowH2: false` and bodies that are no FormData.
 */
const partsOfUndici = {
  name: 'parts of undici',
  setup({onResolve, onLoad}) {
    onResolve({filter: /^undici$/}, () => ({path: 'undici', namespace: 'parts'}));
    onLoad({filter: /^undici$/, namespace: 'parts'}, () => ({
      contents: `
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
        import connect from 'undici/lib/api/api-connect.js';
        import request from 'undici/lib/api/api-request.js';
        Object.assign(Dispatcher.prototype, {connect, request});
        export {default as Client} from 'undici/lib/dispatcher/client.js';
        export {default as buildConnector} from 'undici/lib/core/connect.js';`,
      resolveDir: root,
    }));
    const unreached = /(\/client-h2|\/web\/fetch\/body|\/llhttp-wasm)(\.js)?$/;
    onResolve({filter: unreached}, ({path, importer}) =>
      importer.includes('/undici/lib/') ? {path, namespace: 'unreached'} : undefined,
    );
    onLoad({filter: /.*/, namespace: 'unreached'}, () => ({contents: 'module.exports = undefined;'}));
  },
};

const {metafile} = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts', 'src/index.ts'],
  outdir: directory,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  external: ['@napi-rs/keyring'],
  plugins: [partsOfUndici],
  // Packages in CommonJS ask for Node's own modules by require().
  banner: {js: 'const require=process.getBuiltinModule;'},
  metafile: true,
  logLevel: 'warning',
});

const types = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'src', '--outDir', directory],
  {
    cwd: root,
    stdio: ['ignore', 2, 2],
  },
);
if (types.status !== 0) process.exit(types.status ?? 1);
keepReachableTypes(join(root, directory));
writeFileSync(join(root, directory, 'THIRD-PARTY-LICENSES.txt'), licenses(metafile));

/** Leaves only the type files that the library's own leads to. */
function keepReachableTypes(directory) {
  const reachable = new Set();
  const visit = file => {
    if (reachable.has(file)) return;
    reachable.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/\bfrom '(\.[^']+)\.ts'/g))
      visit(join(dirname(file), `${path}.d.ts`));
  };
  visit(join(directory, 'index.d.ts'));
  const all = readdirSync(directory, {recursive: true}).map(name => join(directory, name));
  for (const file of all) if (file.endsWith('.d.ts') && !reachable.has(file)) rmSync(file);
  for (const path of all.reverse()) {
    if (existsSync(path) && !/\.\w+$/.test(path) && readdirSync(path).length === 0) rmdirSync(path);
  }
}

/** Name, version, licence and home of every package in the bundle, each with its licence's text. */
function licenses({inputs}) {
  const packages = new Map();
  for (const path of Object.keys(inputs)) {
    const [home] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [];
    if (home === undefined) continue;
    const {name, version, license, author, repository} = JSON.parse(
      readFileSync(join(root, home, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, home)).find(entry => /^licen[cs]e(-mit)?(\.\w+)?$/i.test(entry));
    const holder = typeof author === 'string' ? author : (author?.name ?? '');
    const text = file === undefined ? holder : readFileSync(join(root, home, file), 'utf8').trim();
    const source = typeof repository === 'string' ? repository : repository?.url;
    packages.set(`${name} ${version}`, `${name} ${version} (${license})\n${source}\n\n${text}\n`);
  }
  return [...packages.keys()]
    .sort()
    .map(key => packages.get(key))
    .join(`\n${'-'.repeat(80)}\n\n`);
}
