import type {Socket} from 'node:net';
import {Stop} from '../lib/stop.ts';
import type {Wire} from './message.ts';
import {openSocket} from './open-socket.ts';
import type {ConnectionOptions, HttpTrace} from './options.ts';

/** Receives a socket that is ready for requests, or why there is none. */
type OnOpen = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/** Opens connections to one origin, one at a time, through a proxy if the environment names one. */
export class Connector {
  /** The last connection that was opened. */
  wire: SocketWire | undefined;
  readonly #origin: URL;
  readonly #options: ConnectionOptions;
  readonly #trace: HttpTrace | undefined;
  /** Stops the last opening. */
  #stop = new Stop<Error>();

  constructor(origin: URL, options: ConnectionOptions, trace: HttpTrace | undefined) {
    this.#origin = origin;
    this.#options = options;
    this.#trace = trace;
  }

  /** Opens a connection and calls `callback` once, with a socket that is ready for requests or with a MediaError. */
  open(callback: OnOpen): void {
    const {clock} = this.#options;
    const start = clock.monotonic();
    this.#stop = new Stop();
    this.#trace?.restart();
    openSocket(this.#origin, this.#options, this.#stop, this.#trace).then(
      socket => {
        this.wire = new SocketWire(socket, clock.monotonic() - start);
        callback(null, socket);
      },
      error => callback(error, null),
    );
  }

  /** Abandons the connection that is being opened, if any; its callback gets the reason. */
  abandon(reason: Error): void {
    this.#stop.abort(reason);
  }
}

/** An open connection that a body is written to. */
export class SocketWire implements Wire {
  readonly connectMs: number;
  readonly #socket: Socket;

  constructor(socket: Socket, connectMs: number) {
    this.#socket = socket;
    this.connectMs = connectMs;
  }

  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** False once the connection is known to be closed: what is written then is not sent. */
  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * Resolves once everything written has left the process, or the socket is destroyed. A `drain` event comes earlier, as
   * soon as the socket holds less than its high-water mark.
   */
  async drained(): Promise<void> {
    // Callbacks come in the order of the writes, even when the socket is destroyed.
    await new Promise<void>(resolve => {
      this.#socket.write('', () => resolve());
    });
  }
}
