import {existsSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {expect, it, onTestFinished} from 'vitest';
import {JournalIndex} from '../../../src/engine/journal/journal-index.ts';
import {JournalLog} from '../../../src/engine/journal/log.ts';
import {WriterCheck} from '../../../src/engine/journal/writer-check.ts';
import {diskKind, systemFiles} from '../../../src/lib/files/file-system.ts';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {acquireLock} from '../../../src/lib/files/lock.ts';
import {bench, changedHandle, openJournalFile, sha256} from '../../support/journal.ts';

/** The log of a run, whose lock another run can take without a line in the file; its disk is full while `isFull` says so. */
async function logOf(isRemote: boolean, isFull = () => false) {
  const one = await bench();
  const opened = await openJournalFile(systemFiles, one.path, one.path, 'create');
  onTestFinished(() => opened.close());
  const handle = changedHandle(opened, {
    write: async (...parameters) => {
      if (isFull()) throw Object.assign(new Error('write failed'), {code: 'ENOSPC'});
      return opened.write(...parameters);
    },
  });
  const lock = await acquireLock(`${one.path}.lock`, one.host);
  const file = {files: systemFiles, handle, path: one.path, displayPath: one.path};
  const check = new WriterCheck(file, lock.holder.token, 0);
  const index = new JournalIndex();
  const parts = {lock, index, displayPath: one.path, host: one.host};
  const log = new JournalLog({...parts, file: {handle, check, isRemote, syncsWrites: true}});
  log.appendWithoutWaiting({event: 'intent', key: 'k', path: 'a.png', size: 7, contentType: 'image/png'});
  return {log, one, index, takeLock: () => writeFile(lock.path, JSON.stringify(holderHere(one.host)))};
}

const commit = {event: 'commit', key: 'k', sha256: sha256('content')} as const;

async function lockTaken(isRemote: boolean) {
  const {log, takeLock} = await logOf(isRemote);
  await takeLock();
  return log.append(commit);
}

it.each([
  ['taken, on a network', true, true],
  ['taken, on a disk of this machine', false, true],
  ['kept, on a network', true, false],
])('a disk that was full when the lock was %s', async (_name, isRemote, isTaken) => {
  let isFull = false;
  const {log, one, index, takeLock} = await logOf(isRemote, () => isFull);
  await log.append(commit);
  isFull = true;
  await expect(log.append({event: 'done', key: 'k', recordJson: '{"id":"a"}'})).rejects.toThrow();
  isFull = false;
  if (isTaken) await takeLock();
  await log.close();
  const isSaved = !(isRemote && isTaken);
  const {state, offset} = index.entry(index.rowOf('k'));
  expect(state).toBe(isSaved ? 'done' : 'unknown');
  expect((await one.text()).slice(offset)).toMatch(isSaved ? /^{"event":"done"/ : /^{"event":"commit"/);
});

it('on a network file system, a lock that is no longer ours: nothing is released, although the file tells nothing', async () => {
  await expect(lockTaken(true)).rejects.toMatchObject({code: 'journal_in_use'});
});

it('on a network file system, a lock that was lost after the release of two files: each result is written', async () => {
  const {log, one, takeLock} = await logOf(true);
  const other = {...commit, key: 'l', path: 'b.png', size: 5, contentType: 'image/png'};
  await Promise.all([log.append(commit), log.append(other)]);
  await takeLock();
  for (const key of ['k', 'l']) await log.append({event: 'done', key, recordJson: `{"id":"${key}"}`});
  await expect(log.append({...other, key: 'm'})).rejects.toMatchObject({code: 'journal_in_use'});
  expect((await one.text()).match(/"record":{"id":"."}/g)).toHaveLength(2);
});

it('on a disk of this machine, where the file tells: released', async () => {
  await expect(lockTaken(false)).resolves.toBeUndefined();
});

it.runIf(existsSync('/dev/shm'))('tmpfs: a file that was opened so makes each write durable', async () => {
  expect(await diskKind(systemFiles, '/dev/shm')).toEqual({isRemote: false, isLocal: true});
});

it.each(['/proc/self', '/no/such/place'])(
  '%s, of which that is not known: it is not relied on',
  async place => {
    expect(await diskKind(systemFiles, place)).toEqual({isRemote: false, isLocal: false});
  },
);
