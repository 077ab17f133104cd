import {lstatSync, readSync} from 'node:fs';
import {readdir, utimes, writeFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {openManifest} from '../../../../src/engine/manifest/run-manifest.ts';
import type {Host} from '../../../../src/host.ts';
import type {FileSystem} from '../../../../src/lib/files/file-system.ts';
import {
  type Bench,
  begin,
  bench,
  header,
  hostIn,
  inputOf,
  type Journal,
  largeSourceOf,
  lookup,
  openJournal,
  pathKey,
  readJournals,
  scope,
  sha256,
  sourceOf,
  upload,
  writeMergedJournal,
} from '../../../support/journal.ts';
import {ManualClock, settled} from '../../../support/manual-clock.ts';
import {systemError, WatchedDisk} from '../../../support/watched-disk.ts';

const input = inputOf('a.png', 'content');
const hash = sha256('content');
const name = 'uploads.ndjson';

/** A journal on a watched disk, with what is done to it from here on. */
async function watched(
  one: Bench,
  changes: Partial<Host> = {},
): Promise<{journal: Journal; disk: WatchedDisk}> {
  const disk = new WatchedDisk(changes.files);
  const host = hostIn(one.directory, {...changes, files: disk.files});
  const journal = await openJournal(one.path, host, {scope, paths: true});
  return {journal, disk};
}

/** What was done to a file while an action ran to its end. */
async function doneBy(disk: WatchedDisk, action: () => Promise<unknown>): Promise<string[]> {
  disk.calls.splice(0);
  await action();
  return disk.calls.filter(call => call.endsWith(name)).map(call => call.replace(` ${name}`, ''));
}

/** The entry of the unknown upload of `input`. */
function unknownOf(journal: Journal) {
  const [entry] = journal.reader.entriesOf(pathKey('a.png'), 'unknown');
  if (entry === undefined) throw new Error('not unknown');
  return entry;
}

describe('what others rely on is on disk when it is told', () => {
  it('a new journal: its first lines, and its name in the directory', async () => {
    const one = await bench();
    const {journal, disk} = await watched(one);
    const directory = basename(one.directory);
    const order = disk.calls.filter(call => call.endsWith(name) || call.endsWith(directory));
    expect(order).toEqual([`write ${name}`, `sync ${name}`, `sync ${directory}`]);
    await journal.close();
  });

  it('one beside a manifest: before anything is released', async () => {
    const one = await bench();
    const disk = new WatchedDisk();
    const host = hostIn(one.directory, {files: disk.files});
    const run = await openManifest('media.json', host, {service: scope.service});
    const entry = await begin(run, input);
    await entry.commit(hash);
    const journal = 'media.json.journal';
    const order = disk.calls.filter(call => call.endsWith(journal) || call.endsWith(basename(one.directory)));
    expect(order).toEqual([
      ...[`write ${journal}`, `sync ${journal}`, `sync ${basename(one.directory)}`],
      ...[`write ${journal}`, `sync ${journal}`],
    ]);
    entry.end();
    await run.close();
  });

  it('one that was there: what a killed run may have left in memory only, before anything is known of it', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, input, 'done'));
    const {journal, disk} = await watched(one);
    expect(disk.calls.filter(call => call.endsWith(name))).toEqual([`write ${name}`, `sync ${name}`]);
    await journal.close();
  });

  it('a commit and a record; a commit that shares its write with what nobody relies on', async () => {
    const one = await bench();
    const {journal, disk} = await watched(one);
    const entry = await begin(journal, input);
    expect(await doneBy(disk, () => entry.commit(hash))).toEqual(['write', 'sync']);
    expect(await doneBy(disk, () => entry.recordStored('{"id":"a"}'))).toEqual(['write', 'sync']);
    entry.end();
    const next = await begin(journal, inputOf('b.png'));
    const noted = inputOf('c.png', 'a large file of a new size');
    const together = async () => {
      const intent = begin(journal, noted, largeSourceOf(noted));
      await Promise.all([next.commit(sha256('content of b.png')), intent]);
    };
    expect(await doneBy(disk, together)).toEqual(['write', 'sync']);
    next.end();
    expect((await one.lines()).map(({event}) => event)).toContain('intent');
    await journal.close();
  });

  it('what a person decides: stored, to be sent again, no longer counted', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, input, 'commit'));
    for (const record of [undefined, {id: 'med_1'}]) {
      const {journal, disk} = await watched(one);
      const entry = unknownOf(journal);
      expect(await doneBy(disk, () => journal.settle(entry, record))).toEqual(['write', 'sync']);
      await journal.close();
      if (record === undefined) await one.run(next => upload(next, input, 'commit'));
    }
    const {journal, disk} = await watched(one);
    const [entry] = journal.reader.entriesOf(pathKey('a.png'), 'done');
    if (entry === undefined) throw new Error('not done');
    expect(await doneBy(disk, () => journal.forget(entry))).toEqual(['write', 'sync']);
    await journal.close();
    await one.run(async next => expect(await lookup(next, input)).toEqual({status: 'new'}));
  });

  it('a doubt, and the end of a run', async () => {
    const one = await bench();
    const {journal, disk} = await watched(one);
    const entry = await begin(journal, input);
    expect(await doneBy(disk, () => entry.recordUnknown())).toEqual(['write', 'sync']);
    await entry.recordFailure({code: 'rejected', message: 'no'});
    entry.end();
    expect((await doneBy(disk, () => journal.close())).at(-1)).toBe('sync');
  });

  it('a record for which there was no room, when the run ends', async () => {
    const one = await bench();
    const {journal, disk} = await watched(one);
    const entry = await begin(journal, input);
    await entry.commit(hash);
    disk.onCall = call => {
      if (call === 'write') throw systemError('ENOSPC');
    };
    await expect(entry.recordStored('{"id":"a"}')).rejects.toMatchObject({code: 'journal_failed'});
    disk.onCall = () => {};
    expect(await doneBy(disk, () => journal.close())).toEqual(['write', 'sync']);
  });

  it('a merged journal: all of it before it has its name, and then the name', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, input, 'done'));
    const disk = new WatchedDisk();
    const host = hostIn(one.directory, {files: disk.files});
    const readers = await readJournals([one.path], host);
    await writeMergedJournal(join(one.directory, 'merged'), readers, host);
    const last = disk.calls.filter(call => !call.startsWith('rm')).slice(-3);
    expect(last).toEqual([
      expect.stringMatching(/^sync \.media-[0-9a-f-]{36}$/),
      'rename merged',
      `sync ${basename(one.directory)}`,
    ]);
    expect(disk.open).toEqual([]);
  });
});

