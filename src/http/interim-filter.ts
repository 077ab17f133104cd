import type {Socket} from 'node:net';

/** The longest interim response that is dropped; a longer one is left to the parser. */
const longestHead = 16 * 1024;

/**
 * Drops interim responses from what a socket receives. RFC 9110 (15.2) lets a server send them unasked, but undici closes the
 * connection at `100 Continue`, after which nobody knows whether the upload was stored, and Node takes any response to CONNECT for
 * the final one.
 */
export class InterimFilter {
  /** Whether no final response has begun since the last request. */
  #isBefore = true;
  #held: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    const push = socket.push.bind(socket);
    socket.push = (chunk: unknown): boolean => {
      if (!this.#isBefore || !Buffer.isBuffer(chunk)) return push(chunk);
      const rest = this.#filtered(chunk);
      return rest.length === 0 || push(rest);
    };
  }

  /** Must be called before each new request. */
  expectResponse(): void {
    this.#isBefore = true;
  }

  #filtered(chunk: Buffer): Buffer {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (/^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/.test(bytes.toString('latin1', 0, 13))) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) break;
      bytes = bytes.subarray(end + 4);
    }
    if (mayBecomeInterim(bytes)) {
      this.#held = bytes;
      return Buffer.alloc(0);
    }
    this.#isBefore = false;
    return bytes;
  }
}

/** Whether these are the first bytes of an interim response that has not come whole; after 101, HTTP ends. */
function mayBecomeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  const completed = start + 'HTTP/1.1 1'.slice(start.length);
  return bytes.length < longestHead && /^HTTP\/1\.[01] 1(?!01)/.test(completed);
}
