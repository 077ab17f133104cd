import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {type BigIntStats, closeSync, constants, openSync} from 'node:fs';
import {copyFile, mkdir, realpath, rename, rm, symlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Disk} from '../../../../src/engine/sources/open/disk.ts';
import {checkedSourceAt, filesIn, sourceAt} from '../../../../src/engine/sources/open/file-source.ts';
import {MediaError} from '../../../../src/errors.ts';
import {type FileSystem, systemFiles} from '../../../../src/lib/files/file-system.ts';
import {Stop} from '../../../../src/lib/stop.ts';
import {eventually} from '../../../support/eventually.ts';
import {temporaryDirectory} from '../../../support/media.ts';

const signal = new Stop<Error>();

/** The file system of this machine with other calls, which knows how many descriptors are open. */
function counting(calls: Partial<FileSystem> = {}): {files: FileSystem; open: Set<number>} {
  const open = new Set<number>();
  const {openSync: openHere, closeSync: closeHere, asyncFs} = {...systemFiles, ...calls};
  const opened = (fd: number) => {
    open.add(fd);
    return fd;
  };
  const files = {
    ...systemFiles,
    ...calls,
    openSync: (path: string, flags: number) => opened(openHere(path, flags)),
    closeSync: (fd: number) => {
      open.delete(fd);
      closeHere(fd);
    },
    asyncFs: {
      ...asyncFs,
      open: async (path: string, flags: number) => opened(await asyncFs.open(path, flags)),
      close: (fd: number) => {
        open.delete(fd);
        return asyncFs.close(fd);
      },
    },
  } as FileSystem;
  return {files, open};
}

async function directoryWith(contents: Record<string, string | Buffer>): Promise<string> {
  const directory = await realpath(await temporaryDirectory());
  for (const [name, content] of Object.entries(contents)) await writeFile(join(directory, name), content);
  return directory;
}

it.each([
  ['gone.png', undefined],
  ['file:///gone.png', 'Use the path of the file instead of its URL: /gone.png'],
])('%s, which does not exist: %s', async (name, hint) => {
  const opening = filesIn(await directoryWith({}), new Disk(systemFiles))(name).open(signal);
  await expect(opening).rejects.toMatchObject({code: 'file_missing', hint});
});

describe('descriptors', () => {
  it('of files that are empty: closed', async () => {
    const directory = await directoryWith({'empty.png': '', 'a.png': 'content'});
    const {files, open} = counting();
    const fileNamed = filesIn(directory, new Disk(files));
    for (const name of ['empty.png', 'a.png', 'empty.png']) {
      const opened = await fileNamed(name)
        .open(signal)
        .catch(({code}) => code);
      if (name === 'a.png') await opened.close();
      else expect(opened).toBe('empty_file');
    }
    expect([...open]).toEqual([]);
  });

  it('of a file whose disk hangs: a run that is stopped does not wait until it is closed', async () => {
    const directory = await directoryWith({'a.png': 'content'});
    const {asyncFs} = systemFiles;
    const closing: number[] = [];
    const close = (fd: number) => {
      closing.push(fd);
      return new Promise<void>(() => {});
    };
    const statfs = () => Promise.reject(new Error('not known'));
    const {files} = counting({asyncFs: {...asyncFs, close}, statfs} as Partial<FileSystem>);
    const fileNamed = filesIn(directory, new Disk(files));
    const stop = new Stop<Error>();
    const [before, after] = [await fileNamed('a.png').open(stop), await fileNamed('a.png').open(stop)];
    const waiting = before.close();
    stop.abort(new Error('stopped'));
    await Promise.all([waiting, after.close()]);
    expect(closing).toHaveLength(2);
    for (const fd of closing) closeSync(fd);
  });

  it('of a file about which its disk tells nothing: closed', async () => {
    const directory = await directoryWith({'a.png': 'content'});
    const {asyncFs} = systemFiles;
    const fstat = () => Promise.reject(Object.assign(new Error('i/o error'), {code: 'EIO'}));
    const {files, open} = counting({asyncFs: {...asyncFs, fstat}});
    const opening = filesIn(directory, new Disk(files))('a.png').open(signal);
    await expect(opening).rejects.toMatchObject({code: 'file_unreadable'});
    expect([...open]).toEqual([]);
  });

  it('of a file that opens after the run was stopped: closed', async () => {
    const directory = await directoryWith({'a.png': 'content'});
    let goOn = () => {};
    const waiting = new Promise<void>(resolve => {
      goOn = resolve;
    });
    let isOpening = false;
    let isOpen = false;
    const {asyncFs} = systemFiles;
    const slowOpen = async (path: string, flags: number) => {
      isOpening = true;
      await waiting;
      isOpen = true;
      return asyncFs.open(path, flags);
    };
    const {files, open} = counting({
      asyncFs: {...asyncFs, open: slowOpen as typeof asyncFs.open},
    });
    const stop = new Stop<Error>();
    const opening = filesIn(directory, new Disk(files))('a.png').open(stop);
    await eventually(() => isOpening);
    stop.abort(new Error('stopped'));
    await expect(opening).rejects.toThrow('stopped');
    goOn();
    await eventually(() => isOpen);
    await eventually(() => open.size === 0);
  });
});

