import {once} from 'node:events';
import {Worker} from 'node:worker_threads';
import {expect, onTestFinished, test} from 'vitest';
import {systemHost} from '../../src/host.ts';
import {Connection} from '../../src/http/http.ts';

/** Answers when it is told to, and resets the connection, since it leaves most of the body unread. */
const server = `
const {createServer} = require('node:net');
const {parentPort, workerData: steps} = require('node:worker_threads');
const server = createServer(socket => {
  socket.on('error', () => {}).once('data', () => {
    socket.pause();
    Atomics.wait(steps, 0, 0);
    socket.write('HTTP/1.1 401 No\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nNo');
    socket.destroy();
    Atomics.store(steps, 1, 1);
    Atomics.notify(steps, 1);
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('a response that comes with a reset, between the check for it and the next write, is read', async () => {
  const steps = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(server, {eval: true, workerData: steps});
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  const {clock} = systemHost();
  const connection = new Connection(new URL(`http://127.0.0.1:${port}`), {clock, env: {}, userAgent: 'test'});
  onTestFinished(() => connection.destroy());
  const first = new Uint8Array(256 * 1024);
  const answer = await connection.request({
    method: 'POST',
    path: '/',
    headers: {},
    body: {
      length: first.length + 1,
      async *content() {
        yield first;
        yield new Uint8Array(1);
      },
      // The server answers and resets while this blocks, so that the last write is the first to find the connection reset.
      release() {
        Atomics.store(steps, 0, 1);
        Atomics.notify(steps, 0);
        Atomics.wait(steps, 1, 0);
      },
    },
  });
  expect({...answer, body: answer.body.toString()}).toMatchObject({status: 401, body: 'No', cut: false});
});
