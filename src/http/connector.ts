import {Socket} from 'node:net';
import {buildConnector} from 'undici';
import type {Clock} from '../host.ts';
import {defined} from '../lib/defined.ts';
import {describeConnectError} from './errors.ts';
import type {ConnectionOptions} from './options.ts';
import {proxyFor} from './proxy.ts';
import type {HttpTrace} from './trace.ts';
import {tunnelThrough} from './tunnel.ts';
import {SocketWire} from './wire.ts';

type Connect = buildConnector.connector;

/**
 * How long one address of a host is tried before the next. Node gives an address up then, and 250 ms unless it is told
 * otherwise: less than a slow line takes.
 */
const addressTimeoutMs = 1_000;

/** A connection that is being opened: TCP, then CONNECT where there is a proxy, then TLS. */
interface Opening {
  /** The sockets that it has come to so far, one around the other. */
  sockets: Socket[];
  callback: buildConnector.Callback;
}

/** Opens connections to one origin, one at a time, through the proxy that the environment names for it, if any. */
export class Connector {
  /** The connection that was opened last. */
  wire: SocketWire | undefined;
  readonly #origin: URL;
  readonly #clock: Clock;
  readonly #hasOwnAuthorities: boolean;
  readonly #connect: Connect;
  #opening: Opening | undefined;

  constructor(origin: URL, options: ConnectionOptions, trace: HttpTrace | undefined) {
    const {connectTimeoutMs: timeout = 10_000, certificateAuthorities: ca, clientCertificate} = options;
    this.#origin = origin;
    this.#hasOwnAuthorities = ca !== undefined;
    this.#clock = options.clock;
    const common = {
      allowH2: false,
      timeout,
      autoSelectFamilyAttemptTimeout: addressTimeoutMs,
      ...defined({lookup: trace?.lookup, ca}),
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

  /** Opens a connection; `callback` is called once: with a socket that is ready for requests, or with a MediaError. */
  open(parameters: buildConnector.Options, callback: buildConnector.Callback): void {
    const opening: Opening = {sockets: [], callback};
    const start = this.#clock.monotonic();
    this.#opening = opening;
    this.#connect(parameters, (error, socket) => {
      if (this.#opening !== opening) return;
      this.#opening = undefined;
      if (error)
        return callback(describeConnectError(error, this.#origin, 'service', this.#hasOwnAuthorities), null);
      this.wire = new SocketWire(socket, this.#clock.monotonic() - start);
      callback(null, socket);
    });
  }

  /** Gives up the connection that is being opened, if one is: its callback is called with the reason. */
  abandon(reason: Error): void {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    for (const socket of opening.sockets) socket.on('error', () => {}).destroy(reason);
    opening.callback(reason, null);
  }

  /** The same connector, whose sockets are noted: undici returns them, though its types do not say so. */
  #noted(connect: Connect): Connect {
    return (parameters, callback) => {
      const socket: unknown = connect(parameters, callback);
      if (socket instanceof Socket) this.#opening?.sockets.push(socket);
    };
  }
}
