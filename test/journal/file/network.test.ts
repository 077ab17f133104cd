import {writeFile} from 'node:fs/promises';
import {expect, it, onTestFinished} from 'vitest';
import {Fence} from '../../../src/journal/file/fence.ts';
import {openJournalFile} from '../../../src/journal/file/file.ts';
import {JournalIndex} from '../../../src/journal/known/journal-index.ts';
import {isOnOtherMachine, JournalLog} from '../../../src/journal/log.ts';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {acquireLock} from '../../../src/lib/files/lock.ts';
import {bench, sha256} from '../../support/journal.ts';

/** A journal that holds an intent, and whose lock another run has taken since, without a line in the file. */
async function lockTaken(isRemote: boolean) {
  const one = await bench();
  const handle = await openJournalFile(one.path, one.path, 'create');
  onTestFinished(() => handle.close());
  const lock = await acquireLock(`${one.path}.lock`, one.host);
  const fence = new Fence({handle, path: one.path, shown: one.path}, lock.holder.token, 0);
  const parts = {handle, fence, lock, index: new JournalIndex(), shown: one.path, host: one.host};
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
  expect(await isOnOtherMachine('/proc/self')).toBe(false);
});
