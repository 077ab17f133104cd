import type {IncomingHttpHeaders} from 'node:http';
import type {Socket} from 'node:net';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import {userOfPeer} from './peer-user.ts';
import {BridgeRefusal} from './refusal.ts';

/** Pages of programs on this machine that call a PicGo server from a browser engine; no web page can have these origins. */
const desktopOrigins: ReadonlySet<string> = new Set(['app://obsidian.md']);

/** Whether an origin is the page of a program on this machine, so that its requests are answered. */
export function isDesktopOrigin(origin: string | undefined): origin is string {
  return origin !== undefined && desktopOrigins.has(origin);
}

/**
 * Throws a refusal unless a program on this machine sent the request. A web page cannot hide that it is one: the browser adds
 * Origin or Sec-Fetch-Site. A page whose host name was pointed at this machine (DNS rebinding) still sends that name as Host.
 */
export function refusePages(
  {host = '', origin, 'sec-fetch-site': site}: IncomingHttpHeaders,
  port: number,
): void {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].flatMap(name =>
    port === 80 ? [name, `${name}:80`] : `${name}:${port}`,
  );
  if (!hosts.includes(host.toLowerCase()))
    throw new BridgeRefusal(403, 'The Host of the request is not this machine.');
  if (isDesktopOrigin(origin)) return;
  if (origin !== undefined) throw new BridgeRefusal(403, `Web pages may not upload files (${origin}).`);
  if (site !== undefined && site !== 'none') throw new BridgeRefusal(403, 'Web pages may not upload files.');
}

/** Throws a refusal unless the request has the secret, if there is one: as a bearer token or, without that, in X-PicGo-Secret. */
export function refuseStrangers(
  {authorization, 'x-picgo-secret': header}: IncomingHttpHeaders,
  secret: string | undefined,
): void {
  if (secret === undefined) return;
  const given =
    authorization === undefined ? String(header ?? '') : (/^Bearer +(.+)$/i.exec(authorization)?.[1] ?? '');
  if (!isSameSecret(given, secret))
    throw new BridgeRefusal(
      401,
      'The secret is missing or wrong: send it as "Authorization: Bearer SECRET".',
    );
}

/** Rejects with a refusal unless a process of this user opened the connection. */
export async function refuseOtherUsers(socket: Socket, user: number): Promise<void> {
  if ((await userOfPeer(socket)) === user) return;
  throw new BridgeRefusal(
    403,
    'Only programs of the user who runs media bridge may name files. For others, start it with a secret in MEDIA_BRIDGE_SECRET, and limit the files with --root.',
  );
}
