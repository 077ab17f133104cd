// For a change that is being made, in less than half a minute: types, lint, and the in-process tests of the rooms of src
// that differ from the main branch. `npm test` runs all the others.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';

/** Rooms whose tests start the program. */
const slowRooms = ['cli'];

const started = performance.now();
const checks = [run('tsc', '--noEmit'), run('biome', 'check', '--error-on-warnings', '.')];
const rooms = changedRooms();
console.log(rooms.length === 0 ? 'No room of src has changed.' : `Changed rooms: ${rooms.join(', ')}.`);
if (rooms.length > 0) {
  const tests = ['test/structure', ...rooms.map(room => `test/${room}`)];
  checks.push(run('vitest', 'run', '--config', 'test/vitest.config.js', '--reporter=dot', ...tests));
}
const statuses = await Promise.all(checks);
console.log(`Checked in ${Math.round((performance.now() - started) / 1000)} s.`);
process.exitCode = statuses.every(status => status === 0) ? 0 : 1;

/** Runs a program of the project, and resolves to its exit status. */
function run(program, ...parameters) {
  const child = spawn(`node_modules/.bin/${program}`, parameters, {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  return new Promise(resolve => child.on('close', resolve));
}

/** The folders of src or test with changes since the main branch, committed or not. */
function changedRooms() {
  const main = ['origin/main', 'main', 'HEAD'].find(
    branch => git('rev-parse', '--verify', '-q', branch) !== '',
  );
  const paths = [
    git('diff', '--name-only', git('merge-base', 'HEAD', main)),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  const found = [...paths.join('\n').matchAll(/^(?:src|test)\/([^/\n]+)\//gm)].map(([, room]) => room);
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
