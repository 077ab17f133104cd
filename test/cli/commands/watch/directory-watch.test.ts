import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {FSWatcher} from 'chokidar';
import {expect, onTestFinished, test, vi} from 'vitest';
import {DirectoryWatch, watchTrouble} from '../../../../src/cli/commands/watch/directory-watch.ts';
import {type Clock, systemClock} from '../../../../src/host.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {eventually} from '../../../support/eventually.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {temporaryDirectory} from '../../../support/media.ts';

/** Watches a directory, and records its states and failures. */
async function watching(
  root: string,
  clock: Clock,
  onFile: (path: string) => void,
  except?: string,
): Promise<string[]> {
  const states: string[] = [];
  const watch = new DirectoryWatch(root, {
    ...{clock, files: systemFiles, onFile, poll: false, except, onFileGone: () => {}},
    onState: state => states.push(state),
    onError: error => states.push(String(error)),
  });
  const running = watch.run();
  onTestFinished(async () => {
    await watch.close();
    // With a clock that stands still, a pause that goes on would never end.
    await running;
  });
  await eventually(() => states.length > 0);
  return states;
}

test('directories that come while the one around them is read: the files of each are seen', async () => {
  const root = await temporaryDirectory();
  const seen = new Set<string>();
  const states = await watching(root, systemClock, path => seen.add(path));
  const written: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    await mkdir(join(root, String(at)));
    await new Promise(resolve => setTimeout(resolve, at % 6));
    await Promise.all(
      Array.from({length: 7}, async (_, inner) => {
        const path = join(root, String(at), String(inner), 'a.png');
        await mkdir(join(root, String(at), String(inner)));
        await writeFile(path, 'x');
        written.push(path);
      }),
    );
  }
  await eventually(() => seen.size === written.length);
  expect([...seen].sort()).toEqual(written.sort());
  expect(states).toEqual(['watching']);
});

test('directories in directories: the whole tree is not listed anew for each of them', async () => {
  const root = await temporaryDirectory();
  for (const name of ['a', 'a/b', 'c']) await mkdir(join(root, name));
  const listing = vi.spyOn(FSWatcher.prototype, 'getWatched');
  onTestFinished(() => listing.mockRestore());
  const seen: string[] = [];
  await watching(root, systemClock, path => seen.push(path));
  await writeFile(join(root, 'a/b/x.png'), 'x');
  await eventually(() => seen.length > 0);
  expect(listing.mock.calls.length).toBeLessThan(2);
});

test('a directory with a backslash in its name that is not to be watched: its files are not seen', async () => {
  const root = await temporaryDirectory();
  const except = join(root, 'a\\b');
  for (const directory of [except, join(root, 'c')]) {
    await mkdir(directory);
    await writeFile(join(directory, 'x.png'), 'x');
  }
  const seen = new Set<string>();
  await watching(root, systemClock, path => seen.add(path), except);
  expect([...seen]).toEqual([join(root, 'c', 'x.png')]);
});

test('every 10 minutes: all files are looked at again, since the system may have told nothing of some', async () => {
  const root = await temporaryDirectory();
  await writeFile(join(root, 'a.png'), 'x');
  const clock = new ManualClock();
  const seen: string[] = [];
  const states = await watching(root, clock, path => seen.push(path));
  seen.length = 0;
  await clock.advance(10 * 60_000);
  await eventually(async () => {
    await clock.advance(2_000);
    return seen.includes(join(root, 'a.png'));
  });
  expect(states).toEqual(['watching']);
});

test('removed: said at once, and then looked for no more often than before', async () => {
  const root = join(await temporaryDirectory(), 'in');
  await mkdir(root);
  const clock = new ManualClock();
  const states = await watching(root, clock, () => {});
  const pauses = vi.spyOn(clock, 'sleep');
  await rm(root, {recursive: true});
  await eventually(() => states.includes('gone'));
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(pauses.mock.calls.length).toBeLessThan(10);
});

test.each([
  ['ENOSPC', true],
  ['EMFILE', true],
  ['ENFILE', true],
  ['EACCES', false],
])('%s of the watcher: ends the watch: %s', (code, isFatal) => {
  expect(watchTrouble(Object.assign(new Error(code), {code}), 'in').isFatal).toBe(isFatal);
});
