import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {resolveName} from '../../../../../src/engine/sources/find/walk/names.ts';
import {compileGlob, isPattern} from '../../../../../src/engine/sources/find/walk/patterns.ts';
import {walk} from '../../../../../src/engine/sources/find/walk/walk.ts';
import {systemFiles} from '../../../../../src/lib/files/file-system.ts';
import {toText} from '../../../../../src/lib/files/typed-path.ts';
import {bytePath, collect, makeTree} from '../../../../support/trees.ts';

describe('an argument', () => {
  it.each([
    '*.png',
    'a?.png',
    '[ab].png',
    '{a,b}.png',
    '{1..3}.png',
    '{{a},b}.png',
    '[]a].png',
    '**',
    'a/*/b.png',
  ])('%s is a pattern', argument => expect(isPattern(argument)).toBe(true));

  it.each([
    'a.png',
    'photo (1).png',
    '{3F25}.png',
    'a[b.png',
    'a]b.png',
    '[].png',
    '!a.png',
    'a@b.png',
    'a|b',
    '@(a|b).png',
    '~/a',
    '',
  ])('%s is none', argument => expect(isPattern(argument)).toBe(false));
});

const files = [
  '.hidden.png',
  '.git/x.png',
  'a.png',
  'b.jpg',
  'a"b.png',
  'a|b.png',
  'photo (1).png',
  'sub/.hidden.png',
  'sub/c.png',
  'sub/deep/d.png',
  'sub/deep/.dot/e.png',
  'tub/c.png',
  'tub/x.png/y.png',
];

async function expand(root: string, pattern: string, recursive = false): Promise<string[]> {
  const glob = compileGlob(pattern, recursive);
  const found = await collect(walk(resolveName(root, glob.base), glob, systemFiles));
  return found.map(({kind, relative}) => (kind === 'file' ? '' : `${kind} `) + toText(relative));
}

