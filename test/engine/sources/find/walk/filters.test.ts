import {describe, expect, it} from 'vitest';
import {compileFilters} from '../../../../../src/engine/sources/find/walk/patterns.ts';
import {fromText} from '../../../../../src/lib/files/typed-path.ts';

const paths = [
  'a.png',
  'a.jpg',
  '.hidden.png',
  'photos/b.png',
  'photos/raw/c.png',
  'build/d.png',
  'photos/build/e.png',
  'photo (1).png',
  'x\ny/f.png',
];

async function leftOut(exclude: string[], from = paths): Promise<string[]> {
  const filters = compileFilters(exclude);
  return from.filter(path => !filters.takes(path));
}

describe('--exclude', () => {
  it.each<[string[], string[]]>([
    [[], []],
    [['*.jpg'], ['a.jpg']],
    [['a.*'], ['a.png', 'a.jpg']],
    [
      ['*.{jpg,jpeg}', 'b.*'],
      ['a.jpg', 'photos/b.png'],
    ],
    [['*'], paths],
    [['*.JPG'], []],
    [
      ['?.png'],
      ['a.png', 'photos/b.png', 'photos/raw/c.png', 'build/d.png', 'photos/build/e.png', 'x\ny/f.png'],
    ],
    [['[ab].png'], ['a.png', 'photos/b.png']],
    [['photo (*).png'], ['photo (1).png']],
    [['photo (1).png'], ['photo (1).png']],
    [['photos/*'], ['photos/b.png', 'photos/raw/c.png', 'photos/build/e.png']],
    [['photos/**'], ['photos/b.png', 'photos/raw/c.png', 'photos/build/e.png']],
    [['*/**'], paths.filter(path => path.includes('/'))],
    [['**/build/*'], ['build/d.png', 'photos/build/e.png']],
    [['/*.png'], ['a.png', '.hidden.png', 'photo (1).png']],
    [['./a.png'], ['a.png']],
    [['build/'], ['build/d.png', 'photos/build/e.png']],
    [['/build/'], ['build/d.png']],
    [['photos/raw/'], ['photos/raw/c.png']],
    [['photos'], ['photos/b.png', 'photos/raw/c.png', 'photos/build/e.png']],
    [['build'], ['build/d.png', 'photos/build/e.png']],
    [['/build'], ['build/d.png']],
    [['.*'], ['.hidden.png']],
    [['a.png/'], []],
    [
      ['raw', 'a.jpg'],
      ['a.jpg', 'photos/raw/c.png'],
    ],
    [['!a.png'], []],
    [['photos/raw[!x]c.png'], []],
  ])('%j leaves out', async (exclude, expected) => {
    expect(await leftOut(exclude)).toEqual(expected);
  });

  it('a name that is also a pattern: leaves out that file, too', async () => {
    const names = ['photo[1].png', 'photo1.png'];
    expect(await leftOut(['photo[1].png'], names)).toEqual(names);
  });

  it('keeps a walk out of what it names, and of nothing else', async () => {
    const filters = compileFilters(['build', '.git/', '/top', 'deep/in', '*.png', 'all/**']);
    const directories = [
      'build',
      'a/build',
      '.git',
      'a/.git',
      'top',
      'a/top',
      'deep',
      'deep/in',
      'all',
      'x.png',
      'photos',
    ];
    expect(directories.filter(directory => filters.enters(directory))).toEqual(['a/top', 'deep', 'photos']);
  });
});

