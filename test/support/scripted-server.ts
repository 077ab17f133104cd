import {createServer, type Server, type Socket} from 'node:net';
import {listen, urlOf} from './loopback.ts';

/** One request as it was received. */
export interface RawRequest {
  /** The request line and header lines, unchanged and in order. */
  head: string[];
  /** The bytes of the body that were received so far. */
  readonly body: Buffer;
  readonly bodyBytes: number;
  /** The Content-Length of the request, 0 without one. */
  contentLength: number;
}

/** What the server does with one connection, given what has been received of the request. */
export type Script = (connection: ScriptedConnection) => Promise<void> | void;

/** A connection that a script controls. */
export class ScriptedConnection {
  readonly socket: Socket;
  /** The request, from the end of its head on; its body grows. */
  arriving: RawRequest | undefined;
  readonly #received = new Received();
  #ended = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', chunk => {
      this.#received.add(chunk);
      this.arriving ??= parse(this.#received);
      this.#wake();
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /**
   * Waits for the head and at least `bodyBytes` of the body (all of it by default), or for the end of the connection.
   * Does not wait for the byte that a check of the upload path announces, since it is never sent.
   */
  async request(bodyBytes = Number.POSITIVE_INFINITY): Promise<RawRequest> {
    for (;;) {
      const request = this.arriving;
      if (request !== undefined && (isUploadLook(request) || hasBytes(request, bodyBytes))) return request;
      if (this.#ended) return request ?? {head: [], body: Buffer.alloc(0), bodyBytes: 0, contentLength: 0};
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Everything received so far. */
  get received(): Buffer {
    return this.#received.bytes;
  }

  /** Sends a complete response with Content-Length and ends the connection. */
  answer(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): void {
    const bytes = Buffer.from(body);
    const fields = {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      connection: 'close',
      ...headers,
    };
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${head.join('')}\r\n`), bytes]));
  }

  /** Cuts the connection with a TCP reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Bytes that arrive in chunks. */
class Received {
  length = 0;
  #chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.length += chunk.length;
  }

  get bytes(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }
}

function hasBytes({bodyBytes, contentLength}: RawRequest, wanted: number): boolean {
  return bodyBytes >= Math.min(wanted, contentLength);
}

/** Whether this asks the upload path without a file, as login, doctor and a run do. */
export function isUploadLook({head, contentLength}: RawRequest): boolean {
  return contentLength === 1 && head.includes('content-type: text/plain');
}

/** The uploads among requests, without the questions that ask the upload path without a file. */
export function uploadsIn(requests: readonly RawRequest[]): RawRequest[] {
  return requests.filter(request => /^POST /.test(request.head[0] ?? '') && !isUploadLook(request));
}

function parse(received: Received): RawRequest | undefined {
  const {bytes} = received;
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const length = head
    .map(line => /^content-length: *(\d+)$/i.exec(line)?.[1])
    .find(value => value !== undefined);
  const bodyStart = end + 4;
  return {
    head,
    get body() {
      return received.bytes.subarray(bodyStart);
    },
    get bodyBytes() {
      return received.length - bodyStart;
    },
    contentLength: Number(length ?? 0),
  };
}

/** A server on loopback that does exactly what the test says, byte for byte; it ends with the test. */
export async function scriptedServer(
  ...scripts: Script[]
): Promise<{url: string; requests: RawRequest[]; server: Server}> {
  const requests: RawRequest[] = [];
  let connected = 0;
  const server = createServer({allowHalfOpen: true}, socket => {
    const connection = new ScriptedConnection(socket);
    const script = scripts[Math.min(connected, scripts.length - 1)];
    connected += 1;
    // A program that has read its response may end before its connection has closed here: a request counts from its head on.
    const count = () => {
      if (connection.arriving === undefined) return;
      requests.push(connection.arriving);
      socket.off('data', count);
    };
    socket.on('data', count);
    void script?.(connection);
  });
  await listen(server);
  return {url: urlOf(server), requests, server};
}

/** A record as the service would return it. */
export const someRecord =
  '{"id":"m_1","type":"IMAGE","urls":[{"variant":"PUBLIC","url":"https://cdn.example/m_1"}]}';
