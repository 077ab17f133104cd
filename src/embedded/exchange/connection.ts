import type {Duplex} from 'node:stream';

/** The state of a client connection across requests. */
export class ServedConnection {
  /** The error of the HTTP parser or the socket; there will be no further requests. */
  failure: Error | undefined;
  /** The last response was sent: what still arrives is read and dropped. */
  closing = false;
  /** The number of requests without a complete response. */
  pending = 0;

  readonly #listeners = new Set<(error: Error) => void>();

  /** Records the first failure and calls the listeners. */
  fail(error: Error): void {
    this.failure ??= error;
    for (const listener of [...this.#listeners]) listener(this.failure);
  }

  /** Calls `listener` when the connection fails; returns a function that stops listening. */
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