describe('patterns', () => {
  it('match paths as typed, whatever leads up to them', async () => {
    const from = [
      '/data/photos/a.png',
      '../photos/a.png',
      '../../photos/a.png',
      'photos/a.png',
      'x/photos/a.png',
    ];
    expect(await leftOut(['photos/*'], from)).toEqual([
      '../photos/a.png',
      '../../photos/a.png',
      'photos/a.png',
    ]);
    expect(await leftOut(['**/photos/*'], from)).toEqual(from);
    expect(await leftOut(['../photos/*'], from)).toEqual(await leftOut(['photos/*'], from));
    expect(await leftOut(['./../../photos/'], from)).toEqual(await leftOut(['photos/*'], from));
    expect(await leftOut(['../a.png'], ['../a.png', '../x/a.png'])).toEqual(['../a.png']);
    expect(await leftOut(['photos'], from)).toEqual(from);
  });

  it('match names that are not UTF-8, and others by their characters', async () => {
    const from = [
      'caf\xe9.png',
      Buffer.from('é.png').toString('latin1'),
      Buffer.from('日本.png').toString('latin1'),
    ];
    expect(await leftOut(['caf*.png'], from)).toEqual(['caf\xe9.png']);
    expect(await leftOut(['é.png', '??.png'], from)).toEqual(from.slice(1));
    const emoji = [fromText('😀.png'), fromText('#😃.png')];
    expect(await leftOut(['?.png', '#[😀-😎].png'], emoji)).toEqual(emoji);
    expect(await leftOut(['??.png'], emoji)).toEqual(emoji.slice(1));
  });

  it.each([
    ['a{b*', 'a{b.png'],
    ['a}b*', 'a}b.png'],
    ['a]b*', 'a]b.png'],
    ['a[b*', 'a[b.png'],
    ['{a}b*', '{a}b.png'],
    ['[ab]+b*', 'a+b.png'],
    ['{a,b}+b*', 'b+b.png'],
    ['\\é-\\-b*', 'é--b.png'],
    ['[\\q]b*', 'qb.png'],
    ['[\\]^[]b*', '^b.png'],
    ['@(a|b)*', '@(a|b).png'],
    ['$$*', '$$.png'],
    ['{{a},c}b*', '{a}b.png'],
    ['{a\\,b}*', '{a,b}.png'],
    ['{c\\},d}b*', 'c}b.png'],
    ['{\\{a,c}b*', '{ab.png'],
    ['\\\\{a,c}b*', '\\ab.png'],
    ['aab.png\\', 'aab.png\\'],
  ])('%s match characters that close or repeat nothing as they are', async (pattern, name) => {
    expect(await leftOut([pattern], [fromText(name), 'aab.png'])).toEqual([fromText(name)]);
  });

  it.each([
    ['[[:digit:]_]*', ['1.png', '_.png']],
    ['[![:alpha:]]*', ['1.png', '_.png', '].png']],
    ['[[:upper:]é]*', ['É.png', 'é.png']],
    ['[]_]*', ['_.png', '].png']],
    ['[!]_[:alnum:]]*', []],
    ['{a..c}*', ['b.png']],
  ])('%s match classes as a shell does', async (pattern, names) => {
    const from = ['1.png', 'b.png', 'É.png', 'é.png', '_.png', '].png'];
    expect(await leftOut([pattern], from.map(fromText))).toEqual(names.map(fromText));
  });

  it('with many stars are soon done with a name that nearly matches in many ways', async () => {
    const from = ['-'.repeat(255)];
    expect(await leftOut(['*-*-*-*-*-*-*.psd', '*?*-?*?*.?*-?*?*.psd'], from)).toEqual([]);
    expect(await leftOut(['*-*-*-*-*-*-*-'], from)).toEqual(from);
    const classes = ['*[+--]*[+--]*[+--]*[+--]*[+--]*.psd', '*[-]*[-]*[-]*[-]*[-]*[-]*.psd'];
    expect(await leftOut(classes, from)).toEqual([]);
    expect(
      await leftOut([`${'*{-,--}'.repeat(8)}.psd`, `${'**/-/'.repeat(8)}.psd`], ['-/'.repeat(127)]),
    ).toEqual([]);
    expect(await leftOut(['*[+--]*[!a]*[-]*-*[!b]*'], from)).toEqual(from);
    expect(await leftOut(['{I*,D*,P*,V*,X*}.png', '*/*/*/*/*/*.png'], ['X.png', '1/2/3/4/5/6.png'])).toEqual([
      'X.png',
      '1/2/3/4/5/6.png',
    ]);
  });

  it.each(['', '/', './', '//', '[[:words:]]'])('%j is a usage error', pattern => {
    expect(() => compileFilters([pattern])).toThrow(expect.objectContaining({code: 'usage'}));
  });

  it.each([
    ['characters', '*'.repeat(70_000)],
    ['choices', '{a,b}'.repeat(800)],
    ['numbers', '{1..9999}'.repeat(2)],
    ['ranges', '{1..199999}'.repeat(300)],
  ])('of very many %s is a usage error', (_what, pattern) => {
    expect(() => compileFilters([pattern])).toThrow(expect.objectContaining({code: 'usage'}));
  });
});
