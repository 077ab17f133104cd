import {execFileSync} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {Lists, readNames} from '../../../../src/engine/sources/find/name-lists.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {asOrdinaryUser, collect, makeTree, stdinOf} from '../../../support/trees.ts';

function names(content: string | Uint8Array): Promise<string[]> {
  return collect(readNames(stdinOf(content), 'list.txt'));
}

describe('a list of lines', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['\n\n\r\n', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\nb\n', ['a', 'b']],
    ['a\r\nb\r\nc', ['a', 'b', 'c']],
    ['a\n\n\nb\n', ['a', 'b']],
    [' a \n\tb', [' a ', '\tb']],
    ['# no comment\n-\n--\n*.png\n"q"', ['# no comment', '-', '--', '*.png', '"q"']],
    ['a\rb\n', ['a\rb']],
    ['\ufeffa\n\ufeffb', ['a', '\xef\xbb\xbfb']],
    ['\ufeffa', ['a']],
    ['\ufeff', []],
    ['é', ['\xc3\xa9']],
  ])('%j', async (content, expected) => {
    expect(await names(content)).toEqual(expected);
  });

  it('with names that are not UTF-8', async () => {
    expect(await names(Buffer.from('caf\xe9\n\xff\n', 'latin1'))).toEqual(['caf\xe9', '\xff']);
  });

  it.each([1, 2, 3, 5, 7, 64])('that comes %d bytes at a time', async size => {
    const content = Buffer.from('\ufeffone\r\ntwo\r\n\r\ndreißig\nfour');
    const chunks = Array.from({length: Math.ceil(content.length / size)}, (_, index) =>
      content.subarray(index * size, (index + 1) * size),
    );
    expect(await collect(readNames(Readable.from(chunks), 'list'))).toEqual([
      'one',
      'two',
      Buffer.from('dreißig').toString('latin1'),
      'four',
    ]);
  });

  it.each<[string, Buffer, RegExp]>([
    ['UTF-16', Buffer.from('\ufeffa.png\r\n', 'utf16le'), /UTF-16/],
    ['big-endian UTF-16', Buffer.from('\ufeffa.png\r\n', 'utf16le').swap16(), /UTF-16/],
    ['UTF-16 that has no line feed', Buffer.from('\ufeffa.png', 'utf16le'), /UTF-16/],
    ['UTF-16 without a mark', Buffer.from('a.gif\r\nb.gif', 'utf16le'), /UTF-16/],
    ['one name in UTF-16 without a mark', Buffer.from('a.gif', 'utf16le'), /UTF-16/],
    ['big-endian UTF-16 without a mark', Buffer.from('a.gif\r\n', 'utf16le').swap16(), /UTF-16/],
    ['UTF-16 without a mark that has other letters', Buffer.from('写真.gif\r\n', 'utf16le'), /UTF-16/],
    ['one endless line', Buffer.alloc(200_000, 'a'), /far too long/],
    ['an endless line among others', Buffer.from(`${'a'.repeat(100_000)}\nb`), /far too long/],
  ])('with %s is a usage error that names it', async (_, content, message) => {
    await expect(names(content)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
    await expect(names(content)).rejects.toThrow('list.txt');
  });

  it('that is a line without end is not read on to find that out', async () => {
    let chunks = 0;
    async function* endless() {
      for (; chunks < 100; chunks += 1) yield Buffer.alloc(50_000, 'a');
    }
    await expect(collect(readNames(endless(), 'list.txt'))).rejects.toThrow('far too long');
    expect(chunks).toBeLessThan(3);
  });

  it('in which a zero byte comes after lines is a usage error', async () => {
    const list = Readable.from([Buffer.from('a.png\n'), Buffer.from('b.png\0c.png\0')]);
    await expect(collect(readNames(list, 'list.txt'))).rejects.toThrow('others in line feeds');
  });
});

