import {createHash} from 'node:crypto';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {eventually} from '../eventually.ts';

/** What a service has stored of one request. */
export interface Stored {
  id: string;
  /** Of the body, in hex. */
  sha256: string;
  /** Bytes; for a HEAD of its URL. */
  size?: number;
}

/** A service whose store can be looked into: the truth that a client's verdicts are held against. */
export interface Origin {
  readonly url: string;
  /** Whether it answers a repeated Idempotency-Key with the record it has. */
  readonly honoursKeys: boolean;
  /** Ends the service, once what has arrived whole is dealt with, and resolves to all that it ever stored. */
  close(): Promise<Stored[]>;
}

export interface KeepingOptions {
  honoursKeys?: boolean;
  /** Awaited where a request has come so far; `stored` comes before the answer. */
  at?: (moment: 'begun' | 'stored' | 'answered', request: IncomingMessage) => Promise<void> | void;
}

/**
 * A plain service that keeps every body that came whole, once for each request: who sends a file twice is found out.
 * A body that ends before its Content-Length leaves nothing (service interface, 4.1, rule 1).
 */
export class KeepingServer implements Origin {
  readonly stored: Stored[] = [];
  readonly honoursKeys: boolean;
  readonly #options: KeepingOptions;
  readonly #server: Server;
  readonly #byKey = new Map<string, Stored>();
  #underWay = 0;
  #port = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(options: KeepingOptions) {
    this.#options = options;
    this.honoursKeys = options.honoursKeys ?? false;
    this.#server = createServer({requestTimeout: 0, keepAliveTimeout: 60_000}, (request, response) => {
      this.#underWay += 1;
      void this.#take(request, response)
        .catch(() => response.destroy())
        .finally(() => {
          this.#underWay -= 1;
        });
    });
    this.#server.on('connection', socket => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async start(options: KeepingOptions = {}): Promise<KeepingServer> {
    const keeping = new KeepingServer(options);
    await new Promise<void>(resolve => keeping.#server.listen(0, '127.0.0.1', resolve));
    return keeping;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many records there are of a content. */
  countOf(sha256: string): number {
    return this.stored.filter(each => each.sha256 === sha256).length;
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  /** How many connections there are. */
  get connected(): number {
    return this.#sockets.size;
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    await eventually(() => !this.isBusy, {pauseMs: 2});
  }

  /** Ends like a process that is killed: who is connected is cut off, and nobody listens. */
  die(): void {
    this.#port = (this.#server.address() as AddressInfo).port;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Listens again, where it did before. */
  async revive(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(this.#port, '127.0.0.1', resolve));
  }

  async close(): Promise<Stored[]> {
    this.#server.close();
    await this.idle();
    this.#server.closeAllConnections();
    return this.stored;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    if (request.method !== 'POST') {
      const size = this.stored.find(({id}) => request.url === `/files/${id}`)?.size;
      if (request.method !== 'HEAD') response.writeHead(405).end();
      else response.writeHead(size === undefined ? 404 : 200, {'content-length': size ?? 0}).end();
      return;
    }
    await this.#options.at?.('begun', request);
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
    if (!request.complete || size !== Number(request.headers['content-length'])) return;
    const {id} = this.#keep({sha256: hash.digest('hex'), size}, String(request.headers['idempotency-key']));
    await this.#options.at?.('stored', request);
    const urls = [{variant: 'PUBLIC', url: `https://cdn.example/${id}`}];
    const record = {id, type: 'IMAGE', urls, fileUrl: `${this.url}/files/${id}`};
    const json = JSON.stringify(record);
    response.setHeader('content-type', 'application/json').setHeader('content-length', json.length).end(json);
    await this.#options.at?.('answered', request);
  }

  #keep(content: Omit<Stored, 'id'>, key: string): Stored {
    const known = this.honoursKeys ? this.#byKey.get(key) : undefined;
    if (known !== undefined) return known;
    const stored = {id: `kept_${this.stored.length + 1}`, ...content};
    this.stored.push(stored);
    this.#byKey.set(key, stored);
    return stored;
  }
}
