import {expect, test} from 'vitest';
import {sendHead} from '../../../src/engine/http/http.ts';
import {openSocket} from '../../../src/engine/http/open-socket.ts';
import {systemClock} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {silentServer} from '../../support/silent-peers.ts';

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
