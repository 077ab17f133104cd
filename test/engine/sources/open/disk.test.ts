import {mkdtemp, realpath, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {Disk} from '../../../../src/engine/sources/open/disk.ts';
import {systemClock} from '../../../../src/host.ts';
import {type FileSystem, systemFiles} from '../../../../src/lib/files/file-system.ts';
import {Stop} from '../../../../src/lib/stop.ts';
import {temporaryDirectory} from '../../../support/media.ts';

const ext4 = 0xef53;
const nfs = 0x6969;

/** The file system of this machine, which says of each path what type it is of (statfs). */
function filesOn(typeOf: (path: string) => Promise<number>): FileSystem {
  const statfs = async (path: unknown) => ({type: await typeOf(String(path))});
  return {...systemFiles, statfs} as FileSystem;
}

async function oneFile(): Promise<{directory: string; path: string}> {
  const directory = await mkdtemp(join(await realpath(await temporaryDirectory()), 'disk-'));
  const path = join(directory, 'a.png');
  await writeFile(path, 'content');
  return {directory, path};
}

async function readWhole(disk: Disk, path: string): Promise<string> {
  const file = await disk.open(path, new Stop());
  const into = Buffer.alloc(20);
  const length = await file.read(into, 0);
  expect(await file.read(into.subarray(length), length)).toBe(0);
  await file.close();
  return into.toString('utf8', 0, length);
}

/** A clock on which every look at it finds so many milliseconds gone. */
function slowClock(ms: () => number) {
  let time = 0;
  return {...systemClock, monotonic: () => (time += ms())};
}

/** A disk whose calls take no time, however busy the machine is. */
function quickDisk(typeOf: (path: string) => Promise<number>): Disk {
  return new Disk(
    filesOn(typeOf),
    slowClock(() => 0),
  );
}

/** A disk of this machine, from which a file has been read, with its calls. */
async function diskInUse() {
  const {path} = await oneFile();
  const files = filesOn(async () => ext4);
  const disk = new Disk(
    files,
    slowClock(() => 0),
  );
  await readWhole(disk, path);
  return {path, files, disk};
}

describe('a disk', () => {
  it('of this machine: is quick from its first file on', async () => {
    const {path} = await oneFile();
    const disk = quickDisk(async () => ext4);
    expect(disk.isQuick(path)).toBe(false);
    expect(await readWhole(disk, path)).toBe('content');
    expect(disk.isQuick(path)).toBe(true);
    expect(await readWhole(disk, path)).toBe('content');
  });

  it('that fails to tell about an open file: leaves no descriptor open', async () => {
    const {path, files, disk} = await diskInUse();
    const closed: number[] = [];
    let opened: number | undefined;
    Object.assign(files, {
      fstatSync: (fd: number) => {
        opened = fd;
        throw Object.assign(new Error('i/o error'), {code: 'EIO'});
      },
      closeSync: (fd: number) => {
        closed.push(fd);
        systemFiles.closeSync(fd);
      },
    });
    expect(() => disk.open(path, new Stop())).toThrow('i/o error');
    expect(closed).toEqual([opened]);
  });

  it('that fails to close a file: the file was read', async () => {
    const {path, files, disk} = await diskInUse();
    Object.assign(files, {
      closeSync: (fd: number) => {
        systemFiles.closeSync(fd);
        throw Object.assign(new Error('i/o error'), {code: 'EIO'});
      },
    });
    expect(await readWhole(disk, path)).toBe('content');
  });

  it('behind a network: never is', async () => {
    const {path} = await oneFile();
    const disk = quickDisk(async () => nfs);
    for (let turn = 0; turn < 3; turn += 1) expect(await readWhole(disk, path)).toBe('content');
    expect(disk.isQuick(path)).toBe(false);
  });

  it('another directory on it: is looked at anew', async () => {
    const [one, other] = [await oneFile(), await oneFile()];
    const disk = quickDisk(async () => ext4);
    await readWhole(disk, one.path);
    expect(disk.isQuick(other.path)).toBe(false);
    expect(disk.isQuick(join(one.directory, 'below', 'a.png'))).toBe(false);
    await readWhole(disk, other.path);
    expect(disk.isQuick(other.path)).toBe(true);
  });

  it('a link to a file on another one: is followed on another thread, and is never at hand', async () => {
    const {directory, path} = await oneFile();
    const link = join(directory, 'link.png');
    // No disk, and another device than that of the test's directory.
    await symlink('/proc/self/status', link);
    const disk = quickDisk(async asked => (asked === link ? nfs : ext4));
    await readWhole(disk, path);
    expect(disk.isQuick(link)).toBe(true);
    const opening = disk.open(link, new Stop());
    expect(opening).toBeInstanceOf(Promise);
    const file = await opening;
    expect(file.inline).toBeUndefined();
    for (const call of [() => file.stat(), () => file.statPath(), () => file.read(Buffer.alloc(5), 0)]) {
      const asked = call();
      expect(asked).toBeInstanceOf(Promise);
      await asked;
    }
    const closing = file.close();
    expect(closing).toBeInstanceOf(Promise);
    await closing;
  });

  it('a link to a file beside it: the file is at hand, its path is not', async () => {
    const {directory, path} = await oneFile();
    const link = join(directory, 'link.png');
    await symlink(path, link);
    const disk = quickDisk(async () => ext4);
    await readWhole(disk, path);
    const file = await disk.open(link, new Stop());
    expect(file.inline).toBeUndefined();
    expect(file.statPath()).toBeInstanceOf(Promise);
    expect(file.read(Buffer.alloc(20), 0)).toBe(7);
    expect((await file.statPath())?.ino).toBe((await file.stat()).ino);
    await file.close();
  });

  it('a path over a link to a directory: is never at hand, as what is on the way may be anywhere', async () => {
    const {directory} = await oneFile();
    const link = `${directory}-link`;
    await symlink(directory, link);
    for (const paths of [[], [join(directory, 'a.png')]]) {
      const disk = quickDisk(async () => ext4);
      for (const path of [...paths, join(link, 'a.png'), join(link, 'a.png')])
        expect(await readWhole(disk, path)).toBe('content');
      expect(disk.isQuick(join(link, 'a.png'))).toBe(false);
    }
  });

  it('a path with dots that leads over no link: is at hand all the same', async () => {
    const {directory} = await oneFile();
    const disk = quickDisk(async () => ext4);
    await readWhole(disk, `${directory}/./a.png`);
    expect(disk.isQuick(`${directory}/./a.png`)).toBe(true);
  });

  it('of this machine: tells the size of each file but the first at once, and of a link that of its target', async () => {
    const {directory, path} = await oneFile();
    const link = join(directory, 'link.png');
    await symlink(path, link);
    const disk = quickDisk(async () => ext4);
    const first = disk.size(path);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toBe(7);
    expect(disk.size(path)).toBe(7);
    const target = disk.size(link);
    expect(target).toBeInstanceOf(Promise);
    expect(await target).toBe(7);
    expect(await disk.size(join(directory, 'missing.png'))).toBe(0);
  });

  it.each([
    ['behind a network', async (directory: string) => directory, nfs],
    [
      'behind a link',
      async (directory: string) => {
        await symlink(directory, `${directory}-link`);
        return `${directory}-link`;
      },
      ext4,
    ],
  ])('%s: tells sizes from another thread; of what is missing, none', async (_, placeOf, type) => {
    const directory = await placeOf((await oneFile()).directory);
    const disk = quickDisk(async () => type);
    for (let turn = 0; turn < 2; turn += 1) {
      const size = disk.size(join(directory, 'a.png'));
      expect(size).toBeInstanceOf(Promise);
      expect(await size).toBe(7);
    }
    expect(await disk.size(join(directory, 'missing.png'))).toBe(0);
  });

  it('that is slow: is not trusted for the next 8 files, then for 16, and so on', async () => {
    const {path} = await oneFile();
    let msACall = 3;
    const disk = new Disk(
      filesOn(async () => ext4),
      slowClock(() => msACall),
    );
    const opened = async () => {
      await (await disk.open(path, new Stop())).close();
      return disk.isQuick(path);
    };
    expect(await opened()).toBe(true);
    for (const times of [8, 16, 32, 64, 128, 256, 512, 512]) {
      const trusted: boolean[] = [];
      for (let turn = 0; turn <= times; turn += 1) trusted.push(await opened());
      expect(trusted.indexOf(true), `of ${times}`).toBe(times);
    }
    msACall = 1;
    for (let turn = 0; turn < 512; turn += 1) expect(await opened()).toBe(true);
    msACall = 3;
    const trusted: boolean[] = [];
    for (let turn = 0; turn <= 8; turn += 1) trusted.push(await opened());
    expect(trusted.indexOf(true)).toBe(8);
  });

  it('what is not there: the same error either way', async () => {
    const {directory, path} = await oneFile();
    const disk = quickDisk(async () => ext4);
    const missing = join(directory, 'b.png');
    await expect((async () => disk.open(missing, new Stop()))()).rejects.toMatchObject({
      code: 'ENOENT',
      path: missing,
    });
    await readWhole(disk, path);
    expect(disk.isQuick(path)).toBe(true);
    await expect((async () => disk.open(missing, new Stop()))()).rejects.toMatchObject({
      code: 'ENOENT',
      path: missing,
    });
  });

  it('a name that is not UTF-8: opened and read as its bytes', async () => {
    const {directory} = await oneFile();
    const path = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xe9])]);
    await writeFile(path, 'bytes');
    const disk = quickDisk(async () => ext4);
    const file = await disk.open(path, new Stop());
    const into = Buffer.alloc(5);
    expect(await file.read(into, 0)).toBe(5);
    expect(into.toString()).toBe('bytes');
    await file.close();
  });
});
