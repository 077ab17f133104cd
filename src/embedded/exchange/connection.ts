import type {Duplex} from 'node:stream';

/** What is known of one client connection beyond the request at hand. */
export class ServedConnection {
  /** What the HTTP parser or the socket reported; the connection carries no further request. */
  failure: Error | undefined;
  /** The last answer is given: what still arrives is read and dropped. */
  closing = false;
  /** Requests whose answers are not finished. */
  pending = 0;

  readonly #listeners = new Set<(error: Error) => void>();

  /** Records the first failure and tells everyone who waits for bytes of this connection. */
  fail(error: Error): void {
    this.failure ??= error;
    for (const listener of [...this.#listeners]) listener(this.failure);
  }

  /** Calls `listener` when the connection fails; returns the function that stops listening. */
  onFailure(listener: (error: Error) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The connections of a server, by their sockets. */
export class ServedConnections {
  readonly #bySocket = new WeakMap<Duplex, ServedConnection>();

  /** The one connection of a socket. */
  of(socket: Duplex): ServedConnection {
    const connection = this.#bySocket.get(socket) ?? new ServedConnection();
    this.#bySocket.set(socket, connection);
    return connection;
  }
}
