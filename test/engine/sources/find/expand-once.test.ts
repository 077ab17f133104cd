import {copyFile, link, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {expand, list} from '../../../support/expanding.ts';
import {fixture} from '../../../support/media.ts';
import {canListOpenFiles, openFiles} from '../../../support/open-files.ts';
import {bytePath, collect, makeTree} from '../../../support/trees.ts';

describe('a file named twice is sent once', () => {
  it('by any of its names', async () => {
    const root = await makeTree('a.png', 'b.png');
    await symlink('a.png', join(root, 'link.png'));
    expect(
      await list(root, {inputs: ['a.png', './a.png', `${root}/a.png`, 'link.png', 'b.png', 'a.png']}),
    ).toEqual(['a.png', 'b.png']);
    expect(await list(root, {inputs: ['link.png', 'a.png']})).toEqual(['link.png']);
  });

  it('as a file and in a directory, a pattern or a list', async () => {
    const root = await makeTree('p/a.png', 'p/sub/b.png', 'p/sub/c.png');
    const recursive = true;
    expect(await list(root, {inputs: ['p/sub/b.png', 'p'], recursive})).toEqual([
      'p/sub/b.png',
      'p/a.png as a.png',
      'p/sub/c.png as sub/c.png',
    ]);
    expect(await list(root, {inputs: ['p', 'p/a.png', 'p/sub', '**/*.png'], recursive})).toHaveLength(3);
    expect(
      await list(root, {inputs: ['p/a*'], filesFrom: ['-']}, 'p/a.png\np/sub/b.png\np/sub/../sub/b.png\n'),
    ).toEqual(['p/a.png', 'p/sub/b.png']);
  });

  it('through a link to its directory', async () => {
    const root = await makeTree('real/a.png');
    await symlink('real', join(root, 'alias'));
    expect(await list(root, {inputs: ['alias', 'real'], recursive: true})).toEqual(['alias/a.png as a.png']);
  });

  it('also when it does not exist', async () => {
    expect(await list(await makeTree(), {inputs: ['missing.png', './missing.png']})).toEqual(['missing.png']);
  });

  it('but a hard link is another file', async () => {
    const root = await makeTree('a.png');
    await link(join(root, 'a.png'), join(root, 'b.png'));
    expect(await list(root, {inputs: ['a.png', 'b.png']})).toEqual(['a.png', 'b.png']);
  });

  it('and once under its own name where links beside it lead to it, whatever else is uploaded', async () => {
    const root = await makeTree('p/d.png', 'q/b.png');
    await symlink('d.png', join(root, 'p/a-link.png'));
    await symlink('../q/b.png', join(root, 'p/far.png'));
    await symlink('../q/b.png', join(root, 'p/far-too.png'));
    const inP = ['p/d.png as d.png', 'p/far-too.png as far-too.png'];
    expect((await list(root, {inputs: ['p'], recursive: true})).sort()).toEqual(inP);
    expect((await list(root, {inputs: ['p', 'q', 'p'], recursive: true})).sort()).toEqual(inP);
    expect(await list(root, {inputs: ['p/*']})).toEqual(['p/d.png', 'p/far-too.png']);
    expect(await list(root, {inputs: ['p'], recursive: true, exclude: ['d.png', 'far*']})).toEqual([
      'p/a-link.png as a-link.png',
    ]);
  });

  it('and under the name of a link, where its own name is hidden or in a hidden directory', async () => {
    const root = await makeTree('p/.cover.png', 'p/.old/b.png');
    await symlink('.cover.png', join(root, 'p/cover.png'));
    await symlink('.old/b.png', join(root, 'p/b.png'));
    const sources = await collect(expand(root, {inputs: ['p'], recursive: true}));
    const sent = sources.filter(({found}) => !found?.isHidden).map(({name}) => name);
    expect(sent.sort()).toEqual(['p/b.png', 'p/cover.png']);
  });

  it('and is tried when it is named, though a walk may have left it out', async () => {
    const root = await makeTree('p/notes.txt', 'p/.hidden.png');
    const request = {inputs: ['p', 'p/notes.txt', 'p/.hidden.png', 'p/notes.txt'], recursive: true};
    const sources = await collect(expand(root, request));
    expect(sources.map(({name, found}) => [name, found === undefined])).toEqual([
      ['p/.hidden.png', false],
      ['p/notes.txt', false],
      ['p/notes.txt', true],
      ['p/.hidden.png', true],
    ]);
  });

  it('by its picture, where a link calls it one and its own name does not', async () => {
    const root = await makeTree('blobs/1');
    await symlink('blobs/1', join(root, 'b.png'));
    expect(await list(root, {inputs: ['.'], recursive: true})).toEqual(['b.png', 'blobs/1']);
    await copyFile(fixture('photo.png'), join(root, 'blobs/1'));
    expect(await list(root, {inputs: ['.'], recursive: true})).toEqual(['blobs/1']);
    if (canListOpenFiles) expect(await openFiles(root)).toEqual([]);
  });

  it('and two names whose bytes differ are two files', async () => {
    const root = await makeTree();
    for (const name of ['\xe9', '\xea']) await writeFile(bytePath(root, name), 'x');
    const names = Buffer.from('\xe9\0\xea\0\xe9\0', 'latin1');
    expect(await collect(expand(root, {inputs: [], filesFrom: ['-']}, names))).toHaveLength(2);
  });
});
