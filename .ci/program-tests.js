// Prints the test files whose tests need programs that not every machine has, those that `npm run torture` alone runs
// excepted: `node .ci/program-tests.js [PROGRAM...]`, with programs only those that need one of them.
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path';

const programs = process.argv.slice(2);
const installed = 'test/support/installed.ts';
const files = readdirSync('test', {recursive: true, withFileTypes: true})
  .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
  .map(entry => join(entry.parentPath, entry.name));
const texts = new Map(files.map(file => [file, readFileSync(file, 'utf8')]));
const imports = new Map(
  [...texts].map(([file, text]) => [
    file,
    [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => normalize(join(dirname(file), path))),
  ]),
);

/** What asks for a program: the functions of support/installed.ts. */
const question = /\b(needPrograms|whatIsMissing|pathOf)\(/;
const wanted = files.filter(
  file =>
    file.endsWith('.test.ts') &&
    !file.startsWith('test/experiments/') &&
    [...closure(file)].some(part => {
      const text = texts.get(part) ?? '';
      return (
        part !== installed &&
        question.test(text) &&
        (programs.length === 0 || programs.some(program => text.includes(`'${program}'`)))
      );
    }),
);
console.log(wanted.join('\n'));

/** A file and the files of test/ that it loads. */
function closure(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const other of imports.get(file) ?? []) closure(other, found);
  return found;
}
