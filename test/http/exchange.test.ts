import {once} from 'node:events';
import {createServer, type RequestListener} from 'node:http';
import {type AddressInfo, createServer as createNetServer, type Server} from 'node:net';
import {Worker} from 'node:worker_threads';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {expect, onTestFinished, test} from 'vitest';
import {nextTurn, type StopSignal, systemClock} from '../../src/host.ts';
import {Connection, type HttpRequest, sendHead} from '../../src/http/http.ts';
import {deadUrl} from '../service/support.ts';
import {patienceMs} from '../support/patience.ts';

const options = {clock: systemClock, env: {}, userAgent: 'media/test'};

async function connectionTo(server: Server): Promise<Connection> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return connectionAt((server.address() as AddressInfo).port, server);
}

function connectionAt(port: number, server?: Server): Connection {
  const connection = new Connection(new URL(`http://127.0.0.1:${port}`), options);
  onTestFinished(async () => {
    await connection.destroy();
    server?.close();
  });
  return connection;
}

function answering(listener: RequestListener): Promise<Connection> {
  return connectionTo(createServer(listener));
}

function post(changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    path: '/',
    headers: {},
    body: {length: 4, content: Buffer.from('body')},
    ...changes,
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

test('a response that has begun: the last chunk is not released', async () => {
  let [hasAnswered, answerWhole] = [() => {}, () => {}];
  const answered = new Promise<void>(resolve => {
    hasAnswered = resolve;
  });
  const connection = await connectionTo(
    createNetServer(socket => {
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.write('HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nN', hasAnswered);
          answerWhole = () => void socket.write('o');
        });
    }),
  );
  let isReleased = false;
  const first = Buffer.alloc(70_000);
  const answer = await connection.request(
    post({
      body: {
        length: first.length + 1,
        async *content() {
          yield first;
          await answered;
          await turns(20);
          // The rest of the response comes once the last chunk would have been sent.
          void turns(20).then(answerWhole);
          yield Buffer.alloc(1);
        },
        release() {
          isReleased = true;
        },
      },
    }),
  );
  expect({status: answer.status, isReleased}).toEqual({status: 413, isReleased: false});
});

test('requests with one signal leave nothing behind on it, and no timer', async () => {
  const listeners = new Set<() => void>();
  const signal: StopSignal = {
    aborted: false,
    reason: undefined,
    throwIfAborted() {},
    addEventListener: (_type, listener) => void listeners.add(listener),
    removeEventListener: (_type, listener) => void listeners.delete(listener),
  };
  const connection = await answering((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/broken') response.destroy();
      else response.end('x'.repeat(request.url === '/long' ? 2 * 1024 * 1024 : 1));
    });
  });
  await connection.request(post({signal}));
  expect(await connection.request(post({signal, path: '/long'}))).toMatchObject({truncated: true});
  await expect(connection.request(post({signal, path: '/broken'}))).rejects.toThrow();
  const refusing = new Connection(new URL(await deadUrl()), options);
  await expect(refusing.request(post({signal}))).rejects.toThrow('refused');
  const server = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const timers = new Set<() => void>();
  const after = (ms: number, action: () => void) => {
    const cancel = systemClock.after(ms, action);
    timers.add(cancel);
    return () => {
      timers.delete(cancel);
      cancel();
    };
  };
  const counting = {...options, clock: {...systemClock, after}};
  await sendHead({method: 'GET', url, headers: {}, waitMs: 600_000, signal}, counting);
  expect({listeners: listeners.size, timers: timers.size}).toEqual({listeners: 0, timers: 0});
});

