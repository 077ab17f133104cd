import {createHash} from 'node:crypto';
import type {Clock, StopSignal} from '../host.ts';
import type {Body, Wire} from '../http/http.ts';
import type {OpenSource, SmallContent} from '../sources/open/source.ts';
import {chunksOf, cutShort, Pace, smallestChunk} from './chunks.ts';
import type {RateLimit} from './rate-limit.ts';

export interface BodyOptions {
  source: OpenSource;
  clock: Clock;
  /** Aborted when the attempt is over. */
  signal: StopSignal;
  /** Shared by all that is sent, where there is a limit. */
  rateLimit?: RateLimit | undefined;
  /**
   * Resolves once it is on record that the last chunk is about to be sent; `sha256` is of the whole content, in hex.
   * The content is hashed only where this is given, and `sha256` is not.
   */
  commit?: ((sha256: string) => Promise<void>) | undefined;
  /** Of the whole content, where it is known beforehand. */
  sha256?: string | undefined;
}

/** Told how far a body has come. */
export interface BodyWatcher {
  /** The next bytes are to be sent now. */
  sending(): void;
  /** The next bytes wait for a limit of our own. */
  waiting(): void;
  /** So many bytes have left the process. */
  sent(bytes: number): void;
  /** All is sent from here on: the request may take effect. */
  released(): void;
  /** The source could not be sent, or there is a bug. */
  failed(error: unknown): void;
}

/** Bodies from this size on wait before their release for an error that may be on its way: as long as a round trip takes. */
const longPauseBytes = 4 * 1024 * 1024;

/** Smaller ones wait no longer than a near service needs, in milliseconds, and those of one chunk not at all. */
const shortPauseMs = 5;

/** A source as the body of one attempt; a small file is read here, others while they are sent. */
export async function openBody(options: BodyOptions, watcher: BodyWatcher): Promise<Body> {
  const {source, rateLimit} = options;
  const small = rateLimit === undefined ? await source.small?.() : undefined;
  if (small !== undefined && small.bytes.length < source.size) throw await cutShort(source);
  return new UploadBody(options, watcher, small);
}

/**
 * The body of one attempt. Its last chunk is held back: for errors that are on their way, until the source is found
 * unchanged, and until it is on record that the chunk is about to be sent. Then it is released.
 */
class UploadBody implements Body {
  readonly length: number;
  readonly content: Body['content'];
  readonly #options: BodyOptions;
  readonly #watcher: BodyWatcher;
  readonly #small: SmallContent | undefined;

  constructor(options: BodyOptions, watcher: BodyWatcher, small: SmallContent | undefined) {
    this.#options = options;
    this.#watcher = watcher;
    this.#small = small;
    this.length = options.source.size;
    // What waits for nothing goes out with the head.
    this.content =
      small !== undefined && options.commit === undefined ? small.bytes : wire => this.#chunks(wire);
  }

  release(): void {
    const isWhole = this.content instanceof Uint8Array;
    if (isWhole) this.#verifyAtOnce();
    this.#watcher.released();
    if (isWhole) this.#watcher.sent(this.length);
  }

  #verifyAtOnce(): void {
    try {
      this.#small?.verify();
    } catch (error) {
      this.#watcher.failed(error);
      throw error;
    }
  }

  async *#chunks(wire: Wire): AsyncGenerator<Uint8Array> {
    const {source, clock, commit, rateLimit, sha256} = this.#options;
    const pace = new Pace(rateLimit?.chunkBytes);
    const digest = commit === undefined || sha256 !== undefined ? undefined : createHash('sha256');
    let sent = 0;
    this.#watcher.sending();
    try {
      const chunks = this.#small === undefined ? chunksOf(source, pace, wire) : [this.#small.bytes];
      for await (const chunk of chunks) {
        if (rateLimit !== undefined) await this.#keepTo(rateLimit, chunk.length);
        digest?.update(chunk);
        if (sent + chunk.length === source.size) await this.#hold(wire, sha256 ?? digest?.digest('hex'));
        const start = clock.monotonic();
        yield chunk;
        pace.learn(clock.monotonic() - start);
        sent += chunk.length;
        this.#watcher.sent(sent);
      }
    } catch (error) {
      this.#watcher.failed(error);
      throw error;
    }
  }

  /** Waiting for our own limit is no stall. */
  async #keepTo(rateLimit: RateLimit, bytes: number): Promise<void> {
    this.#watcher.waiting();
    await rateLimit.take(bytes, this.#options.signal);
    this.#watcher.sending();
  }

  async #hold(wire: Wire, sha256: string | undefined): Promise<void> {
    const {source, clock, commit, signal} = this.#options;
    const pauseMs = pauseBeforeRelease(source.size, wire.connectMs);
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    await source.verify();
    if (sha256 !== undefined) await commit?.(sha256);
    signal.throwIfAborted();
  }
}

function pauseBeforeRelease(size: number, connectMs: number): number {
  if (size <= smallestChunk) return 0;
  return size < longPauseBytes ? shortPauseMs : Math.min(1_000, Math.max(shortPauseMs, 2 * connectMs));
}
