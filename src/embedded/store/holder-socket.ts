import {once} from 'node:events';
import {open, rm} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import {systemCode} from '../../lib/system-code.ts';

/** Opens a data directory, by whose descriptor its socket has a short path: the system takes no more than 107 bytes. */
async function openPlace(directory: string) {
  const handle = await open(directory, 'r');
  const device = String((await handle.stat()).dev);
  return {handle, device, path: `/proc/self/fd/${handle.fd}/service.sock`};
}

/**
 * Listens on a Unix socket in a data directory while this process lives, since its id means nothing in another container. Resolves
 * to undefined where no socket can be made: on network file systems, FAT, systems other than Linux, some of
 * which open no directories.
 */
export async function listenIn(
  directory: string,
): Promise<{device: string; close(): Promise<void>} | undefined> {
  const place = await openPlace(directory).catch(() => undefined);
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

/**
 * Whether a process that listened in a data directory is alive. Unknown on another device than it saw: two mounts of a network file
 * system do not share their sockets.
 */
export async function stateBySocket(
  directory: string,
  deviceThere: string,
): Promise<'alive' | 'dead' | 'unknown'> {
  const place = await openPlace(directory).catch(() => undefined);
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