describe('a pattern matches', () => {
  it.each<[string, string[]]>([
    ['*.png', ['a"b.png', 'a.png', 'a|b.png', 'photo (1).png']],
    ['*', ['a"b.png', 'a.png', 'a|b.png', 'b.jpg', 'photo (1).png']],
    ['.*.png', ['.hidden.png']],
    ['./*.jpg', ['b.jpg']],
    ['*.{png,jpg}', ['a"b.png', 'a.png', 'a|b.png', 'b.jpg', 'photo (1).png']],
    ['[!b].*', ['a.png']],
    ['?.???', ['a.png', 'b.jpg']],
    ['photo (?).png', ['photo (1).png']],
    ['a"*', ['a"b.png']],
    ['a|*', ['a|b.png']],
    ['a\\.*', ['a.png']],
    ['*/c.png', ['sub/c.png', 'tub/c.png']],
    ['*/*.png', ['sub/c.png', 'tub/c.png']],
    ['{sub,tub}/c.png', ['sub/c.png', 'tub/c.png']],
    ['{sub/deep/d,tub/c}.png', ['sub/deep/d.png', 'tub/c.png']],
    ['{{sub,tub}/,.}/?.png', ['a.png', 'sub/c.png', 'tub/c.png']],
    ['**/c.png', ['sub/c.png', 'tub/c.png']],
    [
      '**/*.png',
      [
        'a"b.png',
        'a.png',
        'a|b.png',
        'photo (1).png',
        'sub/c.png',
        'sub/deep/d.png',
        'tub/c.png',
        'tub/x.png/y.png',
      ],
    ],
    ['**/.dot/*.png', ['sub/deep/.dot/e.png']],
    ['**/\\.dot/*.png', ['sub/deep/.dot/e.png']],
    ['.git/*', ['x.png']],
    ['sub/**', ['c.png', 'deep/d.png']],
    ['t*/**', ['tub/c.png', 'tub/x.png/y.png']],
    ['[at]*/**', ['tub/c.png', 'tub/x.png/y.png']],
    ['sub/*.png', ['c.png']],
    ['s*/**/d.png', ['sub/deep/d.png']],
    ['sub/*/d.png', ['deep/d.png']],
    ['*/deep/*', ['sub/deep/d.png']],
    ['sub//*.png', ['c.png']],
    ['*/', []],
    ['*.gif', []],
    ['sub/../*.jpg', ['b.jpg']],
    ['*/../a.png', []],
  ])('%s', async (pattern, expected) => {
    expect(await expand(await makeTree(...files), pattern)).toEqual(expected);
  });

  const numbered = ['1', '2', '3', '9', '10', '11', '12', '010', 'A', 'b', 'c', '-'].map(
    name => `n${name}.png`,
  );
  it.each<[string, string[]]>([
    ['n{9..11}.png', ['n9.png', 'n10.png', 'n11.png']],
    ['n{11..9}.{png,gif}', ['n9.png', 'n10.png', 'n11.png']],
    ['n{008..012}.png', ['n010.png']],
    ['n{a..c}.png', ['nb.png', 'nc.png']],
    ['n{{1..2},A}.png', ['n1.png', 'n2.png', 'nA.png']],
  ])('%s, as a shell expands it', async (pattern, expected) => {
    expect(await expand(await makeTree(...numbered), pattern)).toEqual(expected.sort());
  });

  it.each(['{1..99999999}', '{a..10}', '{1..3..2}', '{1..3,5}', '{..}', '{Z..b}'])(
    'nothing with %s: it is not a range',
    pattern => {
      expect(() => compileGlob(`n${pattern}.png`, false)).toThrow(expect.objectContaining({code: 'usage'}));
    },
  );

  it('with -r directories too, and all in them', async () => {
    const root = await makeTree(...files);
    expect(await expand(root, 't*', true)).toEqual(['tub/c.png', 'tub/x.png/y.png']);
    expect(await expand(root, 'sub/**/', true)).toEqual(['c.png', 'hidden deep/.dot', 'deep/d.png']);
    expect(await expand(root, 'sub/**/')).toEqual([]);
    expect(await expand(root, 's*/', true)).toEqual([
      'hidden sub/.hidden.png',
      'sub/c.png',
      'hidden sub/deep/.dot',
      'sub/deep/d.png',
    ]);
    expect(await expand(root, '*/x.png', true)).toEqual(['tub/x.png/y.png']);
    expect(await expand(root, '*.jpg', true)).toEqual(['b.jpg']);
  });

  it('what is hidden in a directory with a dot only if it is spelled too', async () => {
    const root = await makeTree('.a/b.png', '.a/.c.png', '.a/.d/e.png', '.a/f/.g.png');
    expect(await expand(root, '{.a,x}/**', true)).toEqual(['.a/b.png', 'hidden .a/f/.g.png']);
    expect(await expand(root, '**/.a/*', true)).toEqual(['.a/b.png', 'hidden .a/f/.g.png']);
  });

  it('from the root of the file system', async () => {
    const root = await makeTree('x/a.png', 'y/a.png');
    const glob = compileGlob(`${root}/*/a.png`, false);
    expect(glob.base).toBe(root);
    expect(await expand('/', `${root}/*/a.png`)).toEqual(['x/a.png', 'y/a.png']);
    expect(compileGlob('/*', false).base).toBe('/');
  });

  it.each([
    ['a/{b}/*.png', 'a/{b}'],
    ['a [b/*.png', 'a [b'],
    ['a/{b/c,d}/e.png', 'a'],
    ['a/{{b}/c,d}/e.png', 'a'],
    ['a/b\\*/c', 'a'],
    ['a/{{b},c}/*', 'a'],
    ['a/[]b]/*', 'a'],
  ])(
    '%s: the directory before the first part that may be several is as typed, also a link',
    (pattern, base) => {
      expect(compileGlob(pattern, false).base).toBe(base);
    },
  );

  it('names that are not UTF-8', async () => {
    const root = await makeTree('plain.png');
    await mkdir(bytePath(root, 'd\xff'));
    await writeFile(bytePath(root, 'd\xff/caf\xe9.png'), 'x');
    expect(await expand(root, '**/*.png')).toEqual(['d\ufffd/caf\ufffd.png', 'plain.png']);
    expect(await expand(root, 'd?/caf?.png')).toEqual(['d\ufffd/caf\ufffd.png']);
  });

  it('nothing behind a link to a directory, unless it is named', async () => {
    const root = await makeTree('real/a.png');
    await symlink('real', join(root, 'link'));
    expect(await expand(root, '**/*.png')).toEqual(['unfollowed link', 'real/a.png']);
    expect(await expand(root, 'link/*.png')).toEqual(['a.png']);
  });
});

describe('a pattern reads', () => {
  it.each<[string, string[]]>([
    ['*.png', []],
    ['*/*.png', ['sub', 'tub']],
    ['s*/*.png', ['sub']],
    ['s*/d*/*', ['sub', 'sub/deep']],
    ['{sub/deep,tub}/*.png', ['sub', 'sub/deep', 'tub']],
    ['**/*.png', ['sub', 'sub/deep', 'tub', 'tub/x.png']],
    ['s*/**', ['sub', 'sub/deep']],
    ['**/.dot/*', ['sub', 'sub/deep', 'sub/deep/.dot', 'tub', 'tub/x.png']],
  ])('%s no directory but %j', async (pattern, expected) => {
    const glob = compileGlob(pattern, false);
    const directories = ['.git', 'sub', 'sub/deep', 'sub/deep/.dot', 'tub', 'tub/x.png'];
    // As a walk asks: of what is in a directory only once that is entered.
    const entered: string[] = [];
    for (const directory of directories) {
      const above = directory.includes('/') ? directory.slice(0, directory.lastIndexOf('/')) : undefined;
      if ((above === undefined || entered.includes(above)) && glob.enters(directory)) entered.push(directory);
    }
    expect(entered).toEqual(expected);
  });
});