describe('a disk that fails at the n-th call', () => {
  /** Makes each call of an action fail in turn, until one run of it ends without a failure. */
  async function eachCall(
    code: string,
    action: (one: Bench, host: Host) => Promise<void>,
    prepare: (one: Bench) => Promise<unknown> = async () => {},
  ): Promise<number> {
    for (let number = 1; ; number += 1) {
      const one = await bench();
      await prepare(one);
      const others = async () =>
        (await readdir(one.directory)).filter(file => file !== name && file !== 'merged').sort();
      const there = await others();
      const disk = new WatchedDisk();
      let calls = 0;
      let failed = '';
      disk.onCall = (call, file) => {
        calls += 1;
        if (calls !== number) return;
        failed = `${call} ${file}`;
        throw systemError(code);
      };
      const host = hostIn(one.directory, {files: disk.files});
      const error = await action(one, host).catch((cause: unknown) => cause);
      expect(disk.open, failed).toEqual([]);
      expect(await others(), failed).toEqual(there);
      if (failed !== '') continue;
      expect(error).toBeUndefined();
      return number - 1;
    }
  }

  it.each(['EIO', 'ENOSPC'])('a run (%s): nothing stays open, no lock stays', async code => {
    const run = async (one: Bench, host: Host) => {
      const journal = await openJournal(one.path, host, {scope, paths: true});
      try {
        const entry = await begin(journal, input);
        await entry
          .commit(hash)
          .then(() => entry.recordStored('{"id":"a"}'))
          .finally(() => entry.end());
        await lookup(journal, inputOf('b.png', 'content'));
      } finally {
        await journal.close();
      }
    };
    expect(await eachCall(code, run)).toBeGreaterThan(8);
    const prepare = (one: Bench) => one.run(journal => upload(journal, inputOf('b.png'), 'commit'));
    expect(await eachCall(code, run, prepare)).toBeGreaterThan(8);
  });

  it('a merge: nothing stays open, no lock and no part of a file stays', async () => {
    const merge = async (one: Bench, host: Host) => {
      const others = ['first', 'second'].map(other => join(one.directory, other));
      const readers = await readJournals(others, host);
      await writeMergedJournal(join(one.directory, 'merged'), readers, host);
    };
    const prepare = async (one: Bench) => {
      const path = (other: string) => join(one.directory, other);
      for (const other of ['first', 'second'])
        await one.run(journal => upload(journal, input, 'done'), path(other));
      await one.write(await one.text(path('first')), path('merged'));
    };
    expect(await eachCall('EIO', merge, prepare)).toBeGreaterThan(10);
  });
});

