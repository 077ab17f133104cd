import type {AddressInfo, Server, Socket} from 'node:net';
import {afterTest} from './after-test.ts';

/** Starts a server on a free port of loopback. When the test ends, its connections are cut off and it is closed. */
export async function listen(server: Server): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  afterTest(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${portOf(server)}`;
}
