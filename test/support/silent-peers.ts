import {spawn} from 'node:child_process';
import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect, createServer, type Socket} from 'node:net';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {listen, portOf} from './loopback.ts';
import {someRecord} from './scripted-server.ts';

/** A peer that never responds; `reached` resolves when one more client waits for it. */
export interface SilentPeer {
  port: number;
  reached(): Promise<unknown>;
}

/** Accepts connections and writes nothing, except what `greet` writes first. */
export async function silentServer(greet: (socket: Socket) => void = () => {}): Promise<SilentPeer> {
  const server = createServer(socket => {
    socket.on('error', () => {});
    greet(socket);
  });
  await listen(server);
  const connected = once(server, 'connection');
  return {port: portOf(server), reached: () => connected};
}

/** The address of a name server that never responds; undefined if its port is not permitted. */
export async function silentNameServer(): Promise<string | undefined> {
  const address = '127.0.0.99';
  const socket = createSocket('udp4').bind(53, address);
  afterTest(() => {
    socket.close();
  });
  return once(socket, 'listening').then(
    () => address,
    () => undefined,
  );
}

/** A proxy that opens its tunnel and forwards nothing. */
export function silentTunnel(): Promise<SilentPeer> {
  return silentServer(socket =>
    socket.once('data', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n')),
  );
}

/**
 * A port whose listener accepts nothing and whose queue is full: connections to it are neither made nor refused, until `open`
 * makes a service of it.
 */
export async function fullListener(): Promise<SilentPeer & {open(): void}> {
  const script = `const server = require('node:http').createServer((request, response) => {
      request.resume().on('end', () => response.end(process.argv[1]));
    });
    server.listen(0, '127.0.0.1', 1, () => {
      const {readSync, writeSync} = require('node:fs');
      writeSync(1, String(server.address().port));
      readSync(0, Buffer.alloc(1));
    });`;
  const child = spawn(process.execPath, ['-e', script, someRecord], {stdio: ['pipe', 'pipe', 'inherit']});
  afterTest(() => {
    child.kill('SIGKILL');
  });
  const [bytes] = await once(child.stdout, 'data');
  const port = Number(String(bytes));
  const before = 4;
  for (let waiting = 0; waiting < before; waiting += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    afterTest(() => {
      socket.destroy();
    });
  }
  // The list of connections is read in parts: while others change, one may be missing in it, or stand in it twice. Reading it
  // takes long after tests that made many connections.
  const pauseMs = 50;
  const known = await eventually(
    () => {
      const own = clientPortsOf(port, '..');
      return own.size === before && own;
    },
    {pauseMs},
  );
  const isNew = (client: string) => !known.has(client);
  return {
    port,
    reached: () => eventually(() => [...clientPortsOf(port, '02')].some(isNew), {pauseMs}),
    open: () => void child.stdin.write('.'),
  };
}

/** The ports of the clients that have a connection to a port on loopback in this state; 02: it is not accepted yet. */
function clientPortsOf(port: number, state: string): Set<string> {
  const pattern = new RegExp(
    `: [0-9A-F]{8}:([0-9A-F]{4}) 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} ${state} `,
    'g',
  );
  const matches = readFileSync('/proc/net/tcp', 'utf8').matchAll(pattern);
  return new Set(Array.from(matches, ([, client = '']) => client));
}
