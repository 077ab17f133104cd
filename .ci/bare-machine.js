// Fills a directory with links to the programs of a fresh machine: Node, npm, git and those of Debian's essential
// packages and their dependencies. With that directory as the only one in PATH, tests show what else they need: `node
// .ci/bare-machine.js DIRECTORY [PROGRAM...]`. Further programs that are named are linked if they are installed.
import {spawnSync} from 'node:child_process';
import {accessSync, constants, mkdirSync, realpathSync, symlinkSync} from 'node:fs';
import {basename, delimiter, join} from 'node:path';
import {withDaemons} from '../test/support/path.js';

const [directory, ...more] = process.argv.slice(2);
const searched = withDaemons(process.env.PATH).split(delimiter);
mkdirSync(directory, {recursive: true});
const essential = programsOf(essentialPackages());
const further = ['npm', 'git', ...more].flatMap(name => pathOf(name) ?? []);
// Not by its path: it may be a script that looks for the real one.
const programs = new Map([
  ['node', process.execPath],
  ...[...essential, ...further].map(at => [basename(at), at]),
]);
for (const [name, path] of programs) symlinkSync(path, join(directory, name));
console.log(`${programs.size} programs`);

/** The names of Debian's essential packages and their dependencies. */
function essentialPackages() {
  const fields = ['Package', 'Essential', 'Pre-Depends', 'Depends', 'Provides'];
  const format = `${fields.map(field => `\${${field}}`).join('\\t')}\\n`;
  const rows = lines('dpkg-query', '-W', '-f', format).map(line => line.split('\t'));
  const names = list => list.split(/[,|]/).map(name => name.trim().split(/[ :(]/)[0]);
  const known = new Map(rows.map(([name, , before, depends]) => [name, names(`${before},${depends}`)]));
  const providers = rows.flatMap(([name, , , , provides]) => names(provides).map(virtual => [virtual, name]));
  const found = new Set();
  const add = name => {
    if (found.has(name) || name === '') return;
    if (known.has(name)) {
      found.add(name);
      for (const other of known.get(name)) add(other);
    } else {
      for (const [virtual, provider] of providers) if (virtual === name) add(provider);
    }
  };
  for (const [name, isEssential] of rows) if (isEssential === 'yes') add(name);
  return [...found];
}

/** The programs in these packages, and the names that lead to them through /etc/alternatives. */
function programsOf(packages) {
  const isProgram = path => /^\/(usr\/)?s?bin\/[^/]+$/.test(path) && isExecutable(path);
  const owned = lines('dpkg-query', '-L', ...packages).filter(isProgram);
  const targets = new Set(owned.map(path => realpathSync(path)));
  const alternatives = lines('find', '/usr/bin', '/usr/sbin', '-lname', '/etc/alternatives/*').filter(
    path => isExecutable(path) && targets.has(realpathSync(path)),
  );
  return [...owned, ...alternatives];
}

function pathOf(name) {
  return searched.map(place => join(place, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function lines(command, ...parameters) {
  const {stdout, status, error} = spawnSync(command, parameters, {encoding: 'utf8', maxBuffer: 2 ** 26});
  if (error !== undefined || status !== 0) throw new Error(`${command} failed: ${error ?? status}`);
  return stdout.split('\n').filter(line => line !== '');
}
