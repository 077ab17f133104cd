import {once} from 'node:events';
import {createServer, type RequestListener} from 'node:http';
import {type AddressInfo, createServer as createNetServer, type Server, type Socket} from 'node:net';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {expect, onTestFinished, test} from 'vitest';
import {type Body, Connection, type HttpRequest, sendHead} from '../../../src/engine/http/http.ts';
import {nextTurn, type StopSignal, systemClock} from '../../../src/host.ts';
import {threadedServer} from '../../support/threaded-server.ts';
import {deadUrl} from '../service/support.ts';

const options = {clock: systemClock, env: {}, headers: {'user-agent': 'media/test'}};

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

/** A body of four bytes, and whether its last bytes were released. */
function released({content}: Pick<Body, 'content'>) {
  const calls: string[] = [];
  return {calls, body: {length: 4, content, release: () => void calls.push('released')}};
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
  const dead = new URL(await deadUrl());
  await expect(new Connection(dead, counting).request(post({signal}))).rejects.toThrow('refused');
  await expect(
    sendHead({method: 'GET', url: dead, headers: {}, waitMs: 1, signal}, counting),
  ).rejects.toThrow();
  expect({listeners: listeners.size, timers: timers.size}).toEqual({listeners: 0, timers: 0});
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

test('a connection that is closed after a request while this process is busy: the next one goes over another', async () => {
  const {port, allow, waitFor} = await threadedServer(`socket => {
    const isFirst = !server.isUsed;
    server.isUsed = true;
    const close = () => {
      allowed(0);
      socket.end(() => done(1));
    };
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok');
      if (isFirst) setImmediate(close);
    });
  }`);
  const connection = connectionAt(port);
  await connection.request(post());
  allow(0);
  waitFor(1);
  const {body, calls} = released({content: Buffer.from('body')});
  expect(await connection.request(post({body}))).toMatchObject({status: 200});
  expect(calls).toEqual(['released']);
});

test('a service that speaks before it is asked: not_http, with what it said, nothing is sent, and it is left', async () => {
  const {port, waitFor} = await threadedServer(`socket => {
    socket.write('SSH-2.0-OpenSSH_9.6\\r\\n', () => done(0));
    socket.resume().on('close', () => done(1));
  }`);
  const {body, calls} = released({content: Buffer.from('body')});
  const answer = connectionAt(port).request(post({body}));
  // It has spoken before this process learns that the connection is open.
  queueMicrotask(() => queueMicrotask(() => process.nextTick(() => waitFor(0))));
  await expect(answer).rejects.toMatchObject({
    code: 'not_http',
    message: `127.0.0.1:${port} sent data before it received a request: "SSH-2.0-OpenSSH_9.6".`,
  });
  expect(calls).toEqual([]);
  waitFor(1);
});

test('a refusal that comes while this process is busy, before the last chunk: that chunk is not released', async () => {
  const {port, allow, waitFor} = await threadedServer(`socket => {
    socket.once('data', () => {
      allowed(0);
      socket.end('HTTP/1.1 413 No\\r\\nContent-Length: 2\\r\\n\\r\\nNo', () => done(1));
    });
  }`);
  const {body, calls} = released({
    async *content() {
      yield Buffer.from('bod');
      allow(0);
      waitFor(1);
      yield Buffer.from('y');
    },
  });
  expect(await connectionAt(port).request(post({body}))).toMatchObject({status: 413});
  expect(calls).toEqual([]);
});

test('a connection that is lost before the last chunk: that chunk is not released', async () => {
  const connection = await connectionTo(
    createNetServer(socket => socket.once('data', () => socket.destroy())),
  );
  let [fail, end] = [() => {}, () => {}];
  const [failed, ended] = [
    new Promise<void>(resolve => {
      fail = resolve;
    }),
    new Promise<void>(resolve => {
      end = resolve;
    }),
  ];
  const {body, calls} = released({
    async *content() {
      try {
        yield Buffer.from('bod');
        await failed;
        yield Buffer.from('y');
      } finally {
        end();
      }
    },
  });
  await expect(connection.request(post({body}))).rejects.toThrow();
  fail();
  await ended;
  expect(calls).toEqual([]);
});

test('a request that was aborted before: rejected, and no connection is opened for it', async () => {
  let connections = 0;
  const server = createServer((_request, response) => void response.end());
  server.on('connection', () => {
    connections += 1;
  });
  const connection = await connectionTo(server);
  const reason = new Error('Stopped.');
  await expect(connection.request(post({signal: AbortSignal.abort(reason)}))).rejects.toBe(reason);
  expect(await connection.request(post())).toMatchObject({status: 200});
  expect(connections).toBe(1);
});

test('a request that is aborted right before it is written to an open connection: rejected, not released', async () => {
  const connection = await answering((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await connection.request(post());
  const controller = new AbortController();
  const reason = new Error('Stopped.');
  const {signal} = controller;
  const listen = signal.addEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: () => void) => {
    listen(type, listener);
    queueMicrotask(() => controller.abort(reason));
  };
  const {body, calls} = released({
    async *content() {
      yield Buffer.from('body');
    },
  });
  await expect(connection.request(post({signal, body}))).rejects.toBe(reason);
  expect(calls).toEqual([]);
});

test('a connection that is destroyed while a proxy is silent: closed at once', async () => {
  const proxy = createNetServer().listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const env = {HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`};
  const connection = new Connection(new URL('https://media.invalid'), {
    ...options,
    env,
    connectTimeoutMs: 600_000,
  });
  const answer = connection.request(post()).catch(error => error);
  const [socket] = (await once(proxy, 'connection')) as [Socket];
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await connection.destroy();
  await closed;
  expect(await answer).toBeInstanceOf(Error);
});
