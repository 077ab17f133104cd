import {type AddressInfo, createServer} from 'node:net';

/** Ports of loopback that nothing listens on, for daemons that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({length: count}, () => createServer());
  await Promise.all(
    servers.map(server => new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))),
  );
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => new Promise(resolve => void server.close(resolve))));
  return ports;
}
