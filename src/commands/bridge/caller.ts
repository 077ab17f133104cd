import {readFile} from 'node:fs/promises';
import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {bearerOf} from '../../embedded/exchange/exchange.ts';
import {Refusal} from '../../embedded/exchange/refusal.ts';
import type {Host} from '../../host.ts';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';

/** The origin of a desktop program that calls a PicGo server from its browser engine; no web page can have it. */
export const desktopOrigin = 'app://obsidian.md';

/**
 * Throws a refusal unless a program on this machine sent the request. A web page cannot hide that it is one: the
 * browser adds Origin or Sec-Fetch-Site. A page whose host name was pointed at this machine (DNS rebinding) still sends
 * that name as Host.
 */
export function refusePages(
  {host = '', origin, 'sec-fetch-site': site}: IncomingHttpHeaders,
  port: number,
): void {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].flatMap(name =>
    port === 80 ? [name, `${name}:80`] : `${name}:${port}`,
  );
  if (!hosts.includes(host.toLowerCase()))
    throw new Refusal(403, 'The Host of the request is not this machine.');
  if (origin === desktopOrigin) return;
  if (origin !== undefined) throw new Refusal(403, `Web pages may not upload files (${origin}).`);
  if (site !== undefined && site !== 'none') throw new Refusal(403, 'Web pages may not upload files.');
}

/** Throws a refusal unless the request has the secret; in the query too, for editors that can only set a URL. */
export function refuseStrangers({headers, url = ''}: IncomingMessage, secret: string | undefined): void {
  if (secret === undefined) return;
  const query = url.replace(/^[^?]*/, '');
  // A plus sign is a space to forms, and itself to people who write a URL.
  const queries = [query, query.replaceAll('+', '%2B')];
  const callerSecret =
    headers.authorization === undefined
      ? queries.map(text => headers['x-picgo-secret'] ?? new URLSearchParams(text).get('secret'))
      : [bearerOf(headers)];
  // Node reads the bytes of a request's head as Latin-1.
  const forms = [secret, Buffer.from(secret).toString('latin1')];
  if (!callerSecret.some(one => forms.some(form => isSameSecret(String(one ?? ''), form))))
    throw new Refusal(
      401,
      'The secret is missing or wrong: send it as "Authorization: Bearer SECRET", or as ?secret=SECRET in the URL.',
    );
}

/** Rejects with a refusal unless a process of this user opened the connection. */
export async function refuseOtherUsers(socket: Socket, user: number): Promise<void> {
  if ((await userOfPeer(socket)) === user) return;
  throw new Refusal(
    403,
    'Only programs of the user who runs media bridge may name files. For others, start it with a secret in MEDIA_BRIDGE_SECRET, and limit the files with --root.',
  );
}

const tables = {'/proc/net/tcp': [], '/proc/net/tcp6': [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]};

const establishedState = '01';

/** The id of this user, if the system tells who is at the other end of a connection (Linux, proc_net(5)). */
export async function comparableUser(host: Host): Promise<number | undefined> {
  const rows = await readFile('/proc/net/tcp').catch(() => '');
  return rows.length > 0 ? host.userId() : undefined;
}

/**
 * The id of the user whose process opened this connection over IPv4; undefined if there is none any more. It is in the
 * row whose local address is the peer's: the other row of the connection has our own id, and rows of closed sockets
 * have 0.
 */
async function userOfPeer(socket: Socket): Promise<number | undefined> {
  // A connection that has been closed has no addresses, and nobody connects from this one.
  const {remoteAddress = '0.0.0.0', remotePort = 0, localAddress = '0.0.0.0', localPort = 0} = socket;
  for (const [table, prefix] of Object.entries(tables)) {
    const peer = kernelAddress([...prefix, ...bytesOf(remoteAddress)], remotePort);
    const own = kernelAddress([...prefix, ...bytesOf(localAddress)], localPort);
    const rows = (await readFile(table, 'latin1').catch(() => '')).split('\n');
    const cells = rows.map(row => row.trim().split(/\s+/));
    const socketRow = cells.find(
      ([, from, to, state]) => from === peer && to === own && state === establishedState,
    );
    if (socketRow !== undefined) return Number(socketRow[7]);
  }
  return undefined;
}

const bytesOf = (address: string) => address.split('.').map(Number);

/** An address and a port as the kernel prints them: words in the byte order of the machine, in hexadecimal digits. */
function kernelAddress(bytes: readonly number[], port: number): string {
  const words = [...new Uint32Array(Uint8Array.from(bytes).buffer)];
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0');
  return `${words.map(word => hex(word, 8)).join('')}:${hex(port, 4)}`;
}
