// Writes the names of .github/names.json wherever those that were written last stand: `npm run names`.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';

const list = '.github/names.json';
const {names, written, ...rest} = JSON.parse(readFileSync(list, 'utf8'));
const tracked = execFileSync('git', ['ls-files', '-z'], {encoding: 'utf8'}).split('\0').slice(0, -1);
const files = tracked.filter(file => file !== list && !file.startsWith('test/fixtures/'));
/** What follows the name of the package in the names of files: a version, or the kind of file. */
const ofFile = String.raw`-[*\d$]|-VERSION|\.cdx`;

/** What is replaced, as patterns with the new text. */
const changes = [];
for (const [kind, name] of Object.entries(names)) {
  const old = written[kind];
  if (name === old) continue;
  for (const file of files)
    if (mention(name, '(?!\\w)').test(readFileSync(file, 'latin1')))
      throw new Error(`"${name}" stands in ${file} already: as the ${kind}, it could not be changed again.`);
  if (kind === 'package')
    changes.push({pattern: mention(fileName(old), `(?=${ofFile})`), old, name: fileName(name)});
  changes.push({pattern: mention(old, '(?!\\w)'), old, name});
}
// The name of an image may contain that of the repository.
changes.sort((a, b) => b.old.length - a.old.length);
const anyName = new RegExp(changes.map(({pattern}) => `(${pattern.source})`).join('|'), 'g');

for (const file of changes.length === 0 ? [] : files) {
  const before = readFileSync(file, 'latin1');
  const after = before.replace(
    anyName,
    (_, ...groups) => changes[groups.findIndex(group => group !== undefined)].name,
  );
  if (after === before) continue;
  writeFileSync(file, after, 'latin1');
  console.log(file);
}
writeFileSync(list, `${JSON.stringify({...rest, names, written: names}, undefined, 2)}\n`);

/** The beginning of the names of files, as npm makes it from a name with a scope. */
function fileName(name) {
  return name.replace(/^@/, '').replaceAll('/', '-');
}

/** Finds a name as a whole word, where `end` follows it. */
function mention(name, end) {
  return new RegExp(`(?<![\\w-])${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}${end}`);
}
