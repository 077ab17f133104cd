import {appendFile, stat} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {systemFiles} from '../../../src/lib/files/file-system.ts';
import {
  begin,
  bench,
  changedHandle,
  header,
  inputOf,
  type JournalHandle,
  largeSourceOf,
  lookup,
  openJournal,
  scope,
  sha256,
  upload,
} from '../../support/journal.ts';

/** A file whose syncs are counted and can be held back, and whose disk can become full. */
class Disk {
  syncs = 0;
  /** Bytes that still fit. */
  room = Number.POSITIVE_INFINITY;
  isBroken = false;
  #gate: Promise<void> = Promise.resolve();
  #open = () => {};
  /** Resolves when a sync begins. */
  #begun = () => {};

  wrap = (handle: JournalHandle): JournalHandle =>
    changedHandle(handle, {
      write: async (buffer, offset, length) => {
        if (this.room === 0 && length > 0) throw Object.assign(new Error('full'), {code: 'ENOSPC'});
        const result = await handle.write(buffer, offset, Math.min(length, this.room));
        this.room -= result.bytesWritten;
        return result;
      },
      datasync: async () => {
        this.syncs += 1;
        this.#begun();
        await this.#gate;
        if (this.isBroken) throw Object.assign(new Error('broken'), {code: 'EIO'});
        await handle.datasync();
      },
    });

  /** Holds syncs back; resolves when one has begun. */
  hold(): Promise<void> {
    this.#gate = new Promise(resolve => {
      this.#open = resolve;
    });
    return new Promise(resolve => {
      this.#begun = resolve;
    });
  }

  release(): void {
    this.#gate = Promise.resolve();
    this.#open();
  }
}

async function begun(count: number) {
  const one = await bench();
  const disk = new Disk();
  const journal = await one.open({wrap: disk.wrap});
  const inputs = Array.from({length: count}, (_, index) => inputOf(`${index}.png`));
  const entries = await Promise.all(inputs.map(input => begin(journal, input)));
  disk.syncs = 0;
  return {one, disk, journal, inputs, entries};
}

/** Opens files on a disk on which locks, which exist, cannot be written to. */
const noRoomInLocks: typeof systemFiles.open = async (...parameters) => {
  const handle = await systemFiles.open(...parameters);
  if (String(parameters[0]).endsWith('.lock'))
    handle.write = () => Promise.reject(Object.assign(new Error('full'), {code: 'ENOSPC'}));
  return handle;
};

/** Its hash is of no matter where nobody looks for it. */
const hash = sha256('content');

describe('durable lines', () => {
  it('200 commits at once share one sync, 200 records another', async () => {
    const {disk, entries} = await begun(200);
    await Promise.all(entries.map(entry => entry.commit(entry.sha256 ?? hash)));
    expect(disk.syncs).toBe(1);
    await Promise.all(entries.map((entry, index) => entry.recordStored(`{"id":"${index}"}`)));
    expect(disk.syncs).toBe(2);
  });

  it('commits that come while a sync runs wait for that one and one more', async () => {
    const {disk, entries} = await begun(50);
    const [first, ...others] = entries;
    const isHeld = disk.hold();
    const done: string[] = [];
    const one = first?.commit(first.sha256 ?? hash).then(() => done.push('first'));
    await isHeld;
    const late = others.map(entry => entry.commit(entry.sha256 ?? hash).then(() => done.push('late')));
    await new Promise(resolve => setImmediate(resolve));
    expect({syncs: disk.syncs, done}).toEqual({syncs: 1, done: []});
    disk.release();
    await Promise.all([one, ...late]);
    expect(disk.syncs).toBe(2);
    expect(done[0]).toBe('first');
  });

  it('a commit is in the file, and not yet told of, while its sync runs', async () => {
    const {one, disk, entries} = await begun(1);
    const isHeld = disk.hold();
    let isTold = false;
    const commit = entries[0]?.commit(entries[0].sha256 ?? hash).then(() => {
      isTold = true;
    });
    await isHeld;
    expect((await one.lines()).at(-1)).toMatchObject({event: 'commit'});
    expect(isTold).toBe(false);
    disk.release();
    await commit;
  });

  it('intents and failures need no sync of their own; close makes them durable', async () => {
    const {disk, journal, inputs} = await begun(0);
    for (const name of ['a', 'b']) await upload(journal, inputOf(name), 'failed');
    expect({syncs: disk.syncs, inputs}).toEqual({syncs: 0, inputs: []});
    await journal.close();
    expect(disk.syncs).toBe(1);
  });

  it('what a killed run left is made durable when the next opens it', async () => {
    const {one, journal} = await begun(1);
    await journal.close();
    const disk = new Disk();
    await one.open({wrap: disk.wrap});
    expect(disk.syncs).toBe(1);
  });
});

