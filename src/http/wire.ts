import type {Socket} from 'node:net';
import type {Wire} from './message.ts';

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