describe('a list of zero-terminated names', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['a\0', ['a']],
    ['a\0b', ['a', 'b']],
    ['\0\0a\0\0', ['a']],
    ['a\nb\0c\r\0', ['a\nb', 'c\r']],
    ['a\0b\0c\0', ['a', 'b', 'c']],
    ['.\0', ['.']],
    ['\ufeffa\0', ['\xef\xbb\xbfa']],
  ])('%j', async (content, expected) => {
    expect(await names(content)).toEqual(expected);
  });
});

describe('the lists of a run', () => {
  function listsIn(cwd: string, stdin: Readable = stdinOf(''), signal?: AbortSignal): Lists {
    return new Lists({
      cwd,
      files: systemFiles,
      stdin: () => stdin,
      ...(signal === undefined ? {} : {signal}),
    });
  }

  it('are files, named relative to the working directory', async () => {
    const root = await makeTree('sub/list');
    const lists = listsIn(root);
    expect(await collect(await lists.open('sub/list'))).toEqual(['sub/list']);
    expect(await collect(await lists.open(join(root, 'sub/list')))).toEqual(['sub/list']);
    lists.close();
  });

  it('or standard input', async () => {
    const lists = listsIn('/', stdinOf('a\nb\n'));
    expect(await collect(await lists.open('-'))).toEqual(['a', 'b']);
    lists.close();
  });

  it('are usage errors where there is none to be read', async () => {
    const root = await makeTree('file');
    await mkdir(join(root, 'closed'), {mode: 0});
    const lists = listsIn(root);
    for (const [name, message] of [
      ['missing', 'The list missing could not be read: it does not exist.'],
      ['file/missing', 'The list file/missing could not be read: it does not exist.'],
      ['.', 'The list . is a directory, not a file of names.'],
    ] as const) {
      await expect(lists.open(name)).rejects.toMatchObject({code: 'usage', message});
    }
    await asOrdinaryUser(() =>
      expect(lists.open('closed/list')).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringMatching(/could not be read: permission denied|does not exist/),
      }),
    );
    lists.close();
  });

  it('that end in an error say so', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('a\nb');
        throw Object.assign(new Error('broken'), {code: 'EIO'});
      })(),
    );
    const names = await listsIn('/', broken).open('-');
    expect((await names.next()).value).toBe('a');
    await expect(names.next()).rejects.toMatchObject({
      code: 'local_failure',
      message: 'Standard input could not be read to its end: EIO.',
    });
  });

  it('are waited for no more once the run ends', async () => {
    const controller = new AbortController();
    const silent = new Readable({read() {}});
    const names = await listsIn('/', silent, controller.signal).open('-');
    const next = names.next();
    const reason = new Error('the run has ended');
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    const late = await listsIn('/', new Readable({read() {}}), controller.signal).open('-');
    await expect(late.next()).rejects.toBe(reason);
  });

  it.skipIf(process.platform === 'win32')(
    'may be FIFOs, whose writers are not waited for either',
    async () => {
      const root = await makeTree();
      execFileSync('mkfifo', [join(root, 'fifo')]);
      const controller = new AbortController();
      const names = await listsIn(root, undefined, controller.signal).open('fifo');
      const first = names.next();
      await writeFile(join(root, 'fifo'), 'a\nb\n');
      expect([(await first).value, ...(await collect(names))]).toEqual(['a', 'b']);
      const silent = (await listsIn(root, undefined, controller.signal).open('fifo')).next();
      controller.abort(new Error('the run has ended'));
      await expect(silent).rejects.toThrow('the run has ended');
    },
  );

  it('that nobody has begun to read when the run ends: no uncaught error', async () => {
    const controller = new AbortController();
    const silent = new Readable({read() {}});
    await listsIn('/', silent, controller.signal).open('-');
    controller.abort(new Error('the run has ended'));
    // Of a stream without a listener, that error would end the process.
    await new Promise(resolve => silent.on('close', resolve));
    expect(silent.errored).toBeInstanceOf(Error);
  });
});