describe('hundreds of journals', () => {
  it('100 of them: at most a few are open at a time, and their records can be read', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, input, 'done'));
    const text = await one.text();
    const paths = Array.from({length: 100}, (_, number) => join(one.directory, String(number)));
    for (const path of paths) await one.write(text, path);
    const disk = new WatchedDisk();
    const host = hostIn(one.directory, {files: disk.files});
    const readers = await readJournals(paths, host, {paths: true});
    for (const reader of readers) {
      const [entry] = reader.index.entriesOfPath(pathKey('a.png'));
      expect(entry && (await reader.recordOf(entry)).json).toBe('{"id":"med_1"}');
    }
    await writeMergedJournal(join(one.directory, 'merged'), readers, host);
    expect(disk.mostOpen).toBeLessThan(4);
    expect(disk.open).toEqual([]);
  });

  it('one that is overwritten while it is read: an error says so, and no record is made up', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, input, 'done'));
    const text = await one.text();
    const [reader] = await readJournals([one.path], hostIn(one.directory), {paths: true});
    const [entry] = reader?.index.entriesOfPath(pathKey('a.png')) ?? [];
    await one.write(text.replace('{"id":"med_1"}', '{"id":       }'));
    await expect(entry && reader?.recordOf(entry)).rejects.toThrow('was changed while it was being read');
  });
});

describe('a journal that another one has replaced, and a disk that reads little by little', () => {
  it('each read gives one byte: commits are found, and no one is said to have written over them', async () => {
    const one = await bench();
    const readOne = (fd: number, buffer: Uint8Array, offset: number, length: number, position: number) =>
      readSync(fd, buffer, offset, Math.min(length, 1), position);
    const files = {readSync: readOne} as unknown as FileSystem;
    const {journal} = await watched(one, {files});
    await upload(journal, input, 'done');
    await journal.close();
    await one.run(async next => expect(await lookup(next, input)).toMatchObject({status: 'done'}));
  });

  it.each(['dev', 'ino'] as const)('only its %s is another: nothing more is released', async field => {
    const one = await bench();
    let isReplaced = false;
    const look = (path: string, options: object) => {
      const stats = lstatSync(path, {...options, bigint: true});
      if (isReplaced && path === one.path && stats !== undefined) stats[field] += 1n;
      return stats;
    };
    const files = {lstatSync: look} as unknown as FileSystem;
    const {journal} = await watched(one, {files});
    const entry = await begin(journal, input);
    isReplaced = true;
    await expect(entry.commit(hash)).rejects.toMatchObject({
      code: 'journal_failed',
      message: `The journal ${one.path} was replaced by another file while it was in use.`,
    });
    await journal.close().catch(() => {});
  });
});

