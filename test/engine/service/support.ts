import {open, writeFile} from 'node:fs/promises';
import {createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import type {ConnectionOptions} from '../../../src/engine/http/http.ts';
import {ServiceClient} from '../../../src/engine/service/client.ts';
import type {Uploader} from '../../../src/engine/service/uploader.ts';
import type {OpenSource, Source} from '../../../src/engine/sources/open/source.ts';
import {
  type TransferObserver,
  type TransferOptions,
  uploadBatch,
} from '../../../src/engine/transfer/batch.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {systemClock} from '../../../src/host.ts';
import {Secret} from '../../../src/lib/secrets/secret.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {afterTest} from '../../support/after-test.ts';
import {deadPort} from '../../support/free-ports.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {patienceMs} from '../../support/patience.ts';
import {someRecord} from '../../support/scripted-server.ts';

export const mebibyte = 1024 * 1024;

/** More than the buffers of two kernels hold: who sends so much waits for whoever reads it. */
export const unbufferable = 64 * mebibyte;

const pngStart = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Writes a file that begins as a PNG and goes on with bytes that no two blocks share; returns its path. */
export async function writePng(directory: string, name: string, size: number): Promise<string> {
  const bytes = Buffer.alloc(size);
  for (let offset = 0; offset + 4 <= size; offset += 4)
    bytes.writeUInt32LE(Math.imul(offset, 2654435761) >>> 0, offset);
  pngStart.copy(bytes);
  const path = join(directory, name);
  await writeFile(path, bytes);
  return path;
}

/** Writes a file of any size that takes no room on the disk. */
export async function writeSparsePng(directory: string, name: string, size: number): Promise<string> {
  const path = join(directory, name);
  const file = await open(path, 'w');
  await file.write(pngStart);
  await file.truncate(size);
  await file.close();
  return path;
}

/** One request that a sink has received, as far as it has come. */
export interface SinkRequest {
  /** The request line and header lines. */
  head: string[];
  contentLength: number;
  /** Bytes of the body that came. */
  bodyBytes: number;
  /** Whether the connection has ended. */
  closed: boolean;
}

export interface SinkOptions {
  /** Stops reading once the head and so many bytes of the body have come, until `resume` is called. */
  pauseAfter?: number;
  /** Called whenever reading has stopped. */
  onPaused?: (socket: Socket) => void;
  /** Called once when the whole body has come; by default it is answered with a record. */
  onWhole?: (socket: Socket) => void;
}

export interface Sink {
  url: string;
  server: Server;
  requests: SinkRequest[];
  /** Resolves when reading has stopped for the first time. */
  paused: Promise<void>;
  /** Reads on, on every connection. */
  resume(): void;
}

/** A server on loopback that counts bodies of any size and keeps none of them. */
export async function sinkServer(options: SinkOptions = {}): Promise<Sink> {
  const requests: SinkRequest[] = [];
  const sockets = new Set<Socket>();
  let pauseAfter = options.pauseAfter ?? Number.POSITIVE_INFINITY;
  let onPaused = () => {};
  const paused = new Promise<void>(resolve => {
    onPaused = resolve;
  });
  const server = createServer(socket => {
    sockets.add(socket);
    const request: SinkRequest = {head: [], contentLength: 0, bodyBytes: 0, closed: false};
    let pending = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => {
      request.closed = true;
    });
    socket.on('data', bytes => {
      if (request.head.length === 0) {
        pending = Buffer.concat([pending, bytes]);
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) return;
        request.head = pending.subarray(0, end).toString('latin1').split('\r\n');
        request.contentLength = Number(/^content-length: *(\d+)$/im.exec(request.head.join('\n'))?.[1]);
        request.bodyBytes = pending.length - end - 4;
        requests.push(request);
      } else {
        request.bodyBytes += bytes.length;
      }
      if (request.bodyBytes >= pauseAfter) {
        socket.pause();
        onPaused();
        options.onPaused?.(socket);
      }
      if (request.bodyBytes === request.contentLength && !socket.writableEnded)
        (options.onWhole ?? answerWithRecord)(socket);
    });
  });
  await listen(server);
  const resume = () => {
    pauseAfter = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.resume();
  };
  return {url: urlOf(server), server, requests, paused, resume};
}

function answerWithRecord(socket: Socket): void {
  socket.end(answerText(200, someRecord));
}

/** A whole HTTP answer. */
export function answerText(status: number, body: string): string {
  return `HTTP/1.1 ${status} Status\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The URL of a port that nothing listens on. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await deadPort()}`;
}

/** A client of the service at `url` for the current test. */
export function clientOf(
  url: string,
  connectTimeoutMs?: number,
  env: ConnectionOptions['env'] = {},
): ServiceClient {
  const client = new ServiceClient({baseUrl: new URL(url)}, new Secret('key-of-the-test'), {
    clock: systemClock,
    env,
    headers: {'user-agent': 'media/test'},
    connectTimeoutMs,
  });
  afterTest(() => client.close());
  return client;
}

/** A source of bytes in memory; `changes` replaces parts of it. */
export function memorySource(name: string, bytes: Uint8Array, changes: Partial<OpenSource> = {}): Source {
  const opened: OpenSource = {
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
    verify: async () => 'unchanged',
    close: async () => {},
    ...changes,
  };
  return {name, open: async () => opened};
}

/** A source of zeros that takes no room. */
export function zeroSource(name: string, size: number, changes: Partial<OpenSource> = {}): Source {
  const zeros = Buffer.alloc(mebibyte);
  const read = async (position: number, length: number) =>
    zeros.subarray(0, Math.min(length, size - position));
  return memorySource(name, zeros, {size, read, ...changes});
}

/** Heeds nothing that it is told. */
export const noObserver: TransferObserver = {
  started: () => {},
  progress: () => {},
  finished: () => {},
  retrying: () => {},
  unavailable: () => {},
  warning: () => {},
};

/** Uploads the sources with a client of the real wire and returns what became of each. */
export async function uploadEach(
  sources: Iterable<Source>,
  uploader: Uploader,
  options: Partial<TransferOptions> = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const all = uploadBatch(sources, {
    uploader,
    host: 'the test service',
    clock: systemClock,
    random: () => 0,
    uuid: () => crypto.randomUUID(),
    contentType: async () => ({contentType: 'image/png'}),
    typeRule: 'extension',
    retries: 0,
    ...{timeoutMs: patienceMs, retryMaxWaitMs: 300_000},
    several: false,
    onUnknown: 'hold',
    dryRun: false,
    stop: new Stop(),
    concurrency: 1,
    observer: noObserver,
    ...options,
  });
  for await (const outcome of all) if (outcome.status !== 'left out') outcomes.push(outcome);
  return outcomes;
}
