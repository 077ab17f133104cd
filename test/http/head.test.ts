import {expect, test} from 'vitest';
import {systemClock} from '../../src/host.ts';
import {sendHead} from '../../src/http/http.ts';
import {silentServer} from '../support/silent-peers.ts';

test.each(['before it begins', 'while it waits for TLS'])('a request aborted %s: no answer', async when => {
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
    {clock: systemClock, env: {}, userAgent: 'media/test', connectTimeoutMs: 60_000},
  );
  if (!controller.signal.aborted) await peer.reached();
  controller.abort();
  expect(await answer).toBeUndefined();
});