test('a 100 that was not asked for, before each response on one connection: dropped', async () => {
  let connections = 0;
  const connection = await connectionTo(
    createNetServer(socket => {
      connections += 1;
      socket
        .on('error', () => {})
        .on('data', () => {
          socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
    }),
  );
  const get: HttpRequest = {method: 'GET', path: '/', headers: {}};
  for (let request = 0; request < 3; request += 1)
    expect((await connection.request(get)).body.toString()).toBe('ok');
  expect(connections).toBe(1);
});

const text = 'Größe: 1';
test.each<[string, Buffer]>([
  ['gzip', gzipSync(text)],
  ['br', brotliCompressSync(text)],
  ['deflate', deflateSync(text)],
  ['gzip, br', brotliCompressSync(gzipSync(text))],
  ['br, gzip', gzipSync(brotliCompressSync(text))],
])('a response coded as %s: decoded, the last coding first', async (coding, coded) => {
  const connection = await answering((request, response) => {
    request.resume().on('end', () => response.writeHead(200, {'content-encoding': coding}).end(coded));
  });
  const {body, cut, truncated} = await connection.request(post());
  expect({body: body.toString(), cut, truncated}).toEqual({body: text, cut: false, truncated: false});
});

test('an endless response: cut off, and the connection is closed', async () => {
  let closed: Promise<unknown> | undefined;
  const server = createServer((_request, response) => {
    closed = once(response, 'close');
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', write);
    write();
  });
  const connection = await connectionTo(server);
  const {truncated, body} = await connection.request(post());
  expect({truncated, bytes: body.length}).toEqual({truncated: true, bytes: 1_048_576});
  await closed;
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const signal = new AbortController().signal;
  const answer = await sendHead({method: 'GET', url, headers: {}, waitMs: 600_000, signal}, options);
  expect({truncated: answer?.truncated, bytes: answer?.body.length}).toEqual({
    truncated: true,
    bytes: 65_536,
  });
  await closed;
});

/** A server in another thread, so that it closes its first connection after a response while this one is blocked. */
const closingServer = `
const {createServer} = require('node:net');
const {parentPort, workerData: steps} = require('node:worker_threads');
let connections = 0;
const server = createServer(socket => {
  connections += 1;
  const isFirst = connections === 1;
  const close = () => {
    Atomics.wait(steps, 0, 0);
    socket.end(() => {
      Atomics.store(steps, 1, 1);
      Atomics.notify(steps, 1);
    });
  };
  socket.on('error', () => {});
  socket.on('data', () => {
    socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok');
    if (isFirst) setImmediate(close);
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('a connection that is closed after a request while this process is busy: the next one goes over another', async () => {
  const steps = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(closingServer, {eval: true, workerData: steps});
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  const connection = connectionAt(port);
  await connection.request(post());
  Atomics.store(steps, 0, 1);
  Atomics.notify(steps, 0);
  Atomics.wait(steps, 1, 0, patienceMs);
  let releases = 0;
  const body = {
    length: 4,
    content: Buffer.from('body'),
    release() {
      releases += 1;
    },
  };
  expect(await connection.request(post({body}))).toMatchObject({status: 200});
  expect(releases).toBe(1);
});

/** Speaks as soon as it has accepted a connection. */
const rudeServer = `
const {createServer} = require('node:net');
const {parentPort, workerData: steps} = require('node:worker_threads');
const server = createServer(socket => {
  socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6\\r\\n', () => {
    Atomics.store(steps, 0, 1);
    Atomics.notify(steps, 0);
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('a service that speaks before it is asked: not_http, with what it said, and nothing is sent', async () => {
  const steps = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(rudeServer, {eval: true, workerData: steps});
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  let isReleased = false;
  const body = {
    length: 4,
    content: Buffer.from('body'),
    release() {
      isReleased = true;
    },
  };
  const answer = connectionAt(port).request(post({body}));
  // It has spoken before this process learns that the connection is open.
  queueMicrotask(() => queueMicrotask(() => process.nextTick(() => Atomics.wait(steps, 0, 0, patienceMs))));
  await expect(answer).rejects.toMatchObject({
    code: 'not_http',
    message: `127.0.0.1:${port} sent data before it received a request: "SSH-2.0-OpenSSH_9.6".`,
  });
  expect(isReleased).toBe(false);
});
