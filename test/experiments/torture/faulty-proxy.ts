import {type IncomingMessage, request as sendRequest} from 'node:http';
import {type AddressInfo, createServer, type Server, type Socket} from 'node:net';

/** How a connection ends that is cut. */
export type Cut = 'reset' | 'end';

/** What becomes of one request on its way to the service and back. */
export type Fate =
  | {kind: 'pass'}
  /** Cut when this share of its body has come; with 1 the service lacks the last byte only. */
  | {kind: 'cut'; share: number; cut: Cut}
  /** Answered in place of the service when this share of its body has come, which sees nothing of it. */
  | {kind: 'answer'; share: number; status: number}
  /** Stored, and cut when this share of the answer has been passed on. */
  | {kind: 'lose'; share: number; cut: Cut}
  /** Stored, and answered with something else. */
  | {kind: 'distort'; status: number; body: string};

/** What the proxy sees, in the order in which it happens to a request. */
export type Sighting = 'head' | 'body' | 'whole' | 'stored' | 'answered';

/** A proxy between the client and the service that fails as it is told, request by request, and keeps account. */
export class FaultyProxy {
  /** The IDs that the service answered with, by the key of the request; passed on or not. */
  readonly stored = new Map<string, string[]>();
  /** Called for each sighting, `body` with the number of bytes that came. */
  onSighting: (sighting: Sighting, bytes: number) => void = () => {};
  readonly #service: URL;
  readonly #fates: Fate[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Set<Promise<void>>();

  constructor(service: string, fates: readonly Fate[]) {
    this.#service = new URL(service);
    this.#fates = [...fates];
    this.#server = createServer(socket => {
      this.#sockets.add(socket);
      const running = this.#serve(new Incoming(socket)).finally(() => {
        this.#sockets.delete(socket);
        this.#running.delete(running);
      });
      this.#running.add(running);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>(resolve => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when the clients are gone and the service has answered all that came to it. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await this.idle();
  }

  /** The requests of one connection, one after the other, until one of them ends it. */
  async #serve(incoming: Incoming): Promise<void> {
    for (let goesOn = true; goesOn; ) {
      const head = await incoming.head();
      if (head === undefined) break;
      this.onSighting('head', 0);
      goesOn = await this.#handle(head, incoming, this.#fates.shift() ?? {kind: 'pass'});
    }
    await incoming.closed;
  }

  /** Whether the connection goes on. */
  async #handle(head: Head, incoming: Incoming, fate: Fate): Promise<boolean> {
    const share = fate.kind === 'cut' || fate.kind === 'answer' ? fate.share : 1;
    const wanted = Math.round(share * head.length);
    const service = fate.kind === 'answer' ? undefined : new ServiceRequest(this.#service, head);
    const came = await this.#forward(incoming, wanted, head.length, fate.kind === 'cut' ? 1 : 0, service);
    if (came < wanted || fate.kind === 'cut') {
      await service?.drop();
      if (came === wanted && fate.kind === 'cut') incoming.cut(fate.cut);
      return false;
    }
    if (service === undefined) {
      incoming.answer((fate as {status: number}).status, '{"code":9,"message":"injected"}');
      return false;
    }
    const answer = await service.answer();
    if (answer.status === 200) this.#account(head.key, answer.body);
    this.onSighting('stored', 0);
    if (fate.kind === 'distort') {
      incoming.answer(fate.status, fate.body);
      return false;
    }
    if (fate.kind === 'lose') {
      const text = answerText(answer.status, answer.body, {});
      incoming.write(text.slice(0, Math.floor(text.length * fate.share)));
      incoming.cut(fate.cut);
      return false;
    }
    incoming.write(answerText(answer.status, answer.body, {}));
    this.onSighting('answered', 0);
    return true;
  }

  /** Passes on so many bytes of a body, but never the last `withheld` of all; resolves to how many came. */
  async #forward(
    incoming: Incoming,
    wanted: number,
    length: number,
    withheld: number,
    service: ServiceRequest | undefined,
  ): Promise<number> {
    let came = 0;
    while (came < wanted) {
      const bytes = await incoming.body(wanted - came);
      if (bytes === undefined) break;
      service?.write(bytes.subarray(0, Math.max(0, length - withheld - came)));
      came += bytes.length;
      this.onSighting('body', bytes.length);
    }
    if (came === length) this.onSighting('whole', 0);
    return came;
  }

  #account(key: string, body: string): void {
    const {id} = JSON.parse(body) as {id: string};
    this.stored.set(key, [...(this.stored.get(key) ?? []), id]);
  }
}

interface Head {
  lines: string[];
  length: number;
  key: string;
}

/** One client connection, read piece by piece. */
class Incoming {
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('data', bytes => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    this.closed = new Promise(resolve => {
      socket.on('close', () => {
        this.#ended = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** The next request's head, or undefined at the connection's end. */
  async head(): Promise<Head | undefined> {
    const end = await this.#until(() => {
      const index = this.#received.indexOf('\r\n\r\n');
      return index < 0 ? undefined : index;
    });
    if (end === undefined) return undefined;
    const lines = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    this.#received = this.#received.subarray(end + 4);
    const field = (name: string) =>
      lines.find(line => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
    return {
      lines,
      length: Number(field('content-length')),
      key: field('idempotency-key').replaceAll('"', ''),
    };
  }

  /** The next bytes of a body, `most` at most, or undefined at the connection's end. */
  async body(most: number): Promise<Buffer | undefined> {
    const length = await this.#until(() => (this.#received.length > 0 ? this.#received.length : undefined));
    if (length === undefined) return undefined;
    const bytes = this.#received.subarray(0, most);
    this.#received = this.#received.subarray(bytes.length);
    return bytes;
  }

  async #until<T>(condition: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const value = condition();
      if (value !== undefined || this.#ended) return value;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  answer(status: number, body: string): void {
    // Bytes that are still to come would else turn the end into a reset, which can overtake the answer.
    this.#socket.end(answerText(status, body, {connection: 'close', 'retry-after': '0'}));
    this.#socket.resume();
  }

  cut(how: Cut): void {
    if (how === 'reset') this.#socket.resetAndDestroy();
    else this.#socket.end();
  }
}

function answerText(status: number, body: string, headers: Record<string, string>): string {
  const fields = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${body}`;
}

/** A request on its way to the service, over a connection of its own. */
class ServiceRequest {
  readonly #request;
  readonly #response: Promise<IncomingMessage | undefined>;

  constructor(service: URL, {lines}: Head) {
    const [start = '', ...fields] = lines;
    const headers = Object.fromEntries(
      fields.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const [method, path] = start.split(' ');
    this.#request = sendRequest({
      hostname: service.hostname,
      port: service.port,
      method,
      path,
      agent: false,
      headers: {...headers, host: service.host, connection: 'close'},
    });
    this.#request.flushHeaders();
    this.#response = new Promise(resolve => {
      this.#request.once('response', resolve);
      this.#request.once('close', () => resolve(undefined));
      this.#request.on('error', () => resolve(undefined));
    });
  }

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#request.write(bytes);
  }

  async answer(): Promise<{status: number; body: string}> {
    this.#request.end();
    const response = await this.#response;
    if (response === undefined) throw new Error('the service gave no answer');
    let body = '';
    for await (const text of response.setEncoding('utf8')) body += text;
    return {status: response.statusCode ?? 0, body};
  }

  async drop(): Promise<void> {
    this.#request.destroy();
    await this.#response;
  }
}
