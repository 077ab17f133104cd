import type {Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import {buildConnector, Client} from 'undici';
import type {MediaError} from './errors.ts';
import type {Clock, StopSignal} from './host.ts';
import {describeConnectError, isCertificateAlert} from './http-errors.ts';
import {Exchange} from './http-exchange.ts';
import {proxyFor, tunnelThrough} from './http-proxy.ts';
import {HttpTrace} from './http-trace.ts';

/** Numbers the connections that are traced, so that their lines can be told apart. */
let tracedConnections = 0;

/** How long an idle connection may be used again: servers commonly close theirs after 5 s. */
const idleMs = 4_000;

/**
 * How long one address of a host is tried before the next. Node gives an address up then, and 250 ms unless it is told
 * otherwise: less than a slow line takes.
 */
const addressTimeoutMs = 1_000;

export interface ConnectionOptions {
  clock: Clock;
  userAgent: string;
  connectTimeoutMs?: number;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string;
  /** Told of each phase, with its time. */
  trace?: (message: string) => void;
  /** What to show a service that asks for a certificate, as PEM text. */
  clientCertificate?: {certificate: string; key: string};
}

/** What a request body may know of the connection that it is written to. */
export interface Wire {
  /** False once the connection is known to have ended: nothing that is written then is sent. */
  readonly open: boolean;
  /** Whether the head of the answer has arrived. */
  readonly answered: boolean;
  /** Resolves, never rejects, once the answer has been read to its end or the request has failed. */
  readonly settled: Promise<void>;
  /** How long the connection took to open, TLS included, in milliseconds. */
  readonly connectMs: number;
}

/** A body that is made while it is sent; it is asked for its first chunk only once a socket is connected. */
export type BodyWriter = (wire: Wire) => AsyncIterable<Uint8Array>;

/** A body that is at hand. */
export interface WholeBody {
  bytes: Uint8Array;
  /** Called once a socket is connected, with nothing between it and the write; what it throws drops the request. */
  release(): void;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Path and query, beginning with a slash. */
  path: string;
  headers: Record<string, string>;
  body?: string | BodyWriter | WholeBody;
  signal?: StopSignal;
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

/**
 * One keep-alive HTTP/1.1 connection to one origin, for one request at a time. Never follows a redirect, never
 * repeats a request, and has no timeout of its own after connecting: whoever sends decides how long to wait.
 */
export class Connection {
  readonly #origin: URL;
  readonly #client: Client;
  readonly #userAgent: string;
  readonly #trace: HttpTrace | undefined;
  #connectMs = 0;
  #socket: Socket | undefined;
  /** What became of a connection that looked open to us and never was to the service. */
  #refusal: MediaError | undefined;

  constructor(origin: URL, options: ConnectionOptions) {
    if (options.trace !== undefined) {
      tracedConnections += 1;
      this.#trace = new HttpTrace(`connection ${tracedConnections}`, options.trace, options.clock);
    }
    const connect = connector(origin, options, this.#trace);
    this.#origin = origin;
    this.#userAgent = options.userAgent;
    this.#client = new Client(origin.origin, {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      connect: (parameters, callback) => {
        const start = options.clock.monotonic();
        connect(parameters, (error, socket) => {
          this.#connectMs = options.clock.monotonic() - start;
          if (error) {
            callback(describeConnectError(error, origin), null);
          } else {
            this.#socket = socket;
            this.#watchForRefusal(socket);
            callback(null, socket);
          }
        });
      },
    });
  }

  /**
   * Sends one request and reads its answer. Rejects with a MediaError when no connection could be made (nothing was
   * sent then), with the signal's reason when aborted, and with whatever broke the connection otherwise.
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    this.#trace?.restart();
    const exchange = new Exchange(request, this.#trace);
    this.#client.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: {'user-agent': this.#userAgent, 'accept-encoding': 'identity', ...request.headers},
        body: this.#body(request.body, exchange) as never,
      },
      exchange,
    );
    try {
      const answer = await exchange.answer;
      this.#trace?.phase('answered', `${answer.body.length} bytes${answer.cut ? ', cut off' : ''}`);
      return answer;
    } catch (error) {
      throw this.#refusal ?? error;
    }
  }

  #body(
    body: HttpRequest['body'],
    exchange: Exchange,
  ): string | Uint8Array | AsyncIterable<Uint8Array> | null {
    if (typeof body === 'function') return deferred(body, () => this.#wire(exchange), this.#trace);
    return typeof body === 'object' ? body.bytes : (body ?? null);
  }

  /**
   * With TLS 1.3 a service judges our certificate when the connection is open on our side already. Until it has, it can
   * read nothing that we send, and it cannot ask for one later: its alert always says that no request was taken.
   */
  #watchForRefusal(socket: Socket): void {
    this.#refusal = undefined;
    if (!isSecure(socket) || socket.getProtocol() !== 'TLSv1.3') return;
    socket.once('error', error => {
      if (isCertificateAlert(error)) this.#refusal = describeConnectError(error, this.#origin);
    });
  }

  /** The connection as it is when its first chunk is asked for. */
  #wire(exchange: Exchange): Wire {
    const socket = this.#socket;
    return {
      get open() {
        return socket?.destroyed === false;
      },
      get answered() {
        return exchange.answered;
      },
      get settled() {
        return exchange.settled;
      },
      connectMs: this.#connectMs,
    };
  }

  /** Ends the connection at once; a request under way rejects. */
  async destroy(): Promise<void> {
    await this.#client.destroy();
  }
}

function isSecure(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/** A body whose writer is called when its first chunk is asked for. */
function deferred(
  writer: BodyWriter,
  wire: () => Wire,
  trace: HttpTrace | undefined,
): AsyncIterable<Uint8Array> {
  const chunks = () => (trace === undefined ? writer(wire()) : traced(writer(wire()), trace));
  return {[Symbol.asyncIterator]: () => chunks()[Symbol.asyncIterator]()};
}

async function* traced(chunks: AsyncIterable<Uint8Array>, trace: HttpTrace): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    yield chunk;
  }
  trace.phase('sent', `${length} bytes`);
}

function connector(
  origin: URL,
  options: ConnectionOptions,
  trace: HttpTrace | undefined,
): buildConnector.connector {
  const timeout = options.connectTimeoutMs ?? 10_000;
  const common = {
    allowH2: false,
    timeout,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    ...(trace === undefined ? {} : {lookup: trace.lookup}),
    ...(options.certificateAuthorities === undefined ? {} : {ca: options.certificateAuthorities}),
  };
  const direct = buildConnector({
    ...common,
    ...(options.clientCertificate === undefined
      ? {}
      : {cert: options.clientCertificate.certificate, key: options.clientCertificate.key}),
  });
  const proxy = proxyFor(origin);
  const traced = (connect: buildConnector.connector) => trace?.stepwise(connect) ?? connect;
  return proxy === undefined
    ? traced(direct)
    : tunnelThrough(
        proxy,
        origin,
        {toProxy: traced(buildConnector(common)), toService: traced(direct)},
        timeout,
      );
}