/** The disk of this machine; each read is told its length in bytes, and is of the length that comes back. */
function filesReading(lengthOf: (length: number) => number): FileSystem {
  const {asyncFs, readSync} = systemFiles;
  return {
    ...systemFiles,
    readSync: (fd: number, into: Uint8Array, at: number, length: number, position: number) =>
      readSync(fd, into, at, lengthOf(length), position),
    asyncFs: {
      ...asyncFs,
      read: (fd: number, into: Uint8Array, at: number, length: number, position: number) =>
        asyncFs.read(fd, into, at, lengthOf(length), position),
    },
  } as FileSystem;
}

describe('a disk that reads a few bytes at a time', () => {
  it.each([100, 200_000, 300_000])('a file of %i bytes is read whole', async size => {
    const content = Buffer.from(Array.from({length: size}, (_, index) => index % 251));
    const directory = await directoryWith({'a.png': content});
    const most = 4_099;
    const few = (length: number) => Math.min(length, size < most ? 7 : most);
    const opened = await filesIn(directory, new Disk(filesReading(few)))('a.png').open(signal);
    expect(Buffer.from(await opened.read(0, size)).equals(content)).toBe(true);
    const into = Buffer.alloc(size);
    expect(Buffer.from(await opened.read(0, size, into)).equals(content)).toBe(true);
    expect(await opened.verify()).toBe('unchanged');
    await opened.close();
  });
});

describe('a file that is read several times', () => {
  it.each([
    [200_000, 200_000],
    [300_000, 600_000],
  ])('of %i bytes: %i bytes of the disk', async (size, expected) => {
    let bytesRead = 0;
    const files = filesReading(length => {
      bytesRead += length;
      return length;
    });
    const directory = await directoryWith({'a.png': Buffer.alloc(size, 'a')});
    const opened = await filesIn(directory, new Disk(files))('a.png').open(signal);
    for (let count = 0; count < 2; count += 1) expect(await opened.read(0, size)).toHaveLength(size);
    expect(bytesRead).toBe(expected);
    await opened.close();
  });
});

