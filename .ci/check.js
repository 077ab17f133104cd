// For a change that is being made, in less than half a minute: types, lint of the files that differ from the main branch, and the
// in-process tests of their rooms. `npm run typecheck`, `npm run lint` and `npm test` do all.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';

/** Rooms whose tests start the program. */
const slowRooms = ['cli/output'];

const started = performance.now();
const changed = changedFiles();
const lint = ['check', '--error-on-warnings', '--no-errors-on-unmatched'];
// After a change to one file, this checks the files that import it, not all that depend on them.
const cache = 'node_modules/.cache/check.tsbuildinfo';
const types = ['--noEmit', '--assumeChangesOnlyAffectDirectDependencies', '--tsBuildInfoFile', cache];
const checks = [run('tsc', ...types)];
if (changed.length > 0) checks.push(run('biome', ...lint, ...changed));
const rooms = roomsOf(changed);
console.log(rooms.length === 0 ? 'No room of src has changed.' : `Changed rooms: ${rooms.join(', ')}.`);
if (rooms.length > 0) {
  const tests = ['test/structure', ...rooms.map(room => `test/${room}`)];
  const options = ['--config', 'test/vitest.config.js', '--reporter=dot'];
  checks.push(run('vitest', 'run', ...options, ...tests));
}
const statuses = await Promise.all(checks);
console.log(`Checked in ${Math.round((performance.now() - started) / 1000)} s.`);
process.exitCode = statuses.every(status => status === 0) ? 0 : 1;

/** Runs a program of the project, and resolves to its exit status. */
function run(program, ...parameters) {
  const child = spawn(join('node_modules', '.bin', program), parameters, {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  return new Promise(resolve => child.on('close', resolve));
}

/** The files that differ from the main branch, committed or not, and are still there. */
function changedFiles() {
  const main = ['origin/main', 'main', 'HEAD'].find(
    branch => git('rev-parse', '--verify', '-q', branch) !== '',
  );
  const paths = [
    git('diff', '--name-only', git('merge-base', 'HEAD', main)),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return paths.flatMap(lines => lines.split('\n')).filter(path => path !== '' && existsSync(path));
}

/** The folders of src and test that these files are in. */
function roomsOf(files) {
  const found = files.map(path => /^(?:src|test)\/((?:cli|engine|media)\/[^/]+|[^/]+)\//.exec(path)?.[1]);
  return [...new Set(found)]
    .filter(room => existsSync(`src/${room}`) && existsSync(`test/${room}`) && !slowRooms.includes(room))
    .sort();
}

/** What git prints; nothing if it fails. */
function git(...parameters) {
  try {
    return execFileSync('git', parameters, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).trim();
  } catch {
    return '';
  }
}
