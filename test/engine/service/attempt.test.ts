import {createServer} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {type Clock, systemClock} from '../../../src/host.ts';
import {eventually} from '../../support/eventually.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {settled} from '../../support/manual-clock.ts';
import {type Script, scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {silentServer} from '../../support/silent-peers.ts';
import {summary, testEarlyResponses} from './early-responses.ts';
import {
  answerText,
  clientOf,
  mebibyte,
  memorySource,
  sinkServer,
  unbufferable,
  uploadEach,
  zeroSource,
} from './support.ts';

const small = Buffer.alloc(1_000, 1);
const big = Buffer.alloc(2 * mebibyte, 2);

/** A clock that counts the timers that have not been cancelled, those that went off included. */
function countingClock(): Clock & {pending: () => number} {
  const pending = new Set<symbol>();
  return {
    ...systemClock,
    pending: () => pending.size,
    after(ms, action) {
      const timer = Symbol();
      pending.add(timer);
      const cancel = systemClock.after(ms, action);
      return () => {
        pending.delete(timer);
        cancel();
      };
    },
  };
}

describe('a response before the whole body has come', () => {
  testEarlyResponses('the head', 0);

  test('200 before anything was read: premature_response', async () => {
    let begin = () => {};
    const isSending = new Promise<void>(resolve => {
      begin = resolve;
    });
    const server = createServer({pauseOnConnect: true}, socket => {
      // Sooner, and it might be seen before the request is sent, which is then not sent at all.
      void isSending.then(() => socket.on('error', () => {}).end(answerText(200, someRecord)));
      onTestFinished(() => {
        socket.destroy();
      });
    });
    await listen(server);
    const source = zeroSource('a.png', unbufferable, {
      read: async (position, length) => {
        if (position > 2 * mebibyte) begin();
        return Buffer.alloc(Math.min(length, unbufferable - position));
      },
    });
    const [outcome] = await uploadEach([source], clientOf(urlOf(server)), {retries: 2});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'premature_response', attempts: 1});
  });

  test('103 is no response', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request(mebibyte);
      connection.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
      await connection.request();
      connection.socket.write('HTTP/1.1 102 Processing\r\n\r\n');
      connection.answer(200, someRecord);
    });
    const [outcome] = await uploadEach([memorySource('a.png', big)], clientOf(url));
    expect(summary(outcome)).toEqual({status: 'uploaded', attempts: 1});
  });

  test('100 that nobody asked for, after the whole file: no response yet, the file is stored', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      connection.answer(200, someRecord);
    });
    const [outcome] = await uploadEach([memorySource('a.png', big)], clientOf(url));
    expect(outcome).toMatchObject({status: 'uploaded', attempts: 1});
  });

  test('101 after the last byte: unknown', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
      );
    });
    const [outcome] = await uploadEach([memorySource('a.png', small)], clientOf(url), {timeoutMs: 500});
    expect(summary(outcome)).toMatchObject({status: 'unknown', code: 'outcome_unknown'});
  });
});

describe('a connection', () => {
  test('is used again for the files that follow', async () => {
    let connections = 0;
    let requests = 0;
    const {url} = await scriptedServer(connection => {
      connections += 1;
      // Each body here comes with its head, so each head is one request.
      connection.socket.on('data', bytes => {
        if (!bytes.includes('\r\n\r\n')) return;
        requests += 1;
        connection.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"id":"m_${requests % 10}"}`);
      });
    });
    const sources = ['1', '2', '3'].map(name => memorySource(name, small));
    const outcomes = await uploadEach(sources, clientOf(url));
    expect(outcomes.map(outcome => outcome.status === 'uploaded' && outcome.record.id)).toEqual([
      'm_1',
      'm_2',
      'm_3',
    ]);
    expect({connections, requests}).toEqual({connections: 1, requests: 3});
  });

  test.each([
    ['after each answer, without having said so', 0],
    ['a moment after each answer, without having said so', 20],
  ])('that the server ends %s: every file is stored once', async (_, ms) => {
    const stored: string[] = [];
    const {url} = await scriptedServer(async connection => {
      const {head, body, contentLength} = await connection.request();
      if (body.length === contentLength && contentLength > 0) stored.push(head.join('\n'));
      connection.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${someRecord.length}\r\n\r\n${someRecord}`);
      if (ms > 0) await delay(ms);
      connection.socket.end();
    });
    const sources = Array.from({length: 10}, (_, index) => memorySource(String(index), small));
    const outcomes = await uploadEach(sources, clientOf(url), {retries: 3});
    // Nothing may be called failed or stored that is not; the server may end a connection just as it is used again.
    const uploaded = outcomes.filter(outcome => outcome.status === 'uploaded').length;
    const unknown = outcomes.filter(outcome => outcome.status === 'unknown').length;
    expect(uploaded + unknown).toBe(10);
    expect(stored.length).toBeGreaterThanOrEqual(uploaded);
    expect(stored.length).toBeLessThanOrEqual(10);
  });

  test('with two responses to one request: the second is taken for nothing', async () => {
    const {url} = await scriptedServer(
      async connection => {
        await connection.request();
        const answer = (id: string) => `HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"id":"m_${id}"}`;
        connection.socket.write(answer('1') + answer('9'));
      },
      async connection => {
        await connection.request();
        connection.answer(200, '{"id":"m_2"}');
      },
    );
    const outcomes = await uploadEach(
      ['1', '2'].map(name => memorySource(name, small)),
      clientOf(url),
      {retries: 1},
    );
    const ids = outcomes.map(outcome => (outcome.status === 'uploaded' ? outcome.record.id : outcome.status));
    expect(ids).toEqual(['m_1', 'm_2']);
  });
});

