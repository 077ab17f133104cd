import type {Socket} from 'node:net';
import {Stop} from '../lib/stop.ts';
import type {Wire} from './message.ts';
import {openSocket} from './open-socket.ts';
import type {ConnectionOptions, HttpTrace} from './options.ts';

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

/**
 * A connection that was opened ahead of the request that will need it. It is closed if none has taken it in `idleMs`, and as soon
 * as the service closes it or sends something, since nothing has been asked.
 */
class UnusedSocket {
  readonly #socket: Socket;
  readonly #onLost: () => void;
  readonly #close = () => this.close();

  /** Calls `onLost` if the service is why the connection is closed. */
  constructor(socket: Socket, idleMs: number, onLost: () => void) {
    this.#socket = socket;
    this.#onLost = () => {
      onLost();
      this.close();
    };
    // Neither the connection nor its timer keeps the process alive.
    socket.unref().setTimeout(idleMs, this.#close);
    socket.once('readable', this.#onLost).once('error', this.#onLost);
  }

  /** The connection for a request, if it is still open. */
  take(): Socket | undefined {
    this.#socket.off('readable', this.#onLost).off('error', this.#onLost);
    this.#socket.setTimeout(0, this.#close).ref();
    return this.#socket.destroyed ? undefined : this.#socket;
  }

  close(): void {
    this.#socket.destroy();
  }
}
