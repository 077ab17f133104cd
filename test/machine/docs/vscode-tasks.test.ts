import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {posixWord} from '../../../src/lib/shell.ts';
import {example} from '../../support/examples.ts';
import {settledMachine, typeIn} from './newcomer.ts';

test('the tasks for VS Code, for a document whose name would mean something else to a shell', async () => {
  const machine = await settledMachine();
  const document = join(machine.directory, "it's my '$(rm photo.png)' post.md");
  await writeFile(document, '![A photo](photo.png)\n');
  const {tasks} = JSON.parse(example('docs/publishing-recipes.md', 'json')) as {
    tasks: {type: string; command: string; args?: string[]}[];
  };
  const printed: string[] = [];
  for (const {type, command, args = []} of tasks) {
    // VS Code puts the path in before a shell sees the command; the words of a process reach it as they are.
    const given = (word: string) => word.replace(/\$\{file\}/g, () => document);
    const words = type === 'process' ? args.map(word => posixWord(given(word))) : [];
    printed.push(await typeIn(machine, `${[given(command), ...words].join(' ')} 2>&1`));
  }
  expect(await readFile(document, 'utf8')).toMatch(/^!\[A photo\]\(http:\S+\)\n$/);
  expect(printed.at(-1)).toMatch(/^!\[clipboard\.webp\]\(http:\S+\)$/);
});
