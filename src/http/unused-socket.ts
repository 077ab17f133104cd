import type {Socket} from 'node:net';

/**
 * A connection that was opened ahead of the request that will need it. It is closed if none has taken it in `idleMs`, and as soon
 * as the service closes it or sends something, since nothing has been asked.
 */
export class UnusedSocket {
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
