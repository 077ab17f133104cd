import {readFile} from 'node:fs/promises';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {JournalHandle} from '../../src/journal/file.ts';
import {openSharedJournal} from '../../src/journal/open.ts';
import {
  bench,
  changedHandle,
  hostIn,
  inputOf,
  scope,
  sha256,
  sourceOf,
  upload,
  type Wrap,
  wrappedJournals,
} from '../support/journal.ts';

/** A journal that is shared, and a clock on which 2 s pass at once. */
async function shared(wrap: Wrap = handle => handle) {
  const one = await bench();
  const timers = new Set<() => void>();
  const after = (_ms: number, action: () => void) => {
    timers.add(action);
    return () => void timers.delete(action);
  };
  const clock = {...one.host.clock, after};
  const host = hostIn(one.directory, {clock, files: wrappedJournals(wrap)});
  const journal = await openSharedJournal(one.path, host, {scope, inUseHint: 'Wait for it.'});
  onTestFinished(() => journal.close().catch(() => {}));
  const passTwoSeconds = () => {
    for (const action of [...timers]) {
      timers.delete(action);
      action();
    }
  };
  const isHeld = () =>
    readFile(`${one.path}.lock`).then(
      () => true,
      () => false,
    );
  /** Resolves once it has been let go. */
  const lettingGo = async () => {
    passTwoSeconds();
    while (await isHeld());
  };
  return {one, journal, passTwoSeconds, isHeld, lettingGo};
}

const input = inputOf('a.png', 'content');

describe('a journal that is shared', () => {
  it('2 s without work: let go, and opened anew for the next file, with what others have added', async () => {
    const {one, journal, lettingGo} = await shared();
    expect(await journal.recall(input)).toBeUndefined();
    await lettingGo();
    await one.run(other => upload(other, input, 'done', 'med_9'));
    expect(await journal.recall(input)).toMatchObject({recordJson: '{"id":"med_9"}'});
    expect(await journal.admit(input, sourceOf(input))).toMatchObject({
      status: 'done',
    });
  });

  it('a file on its way for 2 s: kept until it has ended', async () => {
    const {one, journal, passTwoSeconds, isHeld, lettingGo} = await shared();
    const admission = await journal.admit(input, sourceOf(input));
    if (admission.status !== 'new') throw new Error(admission.status);
    const {entry} = admission;
    await entry.commit(sha256('content'));
    passTwoSeconds();
    await expect(one.run(async () => {})).rejects.toMatchObject({code: 'journal_in_use'});
    await entry.done('{"id":"med_1"}');
    entry.end();
    expect(await isHeld()).toBe(true);
    await lettingGo();
    await one.run(async other => expect(await other.recall(input)).toMatchObject({status: 'done'}));
  });

  it('held by another run when the next file comes: refused with a hint, and tried again for the one after', async () => {
    const {one, journal, lettingGo} = await shared();
    await lettingGo();
    await one.run(async () => {
      await expect(journal.recall(input)).rejects.toMatchObject({
        code: 'journal_in_use',
        hint: 'Wait for it.',
      });
    });
    expect(await journal.recall(input)).toBeUndefined();
  });

  it('a disk that fails when it is let go: the run is told at its end', async () => {
    let isBroken = false;
    const wrap = (handle: JournalHandle) =>
      changedHandle(handle, {
        datasync: () => (isBroken ? Promise.reject(new Error('broken')) : handle.datasync()),
      });
    const {journal, passTwoSeconds} = await shared(wrap);
    isBroken = true;
    passTwoSeconds();
    await expect(journal.close()).rejects.toMatchObject({code: 'journal_failed'});
  });
});
