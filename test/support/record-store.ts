import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import {listen, portOf} from './loopback.ts';
import {readingRequests} from './read-requests.ts';

/** What a store says of a file of a certain size. */
export interface StoreAnswer {
  /** Fields of its record, in place of the true ones; undefined leaves a field out. URL, HOST and NUMBER stand for its own. Or its connection is cut off. */
  record?: Record<string, unknown> | 'cut off';
  /** Called before the upload is answered. */
  beforeRecord?: () => Promise<void>;
  /** What a HEAD of its URL is answered with, in place of 200 and its size; or its connection is cut off. */
  head?: {status?: number; headers?: Record<string, string>} | 'cut off';
}

/** A service that keeps what it gets, and says of each file, known by its size, what a test makes it say. */
export class RecordStore {
  readonly bodies: Buffer[] = [];
  readonly heads: {id: number; headers: IncomingHttpHeaders}[] = [];
  readonly answers = new Map<number, StoreAnswer>();
  readonly url: string;
  connections = 0;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<RecordStore> {
    const server: Server = createServer(
      readingRequests(async (request, response) =>
        request.method === 'HEAD'
          ? store.#sayWhetherThere(request, response)
          : store.#take(request, response),
      ),
    );
    await listen(server);
    const store: RecordStore = new RecordStore(portOf(server));
    server.on('connection', () => {
      store.connections += 1;
    });
    return store;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A question about the service has no file, which it only announces.
    if (request.headers['content-length'] === '1') return void response.writeHead(400).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const number = this.bodies.push(body) - 1;
    const {record, beforeRecord} = this.answers.get(body.length) ?? {};
    await beforeRecord?.();
    if (record === 'cut off') return void request.socket.destroy();
    const fileUrl = `${this.url}/files/${number}?v=1`;
    const fields = {id: `m_${number}`, type: 'IMAGE', size: body.length, fileUrl, ...record};
    const json = JSON.stringify(fields)
      .replace('"URL"', JSON.stringify(fileUrl))
      .replace('HOST', new URL(this.url).host)
      .replace('NUMBER', String(number));
    response.setHeader('content-type', 'application/json').end(json);
  }

  #sayWhetherThere(request: IncomingMessage, response: ServerResponse): void {
    const id = Number(/^\/files\/(\d+)\?v=1$/.exec(request.url ?? '')?.[1] ?? -1);
    this.heads.push({id, headers: request.headers});
    const size = this.bodies[id]?.length;
    const {head = {}} = this.answers.get(size ?? -1) ?? {};
    if (head === 'cut off') return void request.destroy();
    const {status = size === undefined ? 404 : 200, headers = {'content-length': String(size)}} = head;
    response.writeHead(status, headers).end();
  }
}