describe('time', () => {
  it('after its end, nothing more reaches the disk', async () => {
    const one = await bench();
    const clock = new ManualClock();
    const {journal, disk} = await watched(one, {clock});
    await upload(journal, input, 'done');
    await journal.close();
    const after: string[] = [];
    disk.onCall = (call, file) => void after.push(`${call} ${file}`);
    for (let minute = 0; minute < 3; minute += 1) await clock.advance(60_000);
    expect(after).toEqual([]);
  });

  it('in 20 s in which nothing is written, a line says that the writer is alive; in others, none', async () => {
    const one = await bench();
    const clock = new ManualClock();
    const journal = await openJournal(one.path, hostIn(one.directory, {clock}), {scope});
    const alive = async () => {
      // A line that was asked for is in the file when one that came later is.
      await upload(journal, inputOf(`${clock.now()}.png`), 'done');
      return (await one.text()).match(/"event":"alive"/g)?.length ?? 0;
    };
    await clock.advance(19_999);
    expect(await alive()).toBe(0);
    // Busy: something was written in each of these.
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(20_000);
      expect(await alive()).toBe(0);
    }
    // Idle: the first tick ends a busy time, the next two do not.
    await clock.advance(60_000);
    expect(await alive()).toBe(2);
    await journal.close();
    const lines = (await one.text()).length;
    await clock.advance(100_000);
    expect((await one.text()).length).toBe(lines);
  });

  it.each([
    [3_600, 'the lock'],
    [-3_600, 'the lock'],
    [3_600, 'the journal alone'],
    [-3_600, 'the journal alone'],
  ])(
    'a clock that is %i s ahead of the other machine: %s is waited for 90 s, no more and no less',
    async (seconds, what) => {
      const one = await bench();
      const holder = {pid: 1, hostName: 'another machine', bootId: 'of its own', token: 'a'};
      await one.write(
        `${header}\n{"event":"open","by":"a","at":"2026-01-02T00:00:00.000Z","process":{"pid":1,"hostName":"another machine","bootId":"of its own"}}\n`,
      );
      if (what === 'the lock') await writeFile(`${one.path}.lock`, JSON.stringify(holder));
      let waitedMs = 0;
      const begun = Date.now();
      /** The other machine keeps the files: their times are those of its clock. */
      const touch = async (path: string) => {
        const time = begun / 1000;
        await utimes(path, time, time).catch(() => {});
      };
      await touch(one.path);
      if (what === 'the lock') await touch(`${one.path}.lock`);
      const clock = {
        ...one.host.clock,
        now: () => begun + waitedMs + 1000 * seconds,
        monotonic: () => waitedMs,
        sleep: async (sleepMs: number) => {
          // As if each call took as long as seven of these pauses.
          waitedMs += 8 * sleepMs;
        },
      };
      const host = hostIn(one.directory, {clock});
      await (await openJournal(one.path, host, {scope})).close();
      expect(waitedMs).toBeGreaterThan(89_000);
      expect(waitedMs).toBeLessThan(95_000);
    },
  );
});

describe('content', () => {
  it('that is no file is read before it is sent, as it may come again under another name', async () => {
    const one = await bench();
    const stream = {...inputOf('-', 'content'), stat: undefined};
    await one.run(async journal => {
      const entry = await begin(journal, stream, largeSourceOf(stream));
      await expect(entry.commit(sha256('CONTENT'))).rejects.toMatchObject({code: 'source_changed'});
      await entry.commit(hash);
      await entry.recordStored('{"id":"a"}');
      entry.end();
      expect(await lookup(journal, stream)).toMatchObject({status: 'done'});
    });
  });

  it.each([
    ['small', sourceOf],
    ['large', largeSourceOf],
  ])('ten %s files of it at once: one is sent', async (_name, source) => {
    const one = await bench();
    await one.run(async journal => {
      let sent = 0;
      const statuses = await Promise.all(
        Array.from({length: 10}, async (_, number) => {
          const copy = inputOf(`${number}.png`, 'content');
          const admission = await journal.beginUpload(copy, source(copy));
          if (admission.status !== 'new') return admission.status;
          sent += 1;
          await settled();
          await admission.log.commit(hash);
          await settled();
          await admission.log.recordStored('{"id":"a"}');
          admission.log.end();
          return 'sent';
        }),
      );
      expect(sent).toBe(1);
      expect(statuses.filter(status => status === 'done')).toHaveLength(9);
    });
  });
});
