import {spawn} from 'node:child_process';
import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect, createServer, type Socket} from 'node:net';
import {onTestFinished} from 'vitest';
import {listen, portOf} from '../service/support.ts';

/** A machine that does not answer; `reached` resolves once somebody waits for it who did not before. */
export interface SilentPeer {
  port: number;
  reached(): Promise<unknown>;
}

/** Accepts connections and never writes a byte, unless `greet` does for what comes first. */
export async function silentServer(greet: (socket: Socket) => void = () => {}): Promise<SilentPeer> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    greet(socket);
  });
  await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const connected = once(server, 'connection');
  return {port: portOf(server), reached: () => connected};
}

/** The address of a name server that takes questions and answers none; undefined where nobody may listen on its port. */
export async function silentNameServer(): Promise<string | undefined> {
  const address = '127.0.0.99';
  const socket = createSocket('udp4').bind(53, address);
  onTestFinished(() => {
    socket.close();
  });
  return once(socket, 'listening').then(
    () => address,
    () => undefined,
  );
}

/** A proxy that opens its tunnel and lets nothing through. */
export function silentTunnel(): Promise<SilentPeer> {
  return silentServer(socket =>
    socket.once('data', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n')),
  );
}

/** A port whose listener accepts nothing and whose queue is full: a connection to it is neither made nor refused. */
export async function fullListener(): Promise<SilentPeer> {
  const script = `const server = require('node:net').createServer();
    server.listen(0, '127.0.0.1', 1, () => {
      require('node:fs').writeSync(1, String(server.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30000);
    });`;
  const child = spawn(process.execPath, ['-e', script], {stdio: ['ignore', 'pipe', 'inherit']});
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [bytes] = await once(child.stdout, 'data');
  const port = Number(String(bytes));
  const before = 4;
  for (let waiting = 0; waiting < before; waiting += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => {
      socket.destroy();
    });
  }
  await until(() => unansweredAt(port) > 0);
  const already = unansweredAt(port);
  return {port, reached: () => until(() => unansweredAt(port) > already)};
}

/** How many connections to a port of loopback have been asked for and not been answered. */
function unansweredAt(port: number): number {
  const pattern = new RegExp(
    `: [0-9A-F]{8}:[0-9A-F]{4} 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `,
    'g',
  );
  return readFileSync('/proc/net/tcp', 'utf8').match(pattern)?.length ?? 0;
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !condition(); ) {
    if (Date.now() > end) throw new Error(`never came true: ${condition}`);
    await new Promise(resolve => {
      setTimeout(resolve, 5);
    });
  }
}
