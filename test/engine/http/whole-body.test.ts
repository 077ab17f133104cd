import {type AddressInfo, createServer, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {type Body, Connection} from '../../../src/engine/http/http.ts';
import {systemHost} from '../../../src/host.ts';

/** A server that answers each body, and keeps what each connection received. */
async function served() {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer(socket => {
    const number = sockets.push(socket) - 1;
    received[number] = '';
    let answered = 0;
    socket.setEncoding('latin1').on('error', () => {});
    socket.on('data', (text: string) => {
      received[number] += text;
      const bodies = (received[number] ?? '').split('\r\n\r\nbody').length - 1;
      for (; answered < bodies; answered += 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const {port} = server.address() as AddressInfo;
  const {clock} = systemHost();
  const connection = new Connection(new URL(`http://127.0.0.1:${port}`), {
    clock,
    env: {},
    headers: {'user-agent': 'test'},
  });
  onTestFinished(async () => {
    await connection.destroy();
    server.close();
  });
  const send = (body: Partial<Body>) =>
    connection.request({
      method: 'POST',
      path: '/',
      headers: {},
      body: {
        length: 4,
        async *content() {
          yield Buffer.from('body');
        },
        ...body,
      },
    });
  return {received, sockets, send};
}

/** A body in memory, whether it may be sent, and how it was sent. */
function whole(ready: () => Promise<void>) {
  const calls: string[] = [];
  const body = {
    async *content() {
      calls.push('in chunks');
      yield Buffer.from('body');
    },
    whole: {
      bytes: Buffer.from('body'),
      async ready() {
        calls.push('asked');
        await ready();
      },
    },
    release() {
      calls.push('released');
    },
  };
  return {body, calls};
}

test('a body in memory: asked for only where a connection is open, and nothing is sent before it is ready', async () => {
  const {received, sockets, send} = await served();
  const first = whole(async () => {});
  await send(first.body);
  expect(first.calls).toEqual(['in chunks', 'released']);
  const before = received[0];
  let atReady: string | undefined;
  const second = whole(async () => {
    // Whatever was sent by now is on its way back here.
    await new Promise(resolve => sockets[0]?.write('', resolve));
    await new Promise(setImmediate);
    atReady = received[0];
  });
  expect(await send(second.body)).toMatchObject({status: 200});
  expect(atReady).toBe(before);
  expect(second.calls).toEqual(['asked', 'released']);
  expect(received.join('').split('POST / HTTP/1.1')).toHaveLength(3);
});

test('one that will not be ready: nothing of it is sent, and the next request gets a response', async () => {
  const {received, send} = await served();
  await send({});
  const before = received[0];
  const {body, calls} = whole(() => Promise.reject(new Error('The disk is full.')));
  await expect(send(body)).rejects.toThrow('The disk is full.');
  expect({calls, now: received}).toEqual({calls: ['asked'], now: [before]});
  expect(await send({})).toMatchObject({status: 200});
});

test('a connection that is closed before the body is ready: it is released on another, once', async () => {
  const {received, sockets, send} = await served();
  await send({});
  const {body, calls} = whole(async () => {
    const socket = sockets[0];
    await new Promise(resolve => socket?.once('close', resolve).end());
  });
  expect(await send(body)).toMatchObject({status: 200});
  expect(calls).toEqual(['asked', 'released']);
  expect(received.map(text => text.split('POST / HTTP/1.1').length - 1)).toEqual([1, 1]);
});

test('a connection that was closed meanwhile: the body is not taken for one that may be sent at once', async () => {
  const {sockets, send} = await served();
  await send({});
  await new Promise(resolve => sockets[0]?.once('close', resolve).end());
  const {body, calls} = whole(async () => {});
  expect(await send(body)).toMatchObject({status: 200});
  expect(calls).toEqual(['in chunks', 'released']);
});