describe('a file that is touched each time anybody looks', () => {
  /** The file system of this machine, on which each look touches a file, up to so many times. */
  function touching(most: () => number): FileSystem {
    let looks = 0;
    const touched = <Stats>(stats: Stats): Stats => {
      if (looks < most()) looks += 1;
      if (looks > 1_000) throw new Error('looked 1,000 times');
      const ctimeNs = (stats as BigIntStats).ctimeNs;
      if (ctimeNs !== undefined) Object.assign(stats as BigIntStats, {ctimeNs: ctimeNs + BigInt(looks)});
      return stats;
    };
    const {asyncFs, fstatSync, lstatSync, stat} = systemFiles;
    return {
      ...systemFiles,
      fstatSync: (...facts: [number]) => touched(fstatSync(...facts)),
      lstatSync: (...facts: [string]) => touched(lstatSync(...facts)),
      stat: async (...facts: [string]) => touched(await stat(...facts)),
      asyncFs: {
        ...asyncFs,
        fstat: async (...facts: [number, {bigint: true}]) => touched(await asyncFs.fstat(...facts)),
      },
    } as FileSystem;
  }

  it.each([
    [1, 'unchanged'],
    [3, 'unchanged'],
    [4, 'source_changed'],
  ])('%i times: %s', async (times, expected) => {
    for (const [size, isInline] of [
      [100, true],
      [100, false],
      [200_000, false],
      [300_000, false],
    ] as const) {
      const directory = await directoryWith({'first.png': 'content', 'a.png': Buffer.alloc(size, 'a')});
      let most = 0;
      const fileNamed = filesIn(directory, new Disk(touching(() => most)));
      await (await fileNamed('first.png').open(signal)).close();
      const opened = await fileNamed('a.png').open(signal);
      const sha256 = createHash('sha256')
        .update(await opened.read(0, size))
        .digest('hex');
      const small = await opened.small?.();
      expect(small !== undefined).toBe(size === 100);
      most = times;
      const verify = async () => (isInline ? (small?.verify() ?? 'unchanged') : opened.verify({sha256}));
      expect(await verify().catch(({code}) => code)).toBe(expected);
      await opened.close();
    }
  });

  it.each([100, 200_000, 300_000])('of %i bytes: given up after a few comparisons', async size => {
    const directory = await directoryWith({'first.png': 'content', 'a.png': Buffer.alloc(size, 'a')});
    const fileNamed = filesIn(directory, new Disk(touching(() => Number.POSITIVE_INFINITY)));
    await (await fileNamed('first.png').open(signal)).close();
    const opened = await fileNamed('a.png').open(signal);
    const bytes = await opened.read(0, size);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await expect(opened.verify({sha256})).rejects.toMatchObject({code: 'source_changed'});
    const small = await opened.small?.();
    if (size === 100) expect(() => small?.verify()).toThrow('changed while it was being uploaded');
    await opened.close();
  });
});

describe('a large file that is touched after parts of it were read', () => {
  const content = Buffer.from(Array.from({length: 700_000}, (_, index) => index % 251));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const time = new Date('2001-02-03T04:05:06Z');

  it.each([
    ['nothing has changed', undefined, 'unchanged'],
    ['a byte has changed that is in no sample', 100_000, 'source_changed'],
    ['a byte has changed that is in a sample', 10, 'source_changed'],
  ])('%s: only its hash can tell, which is compared', async (_what, position, expected) => {
    const directory = await directoryWith({'a.png': content});
    const path = join(directory, 'a.png');
    await utimes(path, time, time);
    const opened = await filesIn(directory, new Disk(systemFiles))('a.png').open(signal);
    for (const start of [0, 400_000, 500_000])
      expect(await opened.read(start, 50_000, Buffer.alloc(50_000))).toHaveLength(50_000);
    expect(await opened.read(600_000, 1_000, Buffer.alloc(10))).toHaveLength(1_000);
    const changed = Buffer.from(content);
    if (position !== undefined) changed[position] = 255;
    await writeFile(path, changed, {flag: 'r+'});
    await utimes(path, time, time);
    if (position !== 10) expect(await opened.verify()).toBe('only its hash can tell');
    expect(await opened.verify({sha256}).catch(({code}) => code)).toBe(expected);
    await opened.close();
  });
});

it.each([
  [64 * 1024, true],
  [64 * 1024 + 1, false],
])('a file of %i bytes, read at once: %s', async (size, isSmall) => {
  const directory = await directoryWith({'first.png': 'content', 'a.png': Buffer.alloc(size)});
  const fileNamed = filesIn(directory, new Disk(systemFiles));
  await (await fileNamed('first.png').open(signal)).close();
  const opened = await fileNamed('a.png').open(signal);
  expect((await opened.small?.()) !== undefined).toBe(isSmall);
  await opened.close();
});

it('a file whose disk does not even say what it is: a run that is stopped does not wait for that', async () => {
  const stop = new Stop<Error>();
  const files = {...systemFiles, stat: () => new Promise(() => {})} as unknown as FileSystem;
  const opening = filesIn('/', new Disk(files))('a.png').open(stop);
  stop.abort(new MediaError('interrupted', 'The run was stopped.'));
  await expect(opening).rejects.toMatchObject({code: 'interrupted'});
});

