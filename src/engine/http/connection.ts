import type {Socket} from 'node:net';
import type {Readable} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {type buildConnector, Client} from 'undici';
import type {MediaError} from '../../errors.ts';
import {nextTurn} from '../../host.ts';
import {Stop} from '../../lib/stop.ts';
import {closedError, describeConnectError, isCertificateAlert} from './connection-errors.ts';
import {type ConnectionOptions, type HttpTrace, maxHeaderSize, traceOf} from './connection-options.ts';
import {HttpExchange} from './exchange.ts';
import {dropInterimResponses} from './interim-filter.ts';
import {type HttpRequest, type HttpResponse, type SocketWire, wireOf} from './message.ts';
import {openSocket} from './open-socket.ts';
import {commonFields, forwarderFor, type NamedProxy, notOfProxy} from './proxy.ts';

/** How many ms an idle connection is kept: fewer than servers keep it, as a request that meets a close is unknown. */
const idleMs = 500;

/** A keep-alive HTTP/1.1 connection to one origin, for one request at a time, without repeats or timeouts. */
export class Connection {
  readonly #origin: URL;
  readonly #proxy: NamedProxy | undefined;
  readonly #fields: ReturnType<typeof commonFields>;
  readonly #client: Client;
  readonly #options: ConnectionOptions;
  readonly #trace: HttpTrace | undefined;
  /** The last socket that was opened. */
  #wire: SocketWire | undefined;
  /** Ends the last opening. */
  #opening = new Stop<Error>();
  /** Why the service refused a connection that already looked open on our side. */
  #refusal: MediaError | undefined;
  /** Whether a connection was opened for the request. */
  #hasOpened = false;
  #expectResponse = () => {};

  /** `number` identifies the connection in a trace. */
  constructor(origin: URL, options: ConnectionOptions, number = 1) {
    if (options.trace !== undefined)
      this.#trace = traceOf(`connection ${number}`, options.trace, options.clock);
    this.#origin = origin;
    this.#proxy = forwarderFor(origin, options.env);
    this.#fields = commonFields(options.headers, this.#proxy);
    this.#options = options;
    this.#client = new Client(origin.origin, {
      allowH2: false,
      pipelining: 1,
      maxHeaderSize,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      connect: (_parameters, callback) => this.#open(callback),
    });
  }

  /** Opens the one connection of a request. undici calls this again and again for a request that it cannot write. */
  #open(callback: buildConnector.Callback): void {
    const {clock} = this.#options;
    const start = clock.monotonic();
    this.#trace?.restart();
    this.#opening = new Stop();
    const opening = this.#hasOpened
      ? Promise.reject(describeConnectError(closedError(), this.#origin))
      : openSocket(this.#origin, this.#options, this.#opening, this.#trace);
    this.#hasOpened = true;
    opening.then(
      socket => {
        this.#wire = wireOf(socket, clock.monotonic() - start);
        this.#watchForRefusal(socket);
        readBeforeWritesFail(socket);
        this.#expectResponse = dropInterimResponses(socket);
        callback(null, socket);
      },
      error => callback(error, null),
    );
  }

  /**
   * Sends one request and reads the response. Rejects with a MediaError if no connection can be made (nothing was sent
   * then), with the signal's reason if aborted, and otherwise with the error that broke the connection.
   */
  async request(request: HttpRequest): Promise<HttpResponse> {
    const {body} = request;
    const whole = this.#wire?.isOpen ? body?.whole : undefined;
    await whole?.ready();
    // A connection that was idle may have been closed meanwhile, which is known once its events have been handled.
    if (this.#wire !== undefined) await nextTurn();
    this.#hasOpened = false;
    this.#expectResponse();
    request.signal?.throwIfAborted();
    this.#trace?.restart();
    const content = whole?.bytes ?? body?.content;
    const length = body && {'content-length': String(body.length)};
    const exchange = new HttpExchange(request, content, {
      trace: this.#trace,
      wire: () => this.#wire,
      abandon: reason => this.#opening.abort(reason),
    });
    this.#client.dispatch(
      {
        method: request.method,
        path: this.#proxy === undefined ? request.path : `${this.#origin.origin}${request.path}`,
        headers: Object.assign({}, this.#fields, length, request.headers),
        // undici's types omit that it takes iterables.
        body: exchange.body as Uint8Array | Readable | null,
      },
      exchange,
    );
    try {
      const response = await exchange.response;
      this.#trace?.phase('response', `${response.body.length} bytes${response.cut ? ', cut off' : ''}`);
      return notOfProxy(response, this.#proxy);
    } catch (error) {
      throw this.#refusal ?? error;
    }
  }

  /**
   * Notes a service that rejects our certificate. With TLS 1.3, the connection is open on our side before the service
   * checks it. Until then the service reads nothing that we send, so its alert means that no request was processed.
   */
  #watchForRefusal(socket: Socket): void {
    this.#refusal = undefined;
    if ((socket as Partial<TLSSocket>).getProtocol?.() !== 'TLSv1.3') return;
    socket.once('error', error => {
      if (isCertificateAlert(error)) this.#refusal = describeConnectError(error, this.#origin);
    });
  }

  /** Closes the connection at once; a pending request rejects. */
  async destroy(): Promise<void> {
    const ended = this.#client.destroy();
    this.#opening.abort(closedError('The connection was closed.'));
    await ended;
  }
}

/** Node destroys a socket once a write fails: this lets an early refusal that has arrived be read before. */
function readBeforeWritesFail(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  /** A callback for a write that reports a failure only once what had arrived has been read. */
  const afterReading = (done: (error?: Error | null) => void) => (error?: Error | null) => {
    // The first turn may have begun after its events were taken from the system.
    if (error)
      void nextTurn()
        .then(nextTurn)
        .then(() => done(error));
    else done(error);
  };
  socket._write = (chunk: unknown, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, afterReading(done));
}
