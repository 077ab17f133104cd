import {once} from 'node:events';
import {open, rm} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import {join} from 'node:path';
import type {Host, StopSignal} from '../../host.ts';
import {holderText} from '../../lib/files/holder.ts';
import {acquireLock, LockHeld} from '../../lib/files/lock.ts';
import {systemCode} from '../../lib/system-code.ts';

/**
 * Makes this process the only service of a data directory; resolves to the function that ends this, or rejects with a
 * DirectoryInUse if another one is. A service that died is replaced: at once on this machine, in another container too
 * if it could listen on a socket, and where it cannot be seen from here after 90 s without a sign of life; `onWait` is
 * called then.
 */
export async function occupy(
  dataDirectory: string,
  host: Host,
  onWait: (why: string) => void,
  stop?: StopSignal,
): Promise<() => Promise<void>> {
  const lock = await acquireLock(join(dataDirectory, 'service.lock'), host, {
    stop,
    stateOfUnknown: async ({bootId, socketDevice}) =>
      socketDevice === undefined || bootId === undefined || bootId !== host.bootId()
        ? 'unknown'
        : stateBySocket(dataDirectory, socketDevice),
    onUnknownHolder: holder =>
      onWait(
        `${dataDirectory} was used by a media serve that cannot be seen from here, ${holderText(holder)}. Waiting up to 90 s for it to show activity.`,
      ),
  }).catch(error => {
    if (!(error instanceof LockHeld)) throw error;
    const why = `${dataDirectory} is in use by another media serve, ${holderText(error.holder)}.`;
    const hint = 'Stop that one, or choose another directory with --data-dir.';
    throw Object.assign(new Error(why), {name: 'DirectoryInUse', hint});
  });
  // The lock is ours by now, so the socket that this replaces is not in use.
  const socket = await listenOnSocket(dataDirectory);
  lock.holder.socketDevice = socket?.device;
  await lock.renew().catch(() => {});
  const stopRenewing = host.clock.every(30_000, () => {
    lock.renew().catch(() => {});
  });
  return async () => {
    stopRenewing();
    await socket?.close();
    // Where it cannot be removed any more, it names a process that has ended.
    await lock.release().catch(() => {});
  };
}

/** Opens a data directory, by whose descriptor its socket has a short path: the system takes no more than 107 bytes. */
async function openSocketPlace(directory: string) {
  const handle = await open(directory, 'r');
  const device = String((await handle.stat()).dev);
  return {handle, device, path: `/proc/self/fd/${handle.fd}/service.sock`};
}

/**
 * Listens on a Unix socket in a data directory while this process lives, since its id means nothing in another
 * container. Resolves to undefined where no socket can be made: on network file systems, FAT, systems other than Linux,
 * some of which open no directories.
 */
async function listenOnSocket(
  directory: string,
): Promise<{device: string; close(): Promise<void>} | undefined> {
  const place = await openSocketPlace(directory).catch(() => undefined);
  if (place === undefined) return undefined;
  const {handle, device, path} = place;
  const server = createServer(socket => socket.destroy()).unref();
  try {
    await rm(path, {force: true});
    await once(server.listen(path), 'listening');
  } catch {
    await handle.close();
    return undefined;
  }
  const close = async () => {
    await once(server.close(), 'close');
    await handle.close();
  };
  return {device, close};
}

/** Whether a process that listened there is alive; unknown on another device: two mounts of a disk share no sockets. */
async function stateBySocket(directory: string, deviceThere: string): Promise<'alive' | 'dead' | 'unknown'> {
  const place = await openSocketPlace(directory).catch(() => undefined);
  if (place === undefined) return 'unknown';
  const {handle, device, path} = place;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return 'alive';
  } catch (error) {
    return systemCode(error) === 'ECONNREFUSED' && device === deviceThere ? 'dead' : 'unknown';
  } finally {
    socket.destroy();
    await handle.close();
  }
}
