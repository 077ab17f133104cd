import {createServer} from 'node:net';
import {describe, expect, test} from 'vitest';
import {listen, urlOf} from '../../../support/loopback.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {someRecord} from '../../../support/scripted-server.ts';
import {fullListener} from '../../../support/silent-peers.ts';
import {summary, testEarlyResponses} from '../early-responses.ts';
import {clientOf, memorySource, sinkServer, unbufferable, uploadEach, zeroSource} from '../support.ts';

const small = Buffer.alloc(1_000, 1);

describe('a response before the whole body has come', () => {
  testEarlyResponses('a quarter of it', unbufferable / 4);

  test('200 on a connection that the server stops reading and never ends: premature_response at the stall', async () => {
    const {url} = await sinkServer({
      pauseAfter: 0,
      onPaused: socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":'),
    });
    const options = {retries: 2, timeoutMs: 200};
    const [outcome] = await uploadEach([zeroSource('a.png', unbufferable)], clientOf(url), options);
    expect(summary(outcome)).toEqual({status: 'failed', code: 'premature_response', attempts: 1});
  });
});

describe('a connection', () => {
  test('that is cut ten times while held: the tenth retry stores the file, with one key', async () => {
    let cuts = 0;
    const sink = await sinkServer({
      pauseAfter: 0,
      onPaused: socket => {
        cuts += 1;
        if (cuts === 10) sink.resume();
        if (cuts % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      },
    });
    const sources = [zeroSource('a.png', unbufferable)];
    const [outcome] = await uploadEach(sources, clientOf(sink.url), {retries: 10});
    expect(summary(outcome)).toEqual({status: 'uploaded', attempts: 11});
    const keys = sink.requests.map(({head}) => head.find(line => /^idempotency-key:/i.test(line)));
    expect(keys).toEqual(Array(11).fill(keys[0]));
  });

  test('that moves slowly, but moves, is no stall', async () => {
    // Before its last bytes leave, a file is looked at after a pause.
    const clock = Object.assign(new ManualClock(), {sleep: async () => {}});
    const timeoutMs = 60_000;
    const server = createServer(socket => {
      socket.on('error', () => {});
      let sincePause = 0;
      let total = 0;
      socket.on('data', async bytes => {
        total += bytes.length;
        sincePause += bytes.length;
        if (total > unbufferable) {
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${someRecord.length}\r\n\r\n${someRecord}`);
        }
        if (sincePause < 256 * 1024) return;
        // 6 minutes in all, and less than the timeout while all buffers on the way are emptied.
        sincePause = 0;
        socket.pause();
        await clock.advance(1_500);
        socket.resume();
      });
    });
    await listen(server);
    const client = clientOf(urlOf(server));
    const [outcome] = await uploadEach([zeroSource('a.png', unbufferable)], client, {clock, timeoutMs});
    expect(summary(outcome)).toEqual({status: 'uploaded', attempts: 1});
    expect(clock.monotonic()).toBeGreaterThan(5 * timeoutMs);
  });

  test('that is never made, since the queue of the listener is full: connect_timeout', async () => {
    const {port} = await fullListener();
    const client = clientOf(`http://127.0.0.1:${port}`, 300);
    const [outcome] = await uploadEach([memorySource('a.png', small)], client, {retries: 1});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'connect_timeout', attempts: 2});
  });
});