describe.each([
  ['device', 'dev'],
  ['inode number', 'ino'],
] as const)('a file of another %s in the place of one', (_what, member) => {
  it.each([100, 200_000, 300_000])('of %i bytes, with everything else as it was: replaced', async size => {
    const directory = await directoryWith({'first.png': 'content', 'a.png': Buffer.alloc(size, 'a')});
    let isReplaced = false;
    const elsewhere = <Stats>(stats: Stats): Stats => {
      if (isReplaced) (stats as BigIntStats)[member] += 1n;
      return stats;
    };
    const {lstatSync, stat} = systemFiles;
    const files = {
      ...systemFiles,
      lstatSync: (...facts: [string]) => elsewhere(lstatSync(...facts)),
      stat: async (...facts: [string]) => elsewhere(await stat(...facts)),
    } as FileSystem;
    const fileNamed = filesIn(directory, new Disk(files));
    await (await fileNamed('first.png').open(signal)).close();
    const opened = await fileNamed('a.png').open(signal);
    const small = await opened.small?.();
    isReplaced = true;
    const message = expect.stringContaining('replaced by another file');
    await expect(opened.verify()).rejects.toMatchObject({code: 'source_changed', message});
    if (size === 100) expect(() => small?.verify()).toThrow('replaced by another file');
    await opened.close();
  });
});

describe.each<[string, Partial<FileSystem>]>([
  ['that tells where an open file is', {}],
  ['that does not', {readlink: (async () => Promise.reject(new Error('not known'))) as never}],
])('a file that was checked, on a system %s', (_name, calls) => {
  const refused = {code: 'source_changed', message: 'a.png is no longer the file that was checked.'};
  const machine = async () => {
    const directory = await directoryWith({'secret.png': 'secret'});
    for (const name of ['in', 'out']) await mkdir(join(directory, name));
    for (const name of ['in', 'out']) await writeFile(join(directory, name, 'a.png'), name);
    const {files, open} = counting(calls);
    const source = checkedSourceAt(new Disk(files), 'a.png', join(directory, 'in/a.png'));
    const read = async () => {
      const opened = await source.open(signal);
      return opened.read(0, 9).finally(() => opened.close());
    };
    return {at: (name: string) => join(directory, name), read, open};
  };

  it('is opened again, also after it was written to', async () => {
    const {at, read} = await machine();
    expect(String(await read())).toBe('in');
    await writeFile(at('in/a.png'), 'new');
    expect(String(await read())).toBe('new');
  });

  it.each([true, false])(
    'replaced by links, and by another file (opened before: %s): refused, and closed',
    async before => {
      const {at, read, open} = await machine();
      if (before) await read();
      await rename(at('in'), at('old'));
      await symlink('out', at('in'));
      await expect(read()).rejects.toMatchObject(refused);
      await rm(at('in'));
      await rename(at('old'), at('in'));
      await rename(at('in/a.png'), at('in/b.png'));
      await symlink('../secret.png', at('in/a.png'));
      await expect(read()).rejects.toMatchObject(refused);
      expect(open.size).toBe(0);
      await rename(at('in/b.png'), at('in/a.png'));
      expect(String(await read())).toBe('in');
      await copyFile(at('secret.png'), at('in/c.png'));
      await rename(at('in/c.png'), at('in/a.png'));
      await expect(read()).rejects.toMatchObject(refused);
    },
  );
});

describe('a FIFO in the place of a file', () => {
  it.each(['fifo.png', 'link.png'])(
    '%s: refused at once, whether anybody writes to it or not',
    async name => {
      const directory = await directoryWith({'a.png': 'content'});
      const fifo = join(directory, 'fifo.png');
      execFileSync('mkfifo', [fifo]);
      await symlink(fifo, join(directory, 'link.png'));
      // Ends a call that waits for a writer.
      onTestFinished(() => closeSync(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)));
      const disk = new Disk({
        ...systemFiles,
        openSync: ((path: string, flags: number) => {
          if ((flags & constants.O_NONBLOCK) === 0) throw new Error('this thread would wait');
          return openSync(path, flags);
        }) as typeof openSync,
      });
      const open = () => sourceAt(disk, name, join(directory, name), true).open(signal);
      await expect(open()).rejects.toMatchObject({code: 'not_a_file'});
      await (await sourceAt(disk, 'a.png', join(directory, 'a.png'), true).open(signal)).close();
      await expect(open()).rejects.toMatchObject({code: 'not_a_file'});
    },
  );
});
