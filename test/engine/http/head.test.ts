import {createServer, isIP} from 'node:net';
import {expect, test} from 'vitest';
import {type ConnectionOptions, traceOf} from '../../../src/engine/http/connection-options.ts';
import {sendHead} from '../../../src/engine/http/http.ts';
import {openSocket} from '../../../src/engine/http/open-socket.ts';
import {systemClock} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {eventually} from '../../support/eventually.ts';
import {notRun} from '../../support/installed.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {ManualClock} from '../../support/manual-clock.ts';
import {silentServer} from '../../support/silent-peers.ts';
import {deadUrl} from '../service/support.ts';

test.each(['before it begins', 'while it waits for TLS'])('a request aborted %s: no response', async when => {
  const peer = await silentServer();
  const controller = new AbortController();
  if (when === 'before it begins') controller.abort();
  const answer = sendHead(
    {
      method: 'POST',
      url: new URL(`https://127.0.0.1:${peer.port}/`),
      headers: {},
      waitMs: 60_000,
      signal: controller.signal,
    },
    {clock: systemClock, env: {}, headers: {'user-agent': 'media/test'}, connectTimeoutMs: 60_000},
  );
  if (!controller.signal.aborted) await peer.reached();
  controller.abort();
  expect(await answer).toBeUndefined();
});

test('a time limit that passes at any moment: the opening of a connection through a silent proxy always ends', async () => {
  const {port} = await silentServer();
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const env = {HTTPS_PROXY: `http://127.0.0.1:${port}`};
    const options = {
      clock: systemClock,
      env,
      headers: {'user-agent': 'media/test'},
      connectTimeoutMs: 1 + (attempt % 3),
    };
    const opening = openSocket(new URL('https://media.invalid'), options, new Stop());
    await expect(opening).rejects.toMatchObject({code: 'connect_timeout'});
  }
});

test.for<[what: string, family: number | undefined, expected: string[]]>([
  ['nothing is known of', undefined, ['127.0.0.2', '::1', '127.0.0.3', '127.0.0.4']],
  ['was reached by IPv4', 4, ['127.0.0.2', '::1', '127.0.0.3', '127.0.0.4']],
  ['was reached by IPv6', 6, ['::1', '127.0.0.2', '127.0.0.3', '127.0.0.4']],
])(
  'a host that %s: its addresses are tried by turns of IPv4 and IPv6',
  async ([, family, expected], context) => {
    if (process.platform !== 'linux') notRun(context, 'only Linux has all of 127.0.0.0/8');
    const lines: string[] = [];
    const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '::1'].map(address => ({
      address,
      family: isIP(address),
    }));
    const lookup: ConnectionOptions['lookup'] = (_name, _options, callback) => callback(null, addresses);
    const families = new Map(family === undefined ? [] : [['media.invalid', family]]);
    const trace = traceOf('1', line => lines.push(line), systemClock);
    const port = new URL(await deadUrl()).port;
    const options = {clock: systemClock, env: {}, headers: {}, lookup, families};
    const opening = openSocket(new URL(`http://media.invalid:${port}`), options, new Stop(), trace);
    await expect(opening).rejects.toMatchObject({code: 'connection_refused'});
    const tried = lines.flatMap(line => /connect: (\S+) port/.exec(line)?.[1] ?? []);
    expect(tried).toEqual(expected);
  },
);

test('a proxy that takes 6 s, and then a service that takes TLS nowhere: each step has its own limit of 10 s', async () => {
  let [answer, isTls] = [undefined as (() => void) | undefined, false];
  const server = createServer(socket => {
    socket
      .on('error', () => {})
      .on('data', bytes => {
        if (bytes.toString().startsWith('CONNECT')) answer = () => socket.write('HTTP/1.1 200 OK\r\n\r\n');
        else isTls = true;
      });
  });
  await listen(server);
  const clock = new ManualClock();
  const options = {clock, env: {HTTPS_PROXY: urlOf(server)}, headers: {}};
  let failure: unknown;
  const opening = openSocket(new URL('https://media.invalid'), options, new Stop()).catch(error => {
    failure = error;
  });
  await eventually(() => answer !== undefined);
  await clock.advance(6_000);
  answer?.();
  await eventually(() => isTls);
  await clock.advance(9_000);
  expect(failure).toBeUndefined();
  await clock.advance(1_000);
  await opening;
  expect(failure).toMatchObject({code: 'connect_timeout'});
});
