import {once} from 'node:events';
import {Worker} from 'node:worker_threads';
import {onTestFinished} from 'vitest';
import {patienceMs} from './patience.ts';

/** A server in another thread, which goes on while this one is blocked. */
export interface ThreadedServer {
  port: number;
  /** Tells the server that it may take a step. */
  allow(step: number): void;
  /** Blocks this thread until the server has taken a step. */
  waitFor(step: number): void;
}

/**
 * Starts a server on loopback until the test has finished. `listener` is the source of a function of a socket, in which
 * `done(step)` tells that a step was taken, and `allowed(step)` waits until it may be taken.
 */
export async function threadedServer(listener: string): Promise<ThreadedServer> {
  const steps = new Int32Array(new SharedArrayBuffer(16));
  const source = `
    const {createServer} = require('node:net');
    const {parentPort, workerData: steps} = require('node:worker_threads');
    const allowed = step => Atomics.wait(steps, step, 0);
    const done = step => {
      Atomics.store(steps, step, 1);
      Atomics.notify(steps, step);
    };
    const server = createServer(${listener});
    server.on('connection', socket => socket.on('error', () => {}));
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  `;
  const worker = new Worker(source, {eval: true, workerData: steps});
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    port,
    allow(step) {
      Atomics.store(steps, step, 1);
      Atomics.notify(steps, step);
    },
    waitFor(step) {
      if (Atomics.wait(steps, step, 0, patienceMs) === 'timed-out')
        throw new Error('The server did nothing.');
    },
  };
}
