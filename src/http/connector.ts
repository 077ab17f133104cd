import {Socket} from 'node:net';
import {buildConnector} from 'undici';
import type {Clock} from '../host.ts';
import {defined} from '../lib/defined.ts';
import {describeConnectError} from './errors.ts';
import type {ConnectionOptions} from './options.ts';
import {proxyFor} from './proxy.ts';
import type {HttpTrace} from './trace.ts';
import {tunnelThrough} from './tunnel.ts';
import {UnusedSocket} from './unused-socket.ts';
import {SocketWire} from './wire.ts';

type Connect = buildConnector.connector;

/**
 * How long each address of a host is tried before the next. Node gives up on an address after 250 ms by default, which is
 * less than a slow connection needs.
 */
const addressTimeoutMs = 1_000;

/** A connection that is being opened: TCP, then CONNECT if there is a proxy, then TLS. */
interface Opening {
  /** The sockets so far, each wrapped by the next. */
  sockets: Socket[];
  /** What waits for it: nothing yet if it was begun ahead. */
  callback: buildConnector.Callback | undefined;
  onFailure: (error: Error) => void;
}

/** Opens connections to one origin, one at a time, through a proxy if the environment names one. */
export class Connector {
  /** The last connection that was opened. */
  wire: SocketWire | undefined;
  readonly #origin: URL;
  readonly #clock: Clock;
  readonly #hasOwnAuthorities: boolean;
  readonly #connect: Connect;
  #opening: Opening | undefined;
  #unused: UnusedSocket | undefined;

  constructor(origin: URL, options: ConnectionOptions, trace: HttpTrace | undefined) {
    const {connectTimeoutMs: timeout = 10_000, certificateAuthorities: ca, clientCertificate} = options;
    this.#origin = origin;
    this.#hasOwnAuthorities = ca !== undefined;
    this.#clock = options.clock;
    const common = {
      allowH2: false,
      timeout,
      autoSelectFamilyAttemptTimeout: addressTimeoutMs,
      ...defined({lookup: options.lookup ?? trace?.lookup, ca}),
    };
    const {certificate: cert, key} = clientCertificate ?? {};
    const direct = buildConnector(cert === undefined ? common : {...common, cert, key});
    const proxy = proxyFor(origin, options.env);
    const step = (connect: Connect) => trace?.stepwise(this.#noted(connect)) ?? this.#noted(connect);
    this.#connect =
      proxy === undefined
        ? step(direct)
        : tunnelThrough(
            proxy,
            origin,
            {toProxy: step(buildConnector(common)), toService: step(direct)},
            timeout,
          );
  }

  /** Opens a connection and calls `callback` once, with a socket that is ready for requests or with a MediaError. */
  open(parameters: buildConnector.Options, callback: buildConnector.Callback): void {
    const unused = this.#unused?.take();
    this.#unused = undefined;
    // undici writes nothing if it is called back at once.
    if (unused !== undefined) queueMicrotask(() => callback(null, unused));
    else if (this.#opening !== undefined) this.#opening.callback = callback;
    else {
      const onFailure = (error: Error) =>
        callback(describeConnectError(error, this.#origin, 'service', this.#hasOwnAuthorities), null);
      this.#begin({sockets: [], callback, onFailure}, parameters, socket => callback(null, socket));
    }
  }

  /**
   * Opens the connection that the next call of `open` needs, and closes it if none comes in `idleMs`. If that fails, or the
   * service closes it before, `onLost` is called, and `open` opens another.
   */
  openAhead(idleMs: number, onLost: () => void): void {
    const {host, hostname, protocol, port} = this.#origin;
    const parameters = {host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port};
    const opening: Opening = {
      sockets: [],
      callback: undefined,
      onFailure: () => {
        onLost();
        if (opening.callback !== undefined) this.open(parameters, opening.callback);
      },
    };
    this.#begin(opening, parameters, socket => {
      if (opening.callback !== undefined) opening.callback(null, socket);
      else this.#unused = new UnusedSocket(socket, idleMs, onLost);
    });
  }

  #begin(opening: Opening, parameters: buildConnector.Options, onOpen: (socket: Socket) => void): void {
    const start = this.#clock.monotonic();
    this.#opening = opening;
    this.#connect(parameters, (error, socket) => {
      if (this.#opening !== opening) return;
      this.#opening = undefined;
      if (error) return opening.onFailure(error);
      this.wire = new SocketWire(socket, this.#clock.monotonic() - start);
      onOpen(socket);
    });
  }

  /** Abandons the connection that is being opened, if any, and calls its callback with the reason; closes one that is unused. */
  abandon(reason: Error): void {
    this.#unused?.close();
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    for (const socket of opening.sockets) socket.on('error', () => {}).destroy(reason);
    opening.callback?.(reason, null);
  }

  /** Records the sockets of a connector, which undici returns although its types do not say so. */
  #noted(connect: Connect): Connect {
    return (parameters, callback) => {
      const socket: unknown = connect(parameters, callback);
      if (socket instanceof Socket) this.#opening?.sockets.push(socket);
    };
  }
}
