import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {
  begin,
  bench,
  formatTransition,
  header,
  inputOf,
  scope,
  sha256,
  type Transition,
} from '../../../support/journal.ts';
import {journalOf, media} from '../media-journal.ts';

describe('media journal merge', () => {
  it('writes a journal with a long name', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    const all = '写'.repeat(77);
    expect(await media(one, 'merge', '-o', all, 'j')).toMatchObject({exitCode: 0, stdout: ''});
    expect((await readdir(one.directory)).sort()).toEqual(['j', all]);
  });

  it('the same content stored twice by one journal: doubled', async () => {
    const one = await bench();
    const lines = ['x', 'y'].flatMap((key): Transition[] => [
      {event: 'intent', key, path: 'a', size: 4, contentType: 'image/png'},
      {event: 'commit', key, sha256: sha256('same')},
      {event: 'done', key, recordJson: `{"id":"med_${key}"}`},
    ]);
    const text = lines.map(line => formatTransition(line, 'w')).join('');
    await one.write(`${header}\n${text}`, join(one.directory, 'j'));
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
      exitCode: 1,
      stdout: 'doubled   a  stored 2 times: med_x, med_y\n',
    });
  });

  it.each([
    ['j', 'copy'],
    ['copy', 'j'],
    ['copy', 'other-copy'],
  ])(
    'a copy that has seen the content under another path: %s and %s have both paths, once',
    async (...names) => {
      const one = await bench();
      const stored: Transition[] = [
        {event: 'intent', key: 'k', path: 'a.png', size: 4, contentType: 'image/png'},
        {event: 'commit', key: 'k', sha256: sha256('same')},
        {event: 'done', key: 'k', recordJson: '{"id":"med_1"}'},
      ];
      const seen: Transition = {event: 'seen', key: 'k', path: 'b.png', size: 4, stat: '1 1 1 1', types: ''};
      const textOf = (...lines: Transition[]) => lines.map(line => formatTransition(line, 'w')).join('');
      await one.write(`${header}\n${textOf(...stored)}`, join(one.directory, 'j'));
      for (const copy of ['copy', 'other-copy'])
        await one.write(`${header}\n${textOf(...stored, seen)}`, join(one.directory, copy));
      expect(await media(one, 'merge', '-o', 'all', ...names)).toMatchObject({exitCode: 0});
      const {stdout} = await media(one, 'list', 'all');
      expect(stdout.match(/[ab]\.png/g)).toEqual(['a.png', 'b.png']);
      expect((await readFile(join(one.directory, 'all'), 'utf8')).match(/"event":"seen"/g)).toHaveLength(1);
    },
  );

  it.each(['failed', 'intent'] as const)(
    'two files with one path, in two journals: the upload of one does not make good that of the other (%s)',
    async end => {
      const one = await bench();
      const reason = {failed: 'the service refused it', intent: 'not sent completely'};
      await journalOf(one, 'j1', {a: [end]}, 'from one folder');
      await journalOf(one, 'j2', {a: ['done', 'med_2']}, 'from another');
      for (const journals of [
        ['j1', 'j2'],
        ['j2', 'j1'],
      ])
        expect(await media(one, 'merge', '-o', 'all', ...journals)).toMatchObject({
          exitCode: 1,
          stdout: `missing   a  ${reason[end]}\n`,
        });
      await journalOf(one, 'j1', {a: ['done', 'med_1']}, 'from one folder');
      expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({exitCode: 0, stdout: ''});
    },
  );

  it('stored, then written over by as many bytes, which are refused: missing', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']}, 'first');
    await journalOf(one, 'j', {a: ['failed']}, 'other');
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
      exitCode: 1,
      stdout: 'missing   a  the service refused it\n',
    });
  });

  it('of one size, and refused after all of it was sent: missing', async () => {
    const one = await bench();
    await one.run(
      async journal => {
        const entry = await begin(journal, inputOf('a', 'first'));
        await entry.commit(sha256('first'));
        await entry.recordFailure({code: 'rejected', message: 'the service refused it'});
        entry.end();
      },
      join(one.directory, 'j1'),
    );
    await journalOf(one, 'j2', {a: ['done', 'med_2']}, 'other');
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({
      exitCode: 1,
      stdout: 'missing   a  the service refused it\n',
    });
    await journalOf(one, 'j2', {b: ['done', 'med_3']}, 'first');
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({exitCode: 0, stdout: ''});
  });

  it('refused in one journal, then changed and stored: recorded', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['failed']}, 'too large');
    await one.write(await one.text(join(one.directory, 'j')), join(one.directory, 'before'));
    await journalOf(one, 'j', {a: ['done', 'med_1']}, 'small');
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0, stdout: ''});
    expect(await media(one, 'merge', '-o', 'all', 'before', 'j')).toMatchObject({exitCode: 0, stdout: ''});
  });

  it('forgotten in a continued copy: forgotten, until it is stored again', async () => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['done', 'med_1']});
    await one.write(await one.text(join(one.directory, 'j1')), join(one.directory, 'j2'));
    expect(await media(one, 'forget', 'j2', 'a')).toMatchObject({exitCode: 0});
    for (const names of [
      ['j1', 'j2'],
      ['j2', 'j1'],
    ]) {
      expect(await media(one, 'merge', '-o', 'all', ...names)).toMatchObject({
        exitCode: 1,
        stdout: 'missing   a  forgotten; the next run sends it\n',
      });
    }
    await journalOf(one, 'j2', {a: ['done', 'med_2']});
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({exitCode: 0, stdout: ''});
    expect(await media(one, 'list', 'all')).toMatchObject({stdout: 'uploaded  a  med_2\n'});
  });

  it('unknown in an older copy, then settled and forgotten: forgotten', async () => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['commit']});
    await one.write(await one.text(join(one.directory, 'j1')), join(one.directory, 'j2'));
    expect(await media(one, 'resolve', 'j2', 'a', '--uploaded', 'med_1')).toMatchObject({exitCode: 0});
    expect(await media(one, 'forget', 'j2', 'a')).toMatchObject({exitCode: 0});
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({
      exitCode: 1,
      stdout: 'missing   a  forgotten; the next run sends it\n',
    });
  });

  it.each([
    ['j1', 'j2'],
    ['j2', 'j1'],
  ])('%s and %s in one file, one of which has forgotten an upload: forgotten', async (...names) => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['done', 'med_1'], b: ['done', 'med_2']});
    await one.write(await one.text(join(one.directory, 'j1')), join(one.directory, 'j2'));
    expect(await media(one, 'forget', 'j2', 'a')).toMatchObject({exitCode: 0});
    const texts = await Promise.all(names.map(name => one.text(join(one.directory, name))));
    await one.write(texts.join(''), join(one.directory, 'both'));
    expect((await media(one, 'list', 'both')).stdout).toBe(
      'forgotten  a  forgotten; the next run sends it\nuploaded  b  med_2\n',
    );
  });

  it('keeps a journal that has forgotten an upload', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0});
    expect(await media(one, 'forget', 'all', 'a')).toMatchObject({exitCode: 0});
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
      exitCode: 2,
      error: 'all records what the journals to be merged do not.',
    });
  });

  it('replaces a journal with an upload that was forgotten since, and made again', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0});
    expect(await media(one, 'forget', 'j', 'med_1')).toMatchObject({exitCode: 0});
    await journalOf(one, 'j', {a: ['done', 'med_2']});
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0, error: undefined});
    expect(await media(one, 'list', 'all')).toMatchObject({stdout: 'uploaded  a  med_2\n'});
  });

  it('keeps a journal of another service', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    const other = header.replace(scope.service, 'https://other.example');
    await one.write(`${other}\n`, join(one.directory, 'all'));
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('all to https://other.example'),
    });
    expect(await one.text(join(one.directory, 'all'))).toBe(`${other}\n`);
  });
});
