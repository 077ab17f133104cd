import {existsSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {expect, it, onTestFinished} from 'vitest';
import {openJournalFile} from '../../src/journal/file.ts';
import {JournalIndex} from '../../src/journal/journal-index.ts';
import {JournalLog} from '../../src/journal/log.ts';
import {WriterCheck} from '../../src/journal/writer-check.ts';
import {diskKind, systemFiles} from '../../src/lib/files/file-system.ts';
import {holderHere} from '../../src/lib/files/holder.ts';
import {acquireLock} from '../../src/lib/files/lock.ts';
import {bench, sha256} from '../support/journal.ts';

/** A journal that holds an intent, and whose lock another run has taken since, without a line in the file. */
async function lockTaken(isRemote: boolean) {
  const one = await bench();
  const handle = await openJournalFile(systemFiles, one.path, one.path, 'create');
  onTestFinished(() => handle.close());
  const lock = await acquireLock(`${one.path}.lock`, one.host);
  const check = new WriterCheck(
    {files: systemFiles, handle, path: one.path, shown: one.path},
    lock.holder.token,
    0,
  );
  const parts = {handle, check, lock, index: new JournalIndex(), shown: one.path, host: one.host};
  const log = new JournalLog({...parts, isRemote, syncsWrites: true});
  log.note({event: 'intent', key: 'k', path: 'a.png', size: 7, contentType: 'image/png'});
  await writeFile(lock.path, JSON.stringify(holderHere(one.host)));
  return log.append({event: 'commit', key: 'k', sha256: sha256('content')});
}

it('on a network file system, a lock that is no longer ours: nothing is released, although the file tells nothing', async () => {
  await expect(lockTaken(true)).rejects.toMatchObject({code: 'journal_in_use'});
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
