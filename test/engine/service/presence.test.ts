import {expect, test} from 'vitest';
import {ServiceClient} from '../../../src/engine/service/client.ts';
import {MediaError} from '../../../src/errors.ts';
import {systemHost} from '../../../src/host.ts';
import {Secret} from '../../../src/lib/secrets/secret.ts';
import {Stop} from '../../../src/lib/stop.ts';

/** A status, an error that connecting ends with, or undefined for silence. */
type Reply = number | MediaError | undefined;

async function reply(what: Reply) {
  if (what instanceof MediaError) throw what;
  if (what === undefined) return undefined;
  return {status: what, headers: {}, body: Buffer.alloc(0), truncated: false, cut: false};
}

const refused = new MediaError('connection_refused', 'Nothing is listening.');
const noTunnel = new MediaError('proxy_failed', 'The proxy refused (503).', {status: 503});
const needsLogin = new MediaError('proxy_failed', 'The proxy asks for credentials (407).', {status: 407});

test.each<[post: Reply, get: Reply, expected: string | undefined]>([
  [415, undefined, undefined],
  [500, undefined, undefined],
  [503, undefined, 'It returned 503.'],
  // As nginx and others that wait for the body.
  [undefined, 404, undefined],
  [undefined, 502, 'It returned 502.'],
  [undefined, 504, 'It returned 504.'],
  [undefined, undefined, 'It did not respond.'],
  [refused, refused, 'Nothing is listening.'],
  [noTunnel, noTunnel, 'The proxy refused (503).'],
  [needsLogin, needsLogin, undefined],
])('POST: %s, GET: %s: %s', async (post, get, expected) => {
  const address = {baseUrl: new URL('https://media.example')};
  const options = {clock: systemHost().clock, env: {}, headers: {'user-agent': 'test'}};
  const client = new ServiceClient(address, new Secret('key'), options);
  client.askUploadPath = async method => reply(method === 'GET' ? get : post);
  expect(await client.probeAvailability(new Stop())).toBe(expected);
});
