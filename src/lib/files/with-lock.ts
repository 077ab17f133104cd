import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {acquireLock, LockHeld} from './lock.ts';

const waitMs = 10_000;

/**
 * Runs `action` while no other process runs one under the same lock file. Replaces a holder that died on this machine
 * at once, and waits for each living one up to 10 s.
 */
export async function withLock<T>(path: string, host: Host, action: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, host, {patienceMs: waitMs}).catch(error => {
    if (!(error instanceof LockHeld)) throw error;
    throw new MediaError('config_unusable', error.message, {
      hint: 'Wait until the other media command has ended, then try again; if there is none, remove that file.',
    });
  });
  try {
    return await action();
  } finally {
    await lock.release();
  }
}
