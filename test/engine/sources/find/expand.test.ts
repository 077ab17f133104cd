import {execFileSync} from 'node:child_process';
import {chmod, mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {expandInputs, inputCoverage} from '../../../../src/engine/sources/find/expand.ts';
import type {Source} from '../../../../src/engine/sources/open/source.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {contentOf, expand, list, refusal} from '../../../support/expanding.ts';
import {asOrdinaryUser, bytePath, collect, makeTree, stdinOf} from '../../../support/trees.ts';

describe('files', () => {
  it('come as named, with what they hold', async () => {
    const root = await makeTree('a.png', 'sub/b.png');
    const sources = await collect(expand(root, {inputs: ['./sub/../sub//b.png', `${root}/a.png`]}));
    expect(sources.map(({name, relativePath}) => ({name, relativePath}))).toEqual([
      {name: './sub/../sub//b.png', relativePath: 'sub/../sub/b.png'},
      {name: `${root}/a.png`, relativePath: `${root}/a.png`},
    ]);
    expect(await Promise.all(sources.map(contentOf))).toEqual(['sub/b.png', 'a.png']);
    expect(sources.every(source => source.nameBytes === undefined && source.everyShard === undefined)).toBe(
      true,
    );
  });

  it('that are missing fail when opened', async () => {
    const root = await makeTree('a.png');
    const sources = await collect(expand(root, {inputs: ['missing.png', 'a.png/b', 'a.png']}));
    expect(sources.map(({name}) => name)).toEqual(['missing.png', 'a.png/b', 'a.png']);
    expect(await refusal(sources[0])).toMatchObject({code: 'file_missing'});
    expect(await refusal(sources[1])).toMatchObject({code: 'file_missing'});
  });

  it('with the characters of patterns in their names are files when they exist', async () => {
    const root = await makeTree('[ab].png', 'a.png', 'photo (1).png', '*.png');
    expect(await list(root, {inputs: ['[ab].png', 'photo (1).png']})).toEqual(['[ab].png', 'photo (1).png']);
    expect(await list(root, {inputs: ['*.png']})).toEqual(['*.png']);
  });

  it('that are FIFOs or devices fail when opened, and are not opened before', async () => {
    const root = await makeTree();
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const sources = await collect(expand(root, {inputs: ['fifo', '/dev/null']}));
    expect(await refusal(sources[0])).toMatchObject({code: 'not_a_file'});
    expect(await refusal(sources[1])).toMatchObject({code: 'not_a_file'});
  });

  it('are not subject to --exclude', async () => {
    const root = await makeTree('a.png', 'b.jpg');
    expect(await list(root, {inputs: ['a.png', 'b.jpg'], exclude: ['a*', '*.jpg']})).toEqual([
      'a.png',
      'b.jpg',
    ]);
  });
});

describe('directories', () => {
  it('without -r fail when opened, in every shard, and name -r', async () => {
    const root = await makeTree('photos/a.png', 'b.png');
    const sources = await collect(expand(root, {inputs: ['photos/', 'b.png']}));
    expect(sources.map(({name}) => name)).toEqual(['photos/', 'b.png']);
    expect(await refusal(sources[0])).toMatchObject({
      code: 'not_a_file',
      hint: 'To upload what is in it: media upload -r photos/',
    });
    expect(sources[0]?.everyShard).toBe(true);
  });

  it('with -r stand for what is in them, relative to themselves', async () => {
    const root = await makeTree('photos/b/c.png', 'photos/a.png', 'photos/.hidden/d.png', 'e.png');
    expect(await list(root, {inputs: ['photos', 'e.png'], recursive: true})).toEqual([
      'photos/.hidden as .hidden, hidden',
      'photos/a.png as a.png',
      'photos/b/c.png as b/c.png',
      'e.png',
    ]);
  });

  it.each([
    ['photos/', 'photos/a.png'],
    ['./photos', './photos/a.png'],
    ['photos/../photos', 'photos/../photos/a.png'],
    ['photos//', 'photos/a.png'],
  ])('named %s show as %s', async (input, expected) => {
    const root = await makeTree('photos/a.png');
    expect(await list(root, {inputs: [input], recursive: true})).toEqual([`${expected} as a.png`]);
  });

  it.each(['.', './'])('named %s do not show', async input => {
    const root = await makeTree('a.png', 'sub/b.png');
    expect(await list(root, {inputs: [input], recursive: true})).toEqual(['a.png', 'sub/b.png']);
  });

  it('with names that are not UTF-8 come with their bytes, and open', async () => {
    const root = await makeTree();
    await mkdir(bytePath(root, 'd\xff'));
    await writeFile(bytePath(root, 'd\xff/caf\xe9.png'), 'bytes');
    await writeFile(bytePath(root, 'caf\u00c3\u00a9.png'), 'text');
    for (const inputs of [['.'], [root], ['**/*.png', '*.png']]) {
      const sources = await collect(expand(root, {inputs, recursive: true}));
      expect(sources).toHaveLength(2);
      const [text, bytes] = sources;
      expect(text).toMatchObject({
        relativePath: expect.stringMatching(/café\.png$/),
        name: expect.stringMatching(/café\.png$/),
      });
      expect(text?.nameBytes).toBeUndefined();
      expect(bytes?.name).toMatch(/d\ufffd\/caf\ufffd\.png$/);
      expect(bytes?.nameBytes?.toString('latin1')).toMatch(/d\xff\/caf\xe9\.png$/);
      expect(bytes?.relativePath).toEqual(Buffer.from('d\xff/caf\xe9.png', 'latin1'));
      expect(await contentOf(text as Source)).toBe('text');
      expect(await contentOf(bytes as Source)).toBe('bytes');
    }
  });

  it('that cannot be read fail when opened, in every shard, and the rest goes on', async () => {
    const root = await makeTree('in/a.png', 'in/closed/b.png', 'in/z.png', 'shut/c.png');
    for (const directory of ['.', 'in']) await chmod(join(root, directory), 0o755);
    for (const directory of ['in/closed', 'shut']) await chmod(join(root, directory), 0);
    const request = {inputs: ['in', 'shut'], recursive: true};
    const sources = await asOrdinaryUser(() => collect(expand(root, request)));
    expect(
      sources.map(({name, relativePath, everyShard = false}) => [name, relativePath, everyShard]),
    ).toEqual([
      ['in/a.png', 'a.png', false],
      ['in/closed', 'closed', true],
      ['in/z.png', 'z.png', false],
      ['shut', '.', true],
    ]);
    expect(await refusal(sources[1])).toMatchObject({
      code: 'file_unreadable',
      message: 'The directory in/closed could not be read: permission denied.',
    });
  });

  it('that no descriptor is left for fail as what may pass', async () => {
    const root = await makeTree('in/a.png');
    const opendir = () => Promise.reject(Object.assign(new Error('EMFILE'), {code: 'EMFILE'}));
    const context = {cwd: root, stdin: () => stdinOf(''), temporaryDirectory: root};
    const files = {...systemFiles, opendir};
    const [source] = await collect(expandInputs({inputs: ['in'], recursive: true}, {...context, files}));
    expect(await refusal(source)).toMatchObject({code: 'too_many_open_files'});
  });

  it('that are missing may hold files of any shard', async () => {
    const root = await makeTree('a.png');
    const [missing] = await collect(expand(root, {inputs: ['missing'], recursive: true}));
    expect(missing?.everyShard).toBe(true);
    expect(await refusal(missing)).toMatchObject({code: 'file_missing'});
    const [file] = await collect(expand(root, {inputs: ['missing.png']}));
    expect(file?.everyShard).toBeUndefined();
  });

  it('that vanish while others are read say so', async () => {
    const root = await makeTree('a/x', 'b/x');
    const sources = expand(root, {inputs: ['.'], recursive: true});
    await sources.next();
    await rm(join(root, 'b'), {recursive: true});
    expect(await refusal((await sources.next()).value)).toMatchObject({
      code: 'file_missing',
      message: 'The directory b no longer exists.',
    });
    expect((await sources.next()).done).toBe(true);
  });

  it('behind links are not entered, unless the link is named', async () => {
    const root = await makeTree('real/a.png');
    await symlink('real', join(root, 'alias'));
    await symlink('..', join(root, 'real/up'));
    await symlink('real/a.png', join(root, 'b.png'));
    expect(await list(root, {inputs: ['.'], recursive: true})).toEqual(['real/a.png']);
    expect(await list(root, {inputs: ['alias'], recursive: true})).toEqual(['alias/a.png as a.png']);
  });

  it('are sifted by --exclude', async () => {
    const root = await makeTree('p/a.png', 'p/a.jpg', 'p/build/b.png', 'p/sub/c.png', 'p/sub/build/d.png');
    const request = {inputs: ['p'], recursive: true};
    expect(await list(root, {...request, exclude: ['*.jpg', '/build/']})).toEqual([
      'p/a.png as a.png',
      'p/sub/build/d.png as sub/build/d.png',
      'p/sub/c.png as sub/c.png',
    ]);
    expect(await list(root, {...request, exclude: ['a.*', 'sub/c*', '/build/']})).toEqual([
      'p/sub/build/d.png as sub/build/d.png',
    ]);
    expect(await list(root, {...request, exclude: ['p', 'build', '*.jpg']})).toEqual([
      'p/a.png as a.png',
      'p/sub/c.png as sub/c.png',
    ]);
  });
});

describe('patterns', () => {
  it('stand for the files they match, as typed', async () => {
    const root = await makeTree('b.png', 'a.png', 'a.jpg', '.c.png', 'sub/d.png');
    expect(await list(root, {inputs: ['*.png']})).toEqual(['a.png', 'b.png']);
    expect(await list(root, {inputs: ['./**/*.png']})).toEqual(['a.png', 'b.png', 'sub/d.png']);
    expect(await list(join(root, 'sub'), {inputs: ['../*.jpg']})).toEqual(['../a.jpg']);
    expect(await list('/', {inputs: [`${root}/s*/*`]})).toEqual([`${root}/sub/d.png`]);
  });

  it('are sifted by --exclude', async () => {
    const root = await makeTree('p/a.png', 'p/b.png', 'p/sub/c.png', 'p/sub/d.jpg');
    expect(await list(root, {inputs: ['p/**'], exclude: ['*.jpg', 'p/b*']})).toEqual([
      'p/a.png',
      'p/sub/c.png',
    ]);
    expect(await list(root, {inputs: ['p/**'], exclude: ['sub']})).toEqual(['p/a.png', 'p/b.png']);
  });

  it('leave directories alone that they do not lead to', async () => {
    const root = await makeTree('in/a.png', 'in/closed/b.png', 'on/c.png');
    for (const directory of ['.', 'in']) await chmod(join(root, directory), 0o755);
    for (const directory of ['in/closed', 'on']) await chmod(join(root, directory), 0);
    const found = await asOrdinaryUser(() => list(root, {inputs: ['i*/*.png']}));
    expect(found).toEqual(['in/a.png']);
  });

  it('match directories with -r', async () => {
    const root = await makeTree('p1/a.png', 'p2/b.png', 'p.png', 'q/c.png');
    expect(await list(root, {inputs: ['p*']})).toEqual(['p.png']);
    expect(await list(root, {inputs: ['p*'], recursive: true})).toEqual(['p.png', 'p1/a.png', 'p2/b.png']);
    expect(await list(root, {inputs: ['p*/'], recursive: true})).toEqual(['p1/a.png', 'p2/b.png']);
  });
});

describe('standard input', () => {
  it('is a source among others', async () => {
    const root = await makeTree('a.png');
    const sources = await collect(expand(root, {inputs: ['a.png', '-'], name: 'dir/cat.gif'}, 'meow'));
    expect(sources[1]).toMatchObject({
      name: 'cat.gif',
      relativePath: 'cat.gif',
    });
    expect(await contentOf(sources[1] as Source)).toBe('meow');
    const [nameless] = await collect(expand(root, {inputs: ['-']}, 'meow'));
    expect(nameless).toMatchObject({name: '-', relativePath: '-'});
  });

  it('is a file by that name when written ./-', async () => {
    const root = await makeTree('-');
    expect(await list(root, {inputs: ['./-']})).toEqual(['./- as -']);
  });
});

describe('whether inputs mean a file, which need not exist', () => {
  it.each<[string[], boolean, string, boolean]>([
    [['photos'], true, '/home/me/photos/a.png', true],
    [['photos'], true, '/home/me/photos/sub/a.png', true],
    [['photos'], true, '/home/me/photos2/a.png', false],
    [['photos', 'b.png'], true, '/home/me/b.png', true],
    [['photos/*.png'], false, '/home/me/photos/a.png', true],
    [['photos/*.png'], false, '/home/me/photos/a.jpg', false],
    [['photos/*.png'], false, '/home/me/photos/sub/a.png', false],
    [['photos/*'], false, '/home/me/photos/sub/a.png', false],
    [['photos/*'], true, '/home/me/photos/sub/a.png', true],
    [['../*.png'], false, '/home/a.png', true],
    [['../*.png'], false, '/home/me/a.png', false],
    [['/data/[ab].png'], false, '/data/[ab].png', true],
    [['/data/[ab].png'], false, '/data/b.png', true],
    [['/data/[ab].png'], false, '/data/c.png', false],
    [[], true, '/home/me/a.png', false],
  ])('%j, recursive %s: %s: %s', (inputs, recursive, path, expected) => {
    expect(inputCoverage({inputs, recursive}, '/home/me')(path)).toBe(expected);
  });
});
