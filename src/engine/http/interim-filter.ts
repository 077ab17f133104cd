import type {Socket} from 'node:net';

/** The longest interim response that is dropped; a longer one is left to the parser. */
const longestHead = 16 * 1024;

/**
 * Drops interim responses from what a socket receives. RFC 9110 (15.2) lets a server send them unasked, but undici
 * closes the connection at `100 Continue`, after which nobody knows whether the upload was stored, and Node takes any
 * response to CONNECT for the final one. Returns what must be called before each further request.
 */
export function dropInterimResponses(socket: Socket): () => void {
  const push = socket.push.bind(socket);
  /** Whether no final response has begun since the last request. */
  let isAwaitingFinal = true;
  let incomplete: Buffer = Buffer.alloc(0);
  socket.push = (chunk: unknown): boolean => {
    if (!isAwaitingFinal || !Buffer.isBuffer(chunk)) return push(chunk);
    const rest = withoutInterim(incomplete.length === 0 ? chunk : Buffer.concat([incomplete, chunk]));
    isAwaitingFinal = mayBecomeInterim(rest);
    incomplete = isAwaitingFinal ? rest : Buffer.alloc(0);
    return isAwaitingFinal || push(rest);
  };
  return () => {
    isAwaitingFinal = true;
  };
}

/** The bytes after all complete interim responses; an incomplete one stays. */
function withoutInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (/^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/.test(rest.toString('latin1', 0, 13))) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) break;
    rest = rest.subarray(end + 4);
  }
  return rest;
}

/** Whether these are the first bytes of an interim response that has not come whole; after 101, HTTP ends. */
function mayBecomeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  const completed = start + 'HTTP/1.1 1'.slice(start.length);
  return bytes.length < longestHead && /^HTTP\/1\.[01] 1(?!01)/.test(completed);
}
