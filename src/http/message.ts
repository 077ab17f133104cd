import type {StopSignal} from '../host.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Path and query, beginning with a slash. */
  path: string;
  /** Without Content-Length, which is the body's. */
  headers: Record<string, string>;
  body?: Body;
  signal?: StopSignal | undefined;
}

/** What is sent after the head of a request. */
export interface Body {
  /** Bytes. */
  readonly length: number;
  /**
   * All of it, where it is at hand; otherwise what makes its chunks, called once a socket is connected. A chunk is asked for
   * when the one before has left the process: its memory may be written to again then. Throws to drop the request.
   */
  readonly content: Uint8Array | ((wire: Wire) => AsyncIterable<Uint8Array>);
  /**
   * Called once, on an open connection, when nothing stands any more between the body's last bytes and their write; never
   * after the answer has begun. Throws to drop the request.
   */
  release?(): void;
}

/** What the maker of a body may know of the connection that it is written to. */
export interface Wire {
  /** How long the connection took to open, TLS included, in milliseconds. */
  readonly connectMs: number;
  /** Bytes that have been handed to the connection and have not left the process: their memory is not free yet. */
  readonly unsentBytes: number;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case; repeated fields joined with a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer than 1 MiB: `body` holds its beginning. */
  truncated: boolean;
  /** The connection failed before the body's end: `body` holds what came. */
  cut: boolean;
}
