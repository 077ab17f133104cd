import {once} from 'node:events';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {eventually} from '../eventually.ts';
import {urlOf} from '../loopback.ts';

/** What a fault does to one direction of one connection: takes each chunk, and passes on what it likes. */
export type Toxic = (way: Way) => (chunk: Buffer) => Promise<void> | void;

/** A misfortune of a connection; a direction without a toxic is passed on as it is. */
export interface Fault {
  /** From the client to the service. */
  up?: Toxic;
  /** From the service to the client. */
  down?: Toxic;
  /** Called when a connection has been made. */
  opened?: (link: Link) => void;
  /** How long an end is kept from the other side, in milliseconds. */
  slowCloseMs?: number;
}

/** One direction of a connection. */
export class Way {
  readonly link: Link;
  /** Bytes that came before the present chunk. */
  seen = 0;
  readonly #from: Socket;
  readonly #to: Socket;

  constructor(link: Link, from: Socket, to: Socket) {
    this.link = link;
    this.#from = from;
    this.#to = to;
  }

  /** Sends bytes on; resolves when there is room for more. */
  async pass(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#to.destroyed || this.#to.writableEnded || this.#to.write(bytes)) return;
    await new Promise<void>(resolve => {
      const done = () => {
        this.#to.off('drain', done).off('close', done);
        resolve();
      };
      this.#to.on('drain', done).on('close', done);
    });
  }

  /** Carries everything over until the end, which is carried over too. */
  async carry(
    toxic: Toxic | undefined,
    slowCloseMs: number,
    prepare: (chunk: Buffer) => void,
  ): Promise<void> {
    const treat = toxic?.(this) ?? (chunk => this.pass(chunk));
    try {
      for await (const chunk of this.#from.iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>) {
        prepare(chunk);
        await treat(chunk);
        this.seen += chunk.length;
      }
      await pause(slowCloseMs);
      if (!this.link.isDead) this.#to.end();
    } catch {
      await pause(slowCloseMs);
      if (!this.link.isDead) this.#to.resetAndDestroy();
    }
  }
}

/** A connection through the proxy: both sides of it. */
export class Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly random: () => number;
  /** Nothing more is carried over, and neither side is told. */
  isDead = false;
  /** The service has a whole request that it has not answered, and the client does not wait for it. */
  #awaitsAnswer = false;
  readonly ended: Promise<unknown>;

  constructor(
    [client, server]: readonly [Socket, Socket],
    fault: Fault,
    random: () => number,
    rename: (chunk: Buffer) => void,
  ) {
    this.client = client;
    this.server = server;
    this.random = random;
    const slowCloseMs = fault.slowCloseMs ?? 0;
    fault.opened?.(this);
    this.ended = Promise.all([
      new Way(this, client, server).carry(fault.up, slowCloseMs, rename),
      new Way(this, server, client).carry(fault.down, slowCloseMs, () => {}),
    ]);
  }

  get awaitsAnswer(): boolean {
    return this.#awaitsAnswer && !this.server.destroyed && !this.server.readableEnded;
  }

  set awaitsAnswer(awaits: boolean) {
    this.#awaitsAnswer = awaits;
  }

  /** Ends both sides, by FIN or by RST; what was passed on before arrives only with a FIN. */
  cut(how: 'end' | 'reset'): void {
    this.cutClient(how);
    if (how === 'end') this.server.end();
    else this.server.resetAndDestroy();
  }

  /** Ends the client's side only. */
  cutClient(how: 'end' | 'reset'): void {
    // An ended side is read to its end, so that no reset overtakes what was sent.
    if (how === 'end') this.client.end();
    else this.client.resetAndDestroy();
  }
}

/** A TCP proxy on loopback between a client and a service that does what its fault says to each new connection. */
export class FaultProxy {
  /** Asked for the fault of each new connection. */
  nextFault: () => Fault = () => ({});
  readonly #server: Server;
  readonly #links = new Set<Link>();

  private constructor(target: URL, random: () => number) {
    const rename = (chunk: Buffer) => renameHost(chunk, new URL(this.url).host, target.host);
    this.#server = createServer({allowHalfOpen: true, noDelay: true}, client => {
      const server = connect({
        host: target.hostname,
        port: Number(target.port),
        allowHalfOpen: true,
        noDelay: true,
      });
      for (const socket of [client, server]) socket.on('error', () => {});
      const link = new Link([client, server], this.nextFault(), random, rename);
      this.#links.add(link);
      void link.ended.then(() => this.#links.delete(link));
    });
  }

  static async start(target: string, random: () => number): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(target), random);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): string {
    return urlOf(this.#server);
  }

  /** Resolves when all that is on its way has been carried over; connections that are dead are ended now. */
  async drained(): Promise<void> {
    const dead = [...this.#links].filter(link => link.isDead);
    await eventually(() => !dead.some(link => link.awaitsAnswer));
    for (const link of dead) {
      link.cutClient('reset');
      // A reset would discard what had been passed on: that takes effect first.
      link.server.end();
    }
    await eventually(() => this.#links.size === 0);
  }

  /** Resolves when nothing has been carried over for a moment; connections stay, but those that are dead are ended. */
  async quiet(): Promise<void> {
    const carried = () =>
      [...this.#links].reduce((sum, link) => sum + link.client.bytesRead + link.server.bytesRead, 0);
    for (let before = -1; before !== carried(); ) {
      before = carried();
      await pause(60);
    }
    for (const link of this.#links) if (link.isDead) link.cut('reset');
  }

  /** Ends it and everything under way. */
  async close(): Promise<void> {
    this.#server.close();
    for (const link of this.#links) link.cut('reset');
    await this.drained();
  }
}

/** The embedded service answers to its own name and port only; both names are of one length here. */
function renameHost(chunk: Buffer, from: string, to: string): void {
  const field = chunk.indexOf(`\r\nhost: ${from}\r\n`, 0, 'latin1');
  if (field >= 0) chunk.write(to.padStart(from.length), field + '\r\nhost: '.length, 'latin1');
}

export function pause(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise(resolve => setTimeout(resolve, ms));
}

/** Waits for less than the millisecond that timers are good for. */
export async function pauseBriefly(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; )
    await new Promise(resolve => setImmediate(resolve));
}
