import type {Socket} from 'node:net';
import type {Wire} from './message.ts';

/** An open connection, as the sending of a body sees it. */
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

  /** False once the connection is known to have ended: nothing that is written then is sent. */
  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * Resolves once all that was written has left the process, or never will. A socket calls for more before that, as long
   * as it holds less than its high-water mark.
   */
  async drained(): Promise<void> {
    // What is written last is called back last, also when the socket is destroyed.
    await new Promise<void>(resolve => {
      this.#socket.write('', () => resolve());
    });
  }
}
