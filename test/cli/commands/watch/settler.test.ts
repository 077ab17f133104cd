import {rename, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Feed} from '../../../../src/cli/commands/watch/feed.ts';
import {
  hasCompanion,
  isPassedOver,
  type WatchedState,
  watchedState,
} from '../../../../src/cli/commands/watch/settler.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {eventually} from '../../../support/eventually.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {temporaryDirectory} from '../../../support/media.ts';

/** A disk whose files have a size and a version, and the files that have settled on it, each with the time. */
function disk() {
  const clock = new ManualClock();
  const files = new Map<string, {size: number; version: number}>();
  const unfinished = new Set<string>();
  const settled: [string, number][] = [];
  const look = async (path: string): Promise<WatchedState | undefined> => {
    const found = files.get(path);
    return found && {key: `${found.size} ${found.version}`, size: found.size};
  };
  const feed = new Feed(
    {clock, settleMs: 2_000, look, isUnfinished: async path => unfinished.has(path)},
    {
      async take(path) {
        settled.push([path, clock.now()]);
        return 'stays';
      },
      reportFailure: async () => {},
      reportDelay() {},
    },
  );
  let version = 0;
  const write = (path: string, size: number) => {
    version += 1;
    files.set(path, {size, version});
    feed.touch(path);
  };
  return {clock, files, unfinished, settled, feed, write};
}

test('a writer that takes 20 s: taken once, 2 s after its last byte', async () => {
  const {clock, settled, write} = disk();
  for (let second = 0; second < 20; second += 1) {
    write('a.png', second + 1);
    await clock.advance(1_000);
  }
  expect(settled).toEqual([]);
  await clock.advance(10_000);
  expect(settled).toEqual([['a.png', expect.any(Number)]]);
  expect(settled[0]?.[1]).toBeGreaterThanOrEqual(21_000);
});

test('a file that is renamed a thousand times: taken once, under its last name', async () => {
  const {clock, files, settled, write} = disk();
  for (let at = 0; at < 1_000; at += 1) {
    write(`${at}.png`, 5);
    if (at < 999) files.delete(`${at}.png`);
    await clock.advance(1);
  }
  await clock.advance(10_000);
  expect(settled.map(([path]) => path)).toEqual(['999.png']);
});

test('an empty file, one with a companion, one that is closed upon: not taken', async () => {
  const {clock, unfinished, settled, feed, write} = disk();
  write('empty.png', 0);
  write('half.mp4', 9);
  unfinished.add('half.mp4');
  await clock.advance(60_000);
  expect(settled).toEqual([]);
  unfinished.clear();
  await clock.advance(2_000);
  expect(settled.map(([path]) => path)).toEqual(['half.mp4']);
  write('empty.png', 3);
  feed.close();
  await clock.advance(60_000);
  expect(settled).toHaveLength(1);
});

test('a file that is rewritten in its size, with its time or not, or replaced by such a one: another state', async () => {
  const directory = await temporaryDirectory();
  const [path, other] = [join(directory, 'a.png'), join(directory, 'b.png')];
  const [first, second] = [new Date('2001-02-03T04:05:06Z'), new Date('2001-02-03T04:05:07Z')];
  const states = new Set<string | undefined>();
  for (const time of [first, second]) {
    await writeFile(path, 'written');
    await utimes(path, time, time);
    states.add((await watchedState(path, systemFiles))?.key);
  }
  const before = (await watchedState(path, systemFiles))?.key;
  // Until the clock of the file system has gone on.
  await eventually(async () => {
    await writeFile(path, 'WRITTEN');
    await utimes(path, second, second);
    return (await watchedState(path, systemFiles))?.key !== before;
  });
  states.add((await watchedState(path, systemFiles))?.key);
  await writeFile(other, 'replace');
  await utimes(other, second, second);
  await rename(other, path);
  expect(states.add((await watchedState(path, systemFiles))?.key).size).toBe(4);
});

test('a file beside which there is one of aria2: not finished, even after weeks', async () => {
  const path = join(await temporaryDirectory(), 'clip.mp4');
  expect(await hasCompanion(path, systemFiles)).toBe(false);
  await writeFile(`${path}.aria2`, '');
  const time = new Date('2001-02-03T04:05:06Z');
  await utimes(`${path}.aria2`, time, time);
  expect(await hasCompanion(path, systemFiles)).toBe(true);
});

test.each([
  ['photo.jpg.part', true],
  ['photo.jpg.crdownload', true],
  ['Unconfirmed 1234.crdownload', true],
  ['clip.mp4.download', true],
  ['clip.mp4.aria2', true],
  ['clip.mp4.!qB', true],
  ['x.TMP', true],
  ['x.png~', true],
  ['~$x.png', true],
  ['.photo.jpg.Xy12ab', true],
  ['part.png', false],
  ['photo.jpg', false],
  ['apart', false],
])('%s: passed over %s', (name, expected) => {
  expect(isPassedOver(name)).toBe(expected);
});
