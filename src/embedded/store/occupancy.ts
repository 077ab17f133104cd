import {join} from 'node:path';
import type {Host} from '../../host.ts';
import {holderText} from '../../lib/files/holder.ts';
import {acquireLock, type Lock, LockHeld} from '../../lib/files/lock.ts';
import {listenIn, stateBySocket} from './holder-socket.ts';

const renewedEveryMs = 30_000;

/** Another service is the only one that may use the data directory. */
class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
  /** What to do about it. */
  readonly hint = 'Stop that one, or choose another directory with --data-dir.';
}

/**
 * Makes this process the only service of a data directory; rejects with a DirectoryInUse if another one is. A service that died is
 * replaced: at once on this machine, in another container too if it could listen on a socket, and where it cannot be seen from here
 * after 90 s without a sign of life; `onWait` is told then.
 */
export async function occupy(
  dataDirectory: string,
  host: Host,
  onWait: (why: string) => void,
): Promise<{leave(): Promise<void>}> {
  let lock: Lock;
  try {
    lock = await acquireLock(join(dataDirectory, 'service.lock'), host, {
      stateOfUnknown: async ({bootId, socketDevice}) =>
        socketDevice === undefined || bootId === undefined || bootId !== host.bootId()
          ? 'unknown'
          : stateBySocket(dataDirectory, socketDevice),
      onUnknownHolder: holder =>
        onWait(
          `${dataDirectory} was used by a media serve that cannot be seen from here, ${holderText(holder)}. Waiting up to 90 s for a sign of life.`,
        ),
    });
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    throw new DirectoryInUse(
      `${dataDirectory} is in use by another media serve, ${holderText(error.holder)}.`,
    );
  }
  // Only now: nobody else removes a socket that is in use.
  const socket = await listenIn(dataDirectory);
  lock.holder.socketDevice = socket?.device;
  await lock.renew().catch(() => {});
  const stopRenewing = host.clock.every(renewedEveryMs, () => {
    lock.renew().catch(() => {});
  });
  return {
    leave: async () => {
      stopRenewing();
      await socket?.close();
      await lock.release();
    },
  };
}
