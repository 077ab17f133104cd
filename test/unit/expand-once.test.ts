import {link, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {expand, list} from '../support/expanding.ts';
import {bytePath, collect, makeTree} from '../support/trees.ts';

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

  it('but in one directory each name stands for itself, whatever else is uploaded', async () => {
    const root = await makeTree('p/a.png', 'q/b.png');
    await symlink('a.png', join(root, 'p/link.png'));
    expect(await list(root, {inputs: ['p'], recursive: true})).toEqual([
      'p/a.png as a.png',
      'p/link.png as link.png',
    ]);
    expect(await list(root, {inputs: ['p', 'q', 'p'], recursive: true})).toEqual([
      'p/a.png as a.png',
      'p/link.png as link.png',
      'q/b.png as b.png',
    ]);
  });

  it('and two names whose bytes differ are two files', async () => {
    const root = await makeTree();
    for (const name of ['\xe9', '\xea']) await writeFile(bytePath(root, name), 'x');
    const names = Buffer.from('\xe9\0\xea\0\xe9\0', 'latin1');
    expect(await collect(expand(root, {inputs: [], filesFrom0: ['-']}, names))).toHaveLength(2);
  });
});