describe('a proxy', () => {
  test('that says nothing to CONNECT: connect_timeout', async () => {
    const {port} = await silentServer();
    const client = clientOf('https://media.invalid', 300, {HTTPS_PROXY: `http://127.0.0.1:${port}`});
    const [outcome] = await uploadEach([memorySource('a.png', small)], client, {retries: 1});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'connect_timeout', attempts: 2});
  });
});

describe('a source', () => {
  test('whose read fails half-way: file_unreadable, no other try, the last byte never sent', async () => {
    const sink = await sinkServer();
    const source = memorySource('a.png', big, {
      read: async (position, length) => {
        if (position > big.length / 2)
          throw new MediaError('file_unreadable', 'a.png could not be read: EIO.');
        return big.subarray(position, position + length);
      },
    });
    const [outcome] = await uploadEach([source], clientOf(sink.url), {retries: 3});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'file_unreadable', attempts: 1});
    await eventually(() => sink.requests[0]?.closed);
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(big.length);
  });

  test('that is found changed before the first byte: no request is sent', async () => {
    const {url, requests} = await sinkServer();
    const verify = () => Promise.reject(new MediaError('source_changed', 'a.png changed.'));
    const [outcome] = await uploadEach([memorySource('a.png', small, {verify})], clientOf(url), {retries: 3});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'source_changed', attempts: 1});
    expect(requests).toEqual([]);
  });

  test('that was cut to nothing after it was opened: no request is sent', async () => {
    const {url, requests} = await sinkServer();
    const source = memorySource('a.png', small, {read: async () => Buffer.alloc(0)});
    const [outcome] = await uploadEach([source], clientOf(url), {retries: 3});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'source_changed', attempts: 1});
    expect(requests).toEqual([]);
  });

  test('that throws what is no MediaError: a bug, which ends the run and is not tried again', async () => {
    const {url, requests} = await sinkServer();
    const read = () => Promise.reject(new TypeError('x is not a function'));
    await expect(
      uploadEach([memorySource('a.png', small, {read})], clientOf(url), {retries: 3}),
    ).rejects.toThrow('x is not a function');
    expect(requests).toEqual([]);
  });

  test('that stops giving bytes is given up after the stall timeout', async () => {
    const {url, requests} = await sinkServer();
    const source = memorySource('a.png', big, {
      read: (position, length) =>
        position === 0 ? Promise.resolve(big.subarray(0, length)) : new Promise(() => {}),
    });
    const [outcome] = await uploadEach([source], clientOf(url), {timeoutMs: 200});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'stalled', attempts: 1});
    await eventually(() => requests[0]?.closed);
    expect(requests[0]?.bodyBytes).toBeLessThan(big.length);
  });

  test('is closed once, after the reads under way; nothing is left running when the connection broke meanwhile', async () => {
    let finishRead = () => {};
    const gate = new Promise<void>(resolve => {
      finishRead = resolve;
    });
    const events: string[] = [];
    const {url} = await scriptedServer(async connection => {
      await connection.request(1);
      connection.reset();
    });
    const source = memorySource('a.png', big, {
      read: async (position, length) => {
        if (position > 0) await gate;
        events.push('read');
        return big.subarray(position, position + length);
      },
      verify: async () => {
        events.push('verify');
        return 'unchanged';
      },
      close: async () => {
        events.push('close');
      },
    });
    const clock = countingClock();
    const [outcome] = await uploadEach([source], clientOf(url), {clock});
    expect(summary(outcome)).toEqual({status: 'failed', code: 'connection_lost', attempts: 1});
    expect(events).toEqual(['read', 'close']);
    finishRead();
    await settled();
    expect(events.filter(event => event !== 'read')).toEqual(['close']);
    expect(clock.pending()).toBe(0);
  });
});

test.each<[string, Script]>([
  [
    'a record',
    async connection => {
      await connection.request();
      connection.answer(200, someRecord);
    },
  ],
  [
    'an early 401',
    async connection => {
      await connection.request(1);
      connection.answer(401);
    },
  ],
  [
    'an early 200',
    async connection => {
      await connection.request(1);
      connection.answer(200, someRecord);
    },
  ],
  [
    'a reset early on',
    async connection => {
      await connection.request(1);
      connection.reset();
    },
  ],
  [
    'a FIN after the last byte',
    async connection => {
      await connection.request();
      connection.socket.end();
    },
  ],
  [
    'garbage',
    async connection => {
      await connection.request();
      connection.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    },
  ],
])('%s: no timer is left behind', async (_, script) => {
  const clock = countingClock();
  const {url} = await scriptedServer(script);
  expect(await uploadEach([memorySource('a.png', big)], clientOf(url), {clock})).toHaveLength(1);
  await eventually(() => clock.pending() === 0);
});
