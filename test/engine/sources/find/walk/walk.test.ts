import {execFileSync} from 'node:child_process';
import {chmod, link, mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {resolveName} from '../../../../../src/engine/sources/find/walk/names.ts';
import {type WalkResult, type WalkRules, walk} from '../../../../../src/engine/sources/find/walk/walk.ts';
import {systemFiles} from '../../../../../src/lib/files/file-system.ts';
import {toText} from '../../../../../src/lib/files/typed-path.ts';
import {asOrdinaryUser, bytePath, collect, makeTree} from '../../../../support/trees.ts';

const everything: WalkRules = {
  takes: () => true,
  enters: () => true,
  hides: () => false,
};

async function names(root: string, rules = everything): Promise<string[]> {
  return (await collect(walk(root, rules, systemFiles))).map(describeFound);
}

function describeFound(found: WalkResult): string {
  const name = toText(found.relative);
  if (found.kind === 'file') return name;
  return `${name}: ${found.kind === 'unreadable' ? (found.error as NodeJS.ErrnoException).code : found.kind}`;
}

describe('a walk goes through', () => {
  it('an empty directory', async () => {
    expect(await names(await makeTree())).toEqual([]);
  });

  it('directories where their names stand among the files, depth first', async () => {
    const root = await makeTree('b.png', 'a/z.png', 'a/b/c.png', 'a.png', 'a-b.png', 'c/', 'd/e.png');
    expect(await names(root)).toEqual(['a/b/c.png', 'a/z.png', 'a-b.png', 'a.png', 'b.png', 'd/e.png']);
  });

  it('names in the order of their bytes, not of any alphabet', async () => {
    const root = await makeTree('é', 'z', 'Z', 'a', '10', '9', '_', '.a', '😀', '\uffee');
    expect(await names(root)).toEqual(['.a', '10', '9', 'Z', '_', 'a', 'z', 'é', '\uffee', '😀']);
  });

  it('names with line feeds, blanks and glob characters', async () => {
    const root = await makeTree('a\nb/c\n', ' ', '*?[a]{b,c}', '-r');
    expect(await names(root)).toEqual([' ', '*?[a]{b,c}', '-r', 'a\nb/c\n']);
  });

  it('names that are not UTF-8, directories too', async () => {
    const root = await makeTree('b');
    await mkdir(bytePath(root, 'a\xff'));
    await writeFile(bytePath(root, 'a\xff/\xfe.png'), 'x');
    await writeFile(bytePath(root, 'caf\xe9.png'), 'x');
    const found = await collect(walk(root, everything, systemFiles));
    expect(found.map(({relative}) => relative)).toEqual(['a\xff/\xfe.png', 'b', 'caf\xe9.png']);
  });

  it('a directory named relative to the working directory', async () => {
    const root = await makeTree('x/a', 'x/b');
    const found = await collect(walk(resolveName(root, 'x'), everything, systemFiles));
    expect(found.map(describeFound)).toEqual(['a', 'b']);
  });

  it('a directory named with a closing slash, or by a link', async () => {
    const root = await makeTree('x/a', 'x/y/b');
    await symlink('x', join(root, 'link'));
    expect(await names(`${root}/x/`)).toEqual(['a', 'y/b']);
    expect(await names(`${root}/link`)).toEqual(['a', 'y/b']);
  });
});

describe('a walk takes', () => {
  it('links to files, broken links, hard links, FIFOs and sockets, and opens none of them', async () => {
    const root = await makeTree('file');
    await symlink('file', join(root, 'a-link'));
    await symlink('nowhere', join(root, 'broken'));
    await symlink('loop', join(root, 'loop'));
    await link(join(root, 'file'), join(root, 'hard'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'socket'));
    await new Promise(resolve => server.once('listening', resolve));
    expect(await names(root)).toEqual(['a-link', 'broken', 'fifo', 'file', 'hard', 'loop', 'socket']);
    await new Promise(resolve => server.close(resolve));
  });

  it('only what the rules take', async () => {
    const root = await makeTree('a.png', 'a.txt', 'sub/b.png', 'sub/b.txt');
    expect(await names(root, {...everything, takes: name => name.endsWith('.png')})).toEqual([
      'a.png',
      'sub/b.png',
    ]);
  });

  it('nothing from directories that the rules do not enter, which are not even read', async () => {
    const root = await makeTree('in/a', 'out/b');
    await chmod(join(root, 'out'), 0);
    await chmod(root, 0o755);
    const rules = {...everything, enters: (name: string) => name !== 'out'};
    expect(await asOrdinaryUser(() => names(root, rules))).toEqual(['in/a']);
  });
});

describe('a link to a directory', () => {
  it('is not followed', async () => {
    const root = await makeTree('real/a', 'z');
    await symlink('real', join(root, 'alias'));
    await symlink('/', join(root, 'everything'));
    expect(await names(root)).toEqual(['alias: unfollowed', 'everything: unfollowed', 'real/a', 'z']);
  });

  it('is hidden by its name', async () => {
    const root = await makeTree('real/a', '.b/c');
    await symlink('real', join(root, '.alias'));
    const hiding = {...everything, hides: (name: string) => name.startsWith('.')};
    expect(await names(root, hiding)).toEqual(['.alias: hidden', '.b: hidden', 'real/a']);
  });

  it('is passed over where the rules do not enter it', async () => {
    const root = await makeTree('real/a');
    await symlink('real', join(root, 'alias'));
    expect(await names(root, {...everything, enters: name => name !== 'alias'})).toEqual(['real/a']);
  });
});

describe('a directory that cannot be read', () => {
  it('without permission', async () => {
    const root = await makeTree('a/x', 'b/x', 'c/x');
    await chmod(root, 0o755);
    await chmod(join(root, 'b'), 0);
    expect(await asOrdinaryUser(() => names(root))).toEqual(['a/x', 'b: EACCES', 'c/x']);
  });

  it('that does not exist', async () => {
    expect(await names('/nowhere/at/all')).toEqual([': ENOENT']);
  });

  it('that is a file', async () => {
    const root = await makeTree('file');
    expect(await names(`${root}/file`)).toEqual([': ENOTDIR']);
  });

  it('that was removed after its parent was read', async () => {
    const root = await makeTree('a/x', 'b/x', 'c/x');
    const walking = walk(root, everything, systemFiles);
    expect((await walking.next()).value).toMatchObject({relative: 'a/x'});
    await rm(join(root, 'b'), {recursive: true});
    expect((await collect(walking)).map(describeFound)).toEqual(['b: ENOENT', 'c/x']);
  });
});
