import type {Socket} from 'node:net';
import type {StopSignal} from '../../host.ts';
import {own} from '../../lib/object.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Path and query, starting with a slash. */
  path: string;
  /** Without Content-Length, which comes from the body. */
  headers: Record<string, string>;
  body?: Body;
  signal?: StopSignal | undefined;
}

export interface Body {
  /** Bytes. */
  readonly length: number;
  /**
   * All bytes, or a function that yields chunks, called once a socket is connected. The next chunk is asked for when
   * the one before has left the process, so that its memory may be reused. Throwing drops the request.
   */
  readonly content: Uint8Array | ((wire: Wire) => AsyncIterable<Uint8Array>);
  /** All bytes, to be sent at once if a connection is open, once `ready` resolves; if that rejects, nothing is sent. */
  readonly whole?: {readonly bytes: Uint8Array; ready(): Promise<void>} | undefined;
  /** Called once, right before the last bytes of the body, unless a response has begun; throwing drops the request. */
  release?(wire: Wire): void;
}

/** The connection, as far as a body may know it. */
export interface Wire {
  /** How long the connection took to open, TLS included, in milliseconds. */
  readonly connectMs: number;
  /** Bytes that were written but have not left the process: their memory must not be reused yet. */
  readonly unsentBytes: number;
}

/** An open connection that a body is written to. */
export type SocketWire = ReturnType<typeof wireOf>;

/** A socket as a connection that a body is written to; `connectMs`: how long it took to open. */
export function wireOf(socket: Socket, connectMs: number) {
  return {
    connectMs,
    get unsentBytes() {
      return socket.writableLength;
    },
    /** False once the connection is known to be closed: what is written then is not sent. */
    get isOpen() {
      return !socket.destroyed;
    },
    /** Resolves once everything written has left the process, or the socket is gone; `drain` comes earlier. */
    drained() {
      // Callbacks come in the order of the writes, even when the socket is destroyed.
      return new Promise<unknown>(resolve => socket.write('', resolve));
    },
  };
}

export interface HttpResponse {
  status: number;
  /** Names in lower case; repeated fields are joined with commas. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body is longer than 1 MiB: `body` is its beginning. */
  truncated: boolean;
  /** The connection broke before the end of the body: `body` is what arrived. */
  cut: boolean;
  /** Why the body could not be read further, if it is not valid HTTP/1.1. */
  fault?: string;
}

export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** The header fields of a response as in an HttpResponse. */
export function joinHeaders(fields: HeaderFields): HttpResponse['headers'] {
  const joined: HttpResponse['headers'] = Object.create(null);
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) joined[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  return joined;
}

/**
 * The response with its body decoded, which nobody asked to be encoded. If it gets longer than `maxBytes`, it counts as
 * truncated; a body that cannot be decoded stays as it is, and keeps its Content-Encoding.
 */
export async function withoutContentCoding(response: HttpResponse, maxBytes: number): Promise<HttpResponse> {
  const codings = (response.headers['content-encoding'] ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase());
  let {body} = response;
  try {
    for (const coding of codings.reverse()) body = await decodeBody(coding, body, maxBytes);
  } catch (error) {
    const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong ? {...response, body: Buffer.alloc(0), truncated: true} : response;
  }
  const {'content-encoding': _, ...headers} = response.headers;
  return {...response, headers, body};
}

/** Removes one content coding; throws for a coding that is not known, and for a body that is longer when decoded. */
async function decodeBody(coding: string, body: Buffer, maxOutputLength: number): Promise<Buffer> {
  // Loaded on first use, since few services need it.
  const {brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync} = await import('node:zlib');
  // Some servers send zlib's format, as RFC 9110 requires, others raw deflate.
  const deflate = ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync;
  const decoders = {gzip: gunzipSync, 'x-gzip': gunzipSync, br: brotliDecompressSync, deflate};
  const decode = own<typeof gunzipSync>(decoders, coding);
  if (decode !== undefined) return decode(body, {maxOutputLength});
  if (coding === 'identity') return body;
  throw new Error(`The content coding ${coding} is not known.`);
}
