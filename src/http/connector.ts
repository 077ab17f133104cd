import type {Socket} from 'node:net';
import {Stop} from '../lib/stop.ts';
import {openSocket} from './open-socket.ts';
import type {ConnectionOptions} from './options.ts';
import type {HttpTrace} from './trace.ts';
import {UnusedSocket} from './unused-socket.ts';
import {SocketWire} from './wire.ts';

/** Receives a socket that is ready for requests, or why there is none. */
type OnOpen = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/** A connection that is being opened. */
interface Opening {
  stop: Stop<Error>;
  /** What waits for it: nothing yet if it was begun ahead. */
  callback: OnOpen | undefined;
  onFailure: (error: Error) => void;
}

/** Opens connections to one origin, one at a time, through a proxy if the environment names one. */
export class Connector {
  /** The last connection that was opened. */
  wire: SocketWire | undefined;
  readonly #origin: URL;
  readonly #options: ConnectionOptions;
  readonly #trace: HttpTrace | undefined;
  #opening: Opening | undefined;
  #unused: UnusedSocket | undefined;

  constructor(origin: URL, options: ConnectionOptions, trace: HttpTrace | undefined) {
    this.#origin = origin;
    this.#options = options;
    this.#trace = trace;
  }

  /** Opens a connection and calls `callback` once, with a socket that is ready for requests or with a MediaError. */
  open(callback: OnOpen): void {
    const unused = this.#unused?.take();
    this.#unused = undefined;
    // undici writes nothing if it is called back at once.
    if (unused !== undefined) queueMicrotask(() => callback(null, unused));
    else if (this.#opening !== undefined) this.#opening.callback = callback;
    else {
      const onFailure = (error: Error) => callback(error, null);
      void this.#begin({stop: new Stop(), callback, onFailure}, socket => callback(null, socket));
    }
  }

  /**
   * Opens the connection that the next call of `open` needs, and closes it if none comes in `idleMs`. If that fails, or the
   * service closes it before, `onLost` is called, and `open` opens another.
   */
  openAhead(idleMs: number, onLost: () => void): void {
    const opening: Opening = {
      stop: new Stop(),
      callback: undefined,
      onFailure: () => {
        onLost();
        if (opening.callback !== undefined) this.open(opening.callback);
      },
    };
    void this.#begin(opening, socket => {
      if (opening.callback !== undefined) opening.callback(null, socket);
      else this.#unused = new UnusedSocket(socket, idleMs, onLost);
    });
  }

  async #begin(opening: Opening, onOpen: (socket: Socket) => void): Promise<void> {
    const {clock} = this.#options;
    const start = clock.monotonic();
    this.#opening = opening;
    this.#trace?.restart();
    const opened = openSocket(this.#origin, this.#options, opening.stop, this.#trace);
    const result = await opened.catch((error: Error) => error);
    if (this.#opening !== opening) return;
    this.#opening = undefined;
    if (result instanceof Error) return opening.onFailure(result);
    this.wire = new SocketWire(result, clock.monotonic() - start);
    onOpen(result);
  }

  /** Abandons the connection that is being opened, if any, and calls its callback with the reason; closes one that is unused. */
  abandon(reason: Error): void {
    this.#unused?.close();
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    opening.stop.abort(reason);
    opening.callback?.(reason, null);
  }
}
