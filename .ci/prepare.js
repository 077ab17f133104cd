// Makes a clone ready to run: installs the packages of the lock file and builds dist from src. Does nothing if neither
// the lock file nor the sources have changed since the last time. npm also runs it as `prepare`: after it has installed
// packages, before it packs, and when it installs a clone globally, for which it installs no packages itself.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A digest of these files and words. */
function digest(paths, ...words) {
  const hash = createHash('sha256').update(words.join('\n'));
  for (const path of paths) hash.update(`\n${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function filesBelow(directory) {
  return readdirSync(join(root, directory), {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath.slice(root.length + 1), entry.name))
    .sort();
}

function run(command, ...parameters) {
  const env = {...process.env};
  // The options of the outer npm are not meant for this one.
  for (const name of ['global', 'location', 'omit', 'include', 'dry_run']) delete env[`npm_config_${name}`];
  // Output of npm would appear before the output of the caller.
  const {status} = spawnSync(command, parameters, {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Calls `action` unless `result` is there and was made of the same `state`, which the file `stamp` keeps. */
function bringUpToDate(stamp, result, state, what, action) {
  const known = existsSync(join(root, stamp)) ? readFileSync(join(root, stamp), 'utf8') : '';
  if (known === state && existsSync(join(root, result))) return;
  console.error(what);
  action();
  writeFileSync(join(root, stamp), state);
}

/** Builds into a new directory and swaps it in, so that no stale files remain and running programs are not disturbed. */
function build() {
  for (const directory of ['dist.new', 'dist.old'])
    rmSync(join(root, directory), {recursive: true, force: true});
  run('npm', 'run', '--silent', 'build', '--', 'dist.new');
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), join(root, 'dist.old'));
  renameSync(join(root, 'dist.new'), join(root, 'dist'));
  rmSync(join(root, 'dist.old'), {recursive: true, force: true});
  // Without compiled code, the program runs the same way, only slower. The image is built without the files that this uploads.
  if (existsSync(join(root, 'test/fixtures')))
    spawnSync(process.execPath, ['.ci/compiled.js'], {cwd: root, stdio: ['ignore', 2, 2]});
}

const {npm_lifecycle_event: event, npm_command: command, npm_config_global: isGlobal} = process.env;
const hasJustInstalled = event === 'prepare' && /^(ci|install)$/.test(command) && isGlobal !== 'true';
if (hasJustInstalled && !existsSync(join(root, 'node_modules/esbuild'))) {
  console.error('Not built, since the packages for development are not installed.');
  process.exit(0);
}

const packages = digest(['package-lock.json'], process.platform, process.arch, process.version.split('.')[0]);
if (hasJustInstalled) writeFileSync(join(root, 'node_modules/.prepared'), packages);
bringUpToDate('node_modules/.prepared', 'node_modules/.bin', packages, 'Installing packages...', () =>
  run('npm', 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'),
);

const sources = digest([
  'package-lock.json',
  'tsconfig.json',
  '.ci/build.js',
  '.ci/licenses.js',
  '.ci/reachable-types.js',
  ...filesBelow('src'),
]);
bringUpToDate('node_modules/.built', 'dist/main.cjs', sources, 'Building...', build);
