import type {Socket} from 'node:net';
import {nextTurn} from '../host.ts';

/** The longest interim head that is dropped; a longer one is left to the parser. */
const longestHead = 16 * 1024;

/**
 * Drops `100 Continue` from what a socket receives. RFC 9110 (15.2) lets a server send it unasked, but undici then closes the
 * connection, after which nobody knows whether the upload was stored.
 */
export class ContinueFilter {
  /** Whether no response has begun since the last request. */
  #isBefore = true;
  #held: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    const read = socket.read.bind(socket);
    socket.read = (size?: number): unknown => {
      for (;;) {
        const chunk: unknown = read(size);
        if (!this.#isBefore || !Buffer.isBuffer(chunk)) return chunk;
        const rest = this.#filtered(chunk);
        if (rest.length > 0) return rest;
      }
    };
  }

  /** Must be called before each new request. */
  expectResponse(): void {
    this.#isBefore = true;
  }

  #filtered(chunk: Buffer): Buffer {
    let bytes = Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (/^HTTP\/1\.[01] 100[ \r]/.test(bytes.toString('latin1', 0, 13))) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) break;
      bytes = bytes.subarray(end + 4);
    }
    if (mayBecomeContinue(bytes)) {
      this.#held = bytes;
      return Buffer.alloc(0);
    }
    this.#isBefore = false;
    return bytes;
  }
}

/** Whether these are the first bytes of a `100 Continue` that has not come whole. */
function mayBecomeContinue(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  return bytes.length < longestHead && ['HTTP/1.1 100', 'HTTP/1.0 100'].some(head => head.startsWith(start));
}

type Done = (error?: Error | null) => void;

/**
 * Lets what a socket has received be read before a failed write ends it. A service that refuses an upload early and closes
 * sends its response first, but Node destroys a socket as soon as a write fails.
 */
export function readBeforeWritesFail(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk: unknown, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, afterReading(done));
}

function afterReading(done: Done): Done {
  return error => {
    if (error) void twoTurns().then(() => done(error));
    else done(error);
  };
}

/** The first turn may have begun after its events were taken from the system. */
async function twoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
