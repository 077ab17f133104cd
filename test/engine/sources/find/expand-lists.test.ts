import {execFileSync} from 'node:child_process';
import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {expandInputs} from '../../../../src/engine/sources/find/expand.ts';
import type {Source} from '../../../../src/engine/sources/open/source.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {contentOf, expand, list, refusal} from '../../../support/expanding.ts';
import {addFile, bytePath, collect, makeTree} from '../../../support/trees.ts';

describe('lists', () => {
  it('name files relative to the working directory, after the inputs', async () => {
    const root = await makeTree('a.png', 'sub/b.png', 'c.png', 'lists/one', 'lists/two');
    await writeFile(join(root, 'lists/one'), `sub/b.png\r\n\r\n./a.png\n${root}/c.png`);
    await writeFile(join(root, 'lists/two'), 'z.png\0new\nline\0');
    expect(await list(root, {inputs: ['c.png'], filesFrom: ['lists/one', 'lists/two']})).toEqual([
      'c.png',
      'sub/b.png',
      './a.png as a.png',
      'z.png',
      'new\nline',
    ]);
  });

  it('come on standard input', async () => {
    const root = await makeTree('a.png', 'b.png');
    expect(await list(root, {inputs: [], filesFrom: ['-']}, 'b.png\na.png\n')).toEqual(['b.png', 'a.png']);
    expect(await list(root, {inputs: ['a.png'], filesFrom: ['-']}, 'b.png\0')).toEqual(['a.png', 'b.png']);
  });

  it('take names as they are: no patterns, no standard input', async () => {
    const root = await makeTree('-', 'a.png');
    const sources = await collect(expand(root, {inputs: [], filesFrom: ['-']}, '-\n*.png\n'));
    expect(sources.map(({name}) => name)).toEqual(['-', '*.png']);
    expect(await contentOf(sources[0] as Source)).toBe('-');
    expect(await refusal(sources[1])).toMatchObject({code: 'file_missing'});
  });

  it('reach names that are not UTF-8', async () => {
    const root = await makeTree();
    await writeFile(bytePath(root, 'caf\xe9\n.png'), 'bytes');
    const [source, ...others] = await collect(
      expand(root, {inputs: [], filesFrom: ['-']}, Buffer.from('./caf\xe9\n.png\0', 'latin1')),
    );
    expect(others).toEqual([]);
    expect(source?.name).toBe('./caf\ufffd\n.png');
    expect(source?.nameBytes).toEqual(Buffer.from('./caf\xe9\n.png', 'latin1'));
    expect(source?.relativePath).toEqual(Buffer.from('caf\xe9\n.png', 'latin1'));
    expect(await contentOf(source as Source)).toBe('bytes');
  });

  it('name directories that are entered with -r only', async () => {
    const root = await makeTree('sub/a.png', 'sub/build/b.png', 'out/c.png');
    const names = 'sub\nsub/a.png\nout\n';
    const request = {inputs: [], filesFrom: ['-'], exclude: ['build', 'out']};
    expect(await list(root, {...request, recursive: true}, names)).toEqual(['sub/a.png as a.png']);
    const sources = await collect(expand(root, request, names));
    expect(sources.map(({name}) => name)).toEqual(['sub', 'sub/a.png']);
    expect(await refusal(sources[0])).toMatchObject({code: 'not_a_file'});
  });

  it('are sifted by --exclude', async () => {
    const root = await makeTree('a.png', 'sub/a.png', 'sub/b.jpg');
    const names = 'a.png\nsub/a.png\nsub/b.jpg\nmissing.png\n';
    expect(await list(root, {inputs: [], filesFrom: ['-'], exclude: ['*.jpg', 'sub/']}, names)).toEqual([
      'a.png',
      'missing.png',
    ]);
  });

  it('in a pipe are read once, though looked into before', async () => {
    const root = await makeTree('a.png', 'b.png', 'c.png');
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const writing = writeFile(join(root, 'pipe'), 'b.png\nc.png\n');
    expect(await list(root, {inputs: ['a.png'], filesFrom: ['pipe']})).toEqual(['a.png', 'b.png', 'c.png']);
    await writing;
  });
});

describe('the sources come', () => {
  it('before the second directory is read, of the inputs too', async () => {
    const root = await makeTree('a/1.png', 'b/2.png', 'c/3.png');
    for (const inputs of [['.'], ['a', 'b', 'c']]) {
      await addFile(root, 'b/2.png');
      const sources = expand(root, {inputs, recursive: true});
      expect((await sources.next()).value?.name).toBe('a/1.png');
      await rm(join(root, 'b/2.png'));
      await addFile(root, 'b/4.png');
      expect((await collect(sources)).map(({name}) => name)).toEqual(['b/4.png', 'c/3.png']);
      await rm(join(root, 'b/4.png'));
    }
  });

  it('while a list is still being written', async () => {
    const root = await makeTree('a.png', 'b.png');
    const stdin = new PassThrough();
    const sources = expandInputs(
      {inputs: [], filesFrom: ['-']},
      {cwd: root, files: systemFiles, stdin: () => stdin, temporaryDirectory: root},
    );
    stdin.write('a.png\n');
    expect((await sources.next()).value?.name).toBe('a.png');
    stdin.end('b.png');
    expect((await collect(sources)).map(({name}) => name)).toEqual(['b.png']);
  });

  it('no more once nobody wants them', async () => {
    const root = await makeTree('a.png', 'b.png', 'list');
    await writeFile(join(root, 'list'), 'a.png\nb.png\n');
    const sources = expand(root, {inputs: [], filesFrom: ['list']});
    await sources.next();
    await sources.return(undefined);
    expect((await sources.next()).done).toBe(true);
  });
});
