import {utimes} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {notRun} from '../../../support/installed.ts';
import {
  bench,
  formatTransition,
  header,
  inputOf,
  sha256,
  type Transition,
  upload,
} from '../../../support/journal.ts';
import {canListOpenFiles, openFiles} from '../../../support/open-files.ts';
import {contentOf, files, journalOf, media} from '../media-journal.ts';

describe('media journal check', () => {
  it('stored as one type, and unknown as another: unknown', async () => {
    const one = await bench();
    await files(one, {'in/a.png': contentOf('a.png')});
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    const other = {...inputOf('a.png'), contentType: 'image/gif', typeRule: 'image/gif'};
    await one.run(journal => upload(journal, other, 'commit'), join(one.directory, 'j'));
    expect(await media(one, 'check', 'j', '--', 'in')).toMatchObject({
      exitCode: 1,
      stdout: 'unknown   a.png  sent, but no result is recorded in j\n',
    });
  });

  it('two folders with files of the same relative path: each file is listed and counted', async () => {
    const one = await bench();
    const others = {'two/a.png': '', 'two/b.png': '\0'.repeat(57)};
    await files(one, {'one/a.png': '', 'one/b.png': contentOf('b.png'), ...others});
    await journalOf(one, 'j', {'a.png': ['failed'], 'b.png': ['done', 'med_1']});
    const empty = (folder: string) =>
      `refused   a.png  ${folder}/a.png is empty: there is nothing to upload.\n`;
    const other = 'missing   b.png  only stored with different content\n';
    expect(await media(one, 'check', 'j', '--', 'one', 'two')).toMatchObject({
      exitCode: 1,
      stdout: `${empty('one')}${empty('two')}${other}`,
      stderr: expect.stringContaining('1 of 4 inputs is recorded exactly once: 1 missing, 2 refused.\n'),
    });
    // What the journal itself says of a path stands for one of its files.
    expect(await media(one, 'merge', '-o', 'all', 'j', '--', 'one', 'two')).toMatchObject({
      exitCode: 1,
      stdout: `missing   a.png  the service refused it\n${empty('two')}${other}`,
      stderr: expect.stringContaining('1 of 4 inputs is recorded exactly once: 2 missing, 1 refused.\n'),
    });
  });

  it('other bytes of the same size and mtime: missing', async () => {
    const one = await bench();
    await files(one, {'a.png': '\0ONTENT'.padEnd(57)});
    await utimes(join(one.directory, 'a.png'), 5, 5);
    await one.run(
      journal => upload(journal, inputOf('a.png', 'content'.padEnd(57), 5_000_000_000n), 'done'),
      join(one.directory, 'j'),
    );
    expect(await media(one, 'check', 'j', '--', 'a.png')).toMatchObject({
      exitCode: 1,
      stdout: 'missing   a.png  only stored with different content\n',
    });
  });

  it('one content at two paths that two parts stored each: once each, with a note', async () => {
    const one = await bench();
    await files(one, {'in/a.png': 'same', 'in/b.png': 'same'});
    await journalOf(one, 'j1', {'a.png': ['done', 'med_1']}, 'same');
    await journalOf(one, 'j2', {'b.png': ['done', 'med_2']}, 'same');
    const note = '2 of them are also stored under another path, by another part of the run.\n';
    for (const command of [
      ['check', 'j1', 'j2', '--', 'in'],
      ['merge', '-o', 'all', 'j1', 'j2'],
      ['check', 'all', '--', 'in'],
      ['merge', '-o', 'again', 'all', 'j1'],
    ]) {
      expect(await media(one, ...command)).toMatchObject({
        exitCode: 0,
        stderr: `2 inputs, each recorded exactly once.\n${note}`,
      });
    }
    expect(await media(one, 'check', 'j1', 'j2', '--', 'in/a.png')).toMatchObject({
      stderr: `1 input, each recorded exactly once.\n${note.replace('2 of them are', '1 of them is')}`,
    });
  });

  describe('one content at two paths, stored as', () => {
    /** Lines of an upload of that content. */
    const stored = (path: string, id: string, contentType = 'image/png') =>
      (
        [
          {event: 'intent', key: id, path, size: 4, contentType},
          {event: 'commit', key: id, sha256: sha256('same')},
          {event: 'done', key: id, recordJson: `{"id":"${id}"}`},
        ] satisfies Transition[]
      )
        .map(line => formatTransition(line, 'w'))
        .join('')
        .replace(/(?=.*"done")/, '{"event":"release","by":"w"}\n');
    const [a, b] = [stored('a.png', 'med_1'), stored('b.png', 'med_2')];
    const [other, gif] = [stored('a.png', 'med_3'), stored('b.png', 'med_2', 'image/gif')];

    it.each<[name: string, journals: string[], ids: string[]]>([
      ['two records by one journal', [`${a}${b}`], ['med_1', 'med_2']],
      ['two records by one journal, one by another', [other, `${a}${b}`], ['med_3', 'med_1', 'med_2']],
      ['two records by one journal and its older copy', [a, `${a}${b}`], ['med_1', 'med_2']],
      ['one record of each type by one journal', [`${a}${gif}`], []],
      ['one record by each of two journals, one of which has a copy', [a, b, b], []],
    ])('%s: doubled only if one journal has two of a type', async (_name, journals, ids) => {
      const one = await bench();
      await files(one, {'in/a.png': 'same', 'in/b.png': 'same'});
      const names = journals.map((_, number) => `j${number}`);
      for (const [number, lines] of journals.entries())
        await one.write(`${header}\n${lines}`, join(one.directory, names[number] ?? ''));
      const row = (path: string) => `doubled   ${path}  stored ${ids.length} times: ${ids.join(', ')}\n`;
      for (const command of [
        ['check', ...names, '--', 'in'],
        ['merge', '-o', 'all', ...names],
        ['merge', '-o', 'all', ...names, '--', 'in'],
      ])
        expect(await media(one, ...command)).toMatchObject({
          exitCode: ids.length > 0 ? 1 : 0,
          stdout: ids.length > 0 ? `${row('a.png')}${row('b.png')}` : '',
        });
    });
  });

  it('what is checked is closed again, whatever was found', async context => {
    if (!canListOpenFiles) notRun(context, 'only Linux lists the open files of a process');
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    await files(one, {'in/a.png': contentOf('a.png'), 'in/b.png': 'b', 'in/empty.png': '', 'in/notes': 'c'});
    await media(one, 'check', 'j', '--', 'in');
    expect(await openFiles(one.directory)).toEqual([]);
  });
});
