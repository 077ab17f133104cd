import {readFile} from 'node:fs/promises';
import type {Socket} from 'node:net';
import type {Host} from '../../host.ts';

const tables = {'/proc/net/tcp': [], '/proc/net/tcp6': [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]};

const established = '01';

/** The id of this user, if the system also tells whose process is at the other end of a connection: Linux, proc_net(5). */
export async function comparableUser(host: Host): Promise<number | undefined> {
  const rows = await readFile('/proc/net/tcp').catch(() => '');
  return rows.length > 0 ? host.userId() : undefined;
}

/**
 * The id of the user whose process opened this connection over IPv4; undefined if there is none any more. It is in the row whose
 * local address is the peer's: the other row of the connection has our own id, and rows of closed sockets have 0.
 */
export async function userOfPeer(socket: Socket): Promise<number | undefined> {
  const {remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0} = socket;
  for (const [table, prefix] of Object.entries(tables)) {
    const [peer, own] = [
      printed([...prefix, ...bytesOf(remoteAddress)], remotePort),
      printed([...prefix, ...bytesOf(localAddress)], localPort),
    ];
    const rows = (await readFile(table, 'latin1').catch(() => '')).split('\n');
    const cells = rows.map(row => row.trim().split(/\s+/));
    const found = cells.find(([, from, to, state]) => from === peer && to === own && state === established);
    if (found !== undefined) return Number(found[7]);
  }
  return undefined;
}

const bytesOf = (address: string) => address.split('.').map(Number);

/** An address and a port as the kernel prints them: words in the byte order of the machine, in hexadecimal digits. */
function printed(bytes: readonly number[], port: number): string {
  const words = [...new Uint32Array(Uint8Array.from(bytes).buffer)];
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0');
  return `${words.map(word => hex(word, 8)).join('')}:${hex(port, 4)}`;
}
