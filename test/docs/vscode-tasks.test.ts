import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {example} from '../support/examples.ts';
import {settledMachine, typeIn} from './newcomer.ts';

test('the tasks for VS Code, run in a shell for a document in a directory with a space', async () => {
  const machine = await settledMachine();
  const document = join(machine.directory, 'my post.md');
  await writeFile(document, '![A photo](photo.png)\n');
  const {tasks} = JSON.parse(example('docs/publishing-recipes.md', 'json')) as {
    tasks: {type: string; command: string}[];
  };
  const printed: string[] = [];
  for (const {type, command} of tasks) {
    expect(type).toBe('shell');
    // VS Code puts the path in before the shell sees the command.
    printed.push(await typeIn(machine, `${command.replace(/\$\{file\}/g, document)} 2>&1`));
  }
  expect(await readFile(document, 'utf8')).toMatch(/^!\[A photo\]\(http:\S+\)\n$/);
  expect(printed.at(-1)).toMatch(/^!\[clipboard\.webp\]\(http:\S+\)$/);
});