describe('a full disk', () => {
  it.each([0, 1, 100, 200])(
    'with %i bytes left: the commits reject, nothing reads as unknown',
    async room => {
      const {one, disk, journal, inputs, entries} = await begun(3);
      disk.room = room;
      const results = await Promise.allSettled(entries.map(entry => entry.commit(entry.sha256 ?? hash)));
      expect(results.map(({status}) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(results[0]).toMatchObject({
        reason: {
          name: 'MediaError',
          message: expect.stringMatching(/could not be written: the disk is full\./),
        },
      });
      disk.room = Number.POSITIVE_INFINITY;
      await expect(begin(journal, inputOf('late.png'))).rejects.toThrow(/the disk is full/);
      await journal.close();
      await one.run(async next => {
        for (const input of inputs) expect(await lookup(next, input)).toEqual({status: 'new'});
      });
    },
  );

  it('at an intent: its commit rejects, and the file is readable', async () => {
    const {one, disk, journal} = await begun(1);
    disk.room = 20;
    const input = inputOf('late.png');
    const entry = await begin(journal, input, largeSourceOf(input));
    await expect(entry.commit(hash)).rejects.toThrow(/the disk is full/);
    await expect(entry.recordFailure({code: 'rejected', message: 'no'})).rejects.toThrow(/the disk is full/);
    disk.room = Number.POSITIVE_INFINITY;
    await journal.close();
    // Nothing of an upload that the file does not know.
    expect(await one.lines()).toEqual([]);
    await one.run(async next => expect(next.reader.index.size).toBe(0));
  });

  it.each([
    ['that stays full', 0, ['unknown', 'unknown', 'unknown']],
    ['that has room again', Number.POSITIVE_INFINITY, ['done', 'done', 'new']],
  ])(
    '%s: what the uploads ended with is recorded at the end of the run, if it fits then',
    async (_name, room, expected) => {
      const {one, disk, journal, inputs, entries} = await begun(3);
      const [first, second, third] = entries;
      await Promise.all(entries.map(entry => entry.commit(entry.sha256 ?? hash)));
      disk.room = 30;
      await expect(first?.recordStored('{"id":"a"}')).rejects.toThrow(/the disk is full/);
      await expect(second?.recordStored('{"id":"b"}')).rejects.toThrow(/the disk is full/);
      await expect(third?.recordFailure({code: 'rejected', message: 'no'})).rejects.toThrow(
        /the disk is full/,
      );
      disk.room = room;
      await journal.close();
      await one.run(async next => {
        const found = await Promise.all(inputs.map(input => lookup(next, input)));
        expect(found.map(({status}) => status)).toEqual(expected);
      });
    },
  );

  it('that has room again, but another run has taken the journal over: nothing more is written', async () => {
    const {one, disk, journal, entries} = await begun(1);
    await entries[0]?.commit(entries[0].sha256 ?? hash);
    disk.room = 30;
    await expect(entries[0]?.recordStored('{"id":"a"}')).rejects.toThrow(/the disk is full/);
    disk.room = Number.POSITIVE_INFINITY;
    await appendFile(one.path, '\n{"event":"open","by":"another","at":"2026-01-02T00:00:00.000Z"}\n');
    const before = await one.text();
    await journal.close();
    expect(await one.text()).toBe(before);
  });

  it('at two records: the one that fits is kept, since nothing else knows of it', async () => {
    const {one, disk, journal, inputs, entries} = await begun(2);
    await Promise.all(entries.map(entry => entry.commit(entry.sha256 ?? hash)));
    disk.room = 150;
    const results = await Promise.allSettled(entries.map(entry => entry.recordStored('{"id":"a"}')));
    expect(results.map(({status}) => status)).toEqual(['rejected', 'rejected']);
    await journal.close();
    await one.run(async next => {
      const found = await Promise.all(inputs.map(input => lookup(next, input)));
      expect(found.map(({status}) => status)).toEqual(['done', 'unknown']);
    });
  });

  it('a sync that fails: the commit rejects', async () => {
    const {disk, entries} = await begun(1);
    disk.isBroken = true;
    const failure = {
      message: expect.stringMatching(/could not be written: EIO\./),
      hint: expect.stringContaining('Check its disk'),
    };
    for (let turn = 0; turn < 2; turn += 1)
      await expect(entries[0]?.commit(entries[0].sha256 ?? hash)).rejects.toMatchObject(failure);
    expect(disk.syncs).toBe(1);
  });

  it('in the lock, which is renewed while an abandoned journal is waited for: says so', async () => {
    const one = await bench();
    await one.write(`${header}\n{"event":"open","by":"a","at":"2026-01-02T00:00:00.000Z"}\n`);
    const host = {...one.host, files: {...one.host.files, open: noRoomInLocks}};
    await expect(openJournal(one.path, host, {scope})).rejects.toMatchObject({
      code: 'journal_failed',
      message: expect.stringMatching(/could not be written: the disk is full\./),
      hint: expect.stringContaining('Free some space'),
    });
  });

  it('when the journal is made: rejects, and the next run can make it', async () => {
    const one = await bench();
    const disk = new Disk();
    disk.room = 10;
    await expect(one.open({wrap: disk.wrap})).rejects.toThrow(/the disk is full/);
    expect((await stat(one.path)).size).toBe(10);
    await one.run(journal => upload(journal, inputOf('a'), 'done'));
  });
});
