import {randomInt} from 'node:crypto';
import {createSocket} from 'node:dgram';
import {type EventEmitter, once} from 'node:events';
import {readFileSync} from 'node:fs';
import {type AddressInfo, connect, createServer} from 'node:net';
import {afterTest} from './after-test.ts';

const count = 8_192;

/** The first port that the system may give to a connection, or to a server that leaves the choice to it. */
function firstOfSystem(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1'), 10);
  } catch {
    return 32_768;
  }
}

/**
 * A port that nothing listens on yet, for daemons that cannot choose one themselves and for servers that come back. The system gives
 * it to nobody else; nor does another call, in any process, while this one lives and holds a UDP port that means it.
 */
export async function freePort(): Promise<number> {
  const end = Math.max(firstOfSystem(), 1024 + 2 * count);
  for (;;) {
    const port = randomInt(end - count, end);
    const claim = createSocket('udp4').unref();
    const isClaimed = await listens(claim, () => void claim.bind(port - count, '127.0.0.1'));
    const server = createServer();
    if (isClaimed && (await listens(server, () => void server.listen(port)))) {
      await new Promise(resolve => void server.close(resolve));
      return port;
    }
    if (isClaimed) claim.close();
  }
}

function listens(one: EventEmitter, start: () => void): Promise<boolean> {
  return new Promise(resolve => {
    one.once('listening', () => resolve(true)).once('error', () => resolve(false));
    start();
  });
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
