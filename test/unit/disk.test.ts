import {closeSync} from 'node:fs';
import {mkdtemp, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {systemClock} from '../../src/host.ts';
import {Disk} from '../../src/sources/disk.ts';
import {temporaryDirectory} from '../support/media.ts';

const ext4 = 0xef53;
const nfs = 0x6969;

async function oneFile(): Promise<{directory: string; path: string}> {
  const directory = await mkdtemp(join(await temporaryDirectory(), 'disk-'));
  const path = join(directory, 'a.png');
  await writeFile(path, 'content');
  return {directory, path};
}

async function readWhole(disk: Disk, path: string): Promise<string> {
  const fd = await disk.open(path);
  const into = Buffer.alloc(20);
  const length = await disk.read(fd, path, into, 0);
  expect(await disk.read(fd, path, into.subarray(length), length)).toBe(0);
  closeSync(fd);
  return into.toString('utf8', 0, length);
}

/** A clock on which every look at it finds so many milliseconds gone. */
function slowClock(ms: () => number) {
  let time = 0;
  return {...systemClock, monotonic: () => (time += ms())};
}

describe('a disk', () => {
  it('of this machine: is quick from its first file on', async () => {
    const {path} = await oneFile();
    const disk = new Disk(systemClock, () => ext4);
    expect(disk.isQuick(path)).toBe(false);
    expect(await readWhole(disk, path)).toBe('content');
    expect(disk.isQuick(path)).toBe(true);
    expect(await readWhole(disk, path)).toBe('content');
  });

  it('behind a network: never is', async () => {
    const {path} = await oneFile();
    const disk = new Disk(systemClock, () => nfs);
    for (let turn = 0; turn < 3; turn += 1) expect(await readWhole(disk, path)).toBe('content');
    expect(disk.isQuick(path)).toBe(false);
  });

  it('another directory: is asked about anew', async () => {
    const [local, remote] = [await oneFile(), await oneFile()];
    const disk = new Disk(systemClock, directory => (directory === local.directory ? ext4 : nfs));
    await readWhole(disk, local.path);
    await readWhole(disk, remote.path);
    expect(disk.isQuick(remote.path)).toBe(false);
  });

  it('that is slow: is not trusted for the next 8 files, then for 16, and so on', async () => {
    const {path} = await oneFile();
    let msACall = 3;
    const disk = new Disk(
      slowClock(() => msACall),
      () => ext4,
    );
    const opened = async () => {
      closeSync(await disk.open(path));
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
    const disk = new Disk(systemClock, () => ext4);
    const missing = join(directory, 'b.png');
    await expect((async () => disk.open(missing))()).rejects.toMatchObject({code: 'ENOENT', path: missing});
    await readWhole(disk, path);
    expect(disk.isQuick(path)).toBe(true);
    await expect((async () => disk.open(missing))()).rejects.toMatchObject({code: 'ENOENT', path: missing});
  });

  it('a name that is not UTF-8: opened and read as its bytes', async () => {
    const {directory} = await oneFile();
    const path = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xe9])]);
    await writeFile(path, 'bytes');
    const disk = new Disk(systemClock, () => ext4);
    const fd = await disk.open(path);
    const into = Buffer.alloc(5);
    expect(await disk.read(fd, path, into, 0)).toBe(5);
    expect(into.toString()).toBe('bytes');
    closeSync(fd);
  });
});
