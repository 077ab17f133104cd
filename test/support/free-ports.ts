import {once} from 'node:events';
import {type AddressInfo, connect, createServer} from 'node:net';
import {afterTest} from './after-test.ts';

/** Ports of loopback that nothing listens on yet, for daemons that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({length: count}, () => createServer());
  await Promise.all(
    servers.map(server => new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))),
  );
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => new Promise(resolve => void server.close(resolve))));
  return ports;
}

/**
 * A port of loopback that nothing listens on, and that no server gets while the test runs: a connection to somewhere else begins
 * there.
 */
export async function deadPort(): Promise<number> {
  const server = createServer(peer => void peer.on('error', () => {}));
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  afterTest(() => {
    socket.destroy();
    server.close();
  });
  return socket.localPort as number;
}
