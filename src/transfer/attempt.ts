import {createHash, hash} from 'node:crypto';
import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import type {BodyWriter, WholeBody, Wire} from '../http.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {OpenSource, SmallContent} from '../sources/source.ts';
import type {RateLimit} from './rate-limit.ts';
import type {Failure, Phase} from './retry.ts';
import {Stop} from './stop.ts';
import type {UploadAnswer, Uploader} from './uploader.ts';

export interface AttemptOptions {
  source: OpenSource;
  contentType: string;
  /** A UUID, the same for every attempt at this content. */
  idempotencyKey: string;
  uploader: Uploader;
  clock: Clock;
  /** How long sending may make no progress, in milliseconds. */
  stallTimeoutMs: number;
  /** How long the service may take to answer after the last byte, in milliseconds. */
  answerTimeoutMs: number;
  /** Aborted, with a MediaError as its reason, when the run is to end. */
  stop: StopSignal;
  /** Shared by all that is sent, where there is a limit. */
  rateLimit?: RateLimit | undefined;
  /**
   * Resolves once it is on record that the last chunk is about to be sent; `sha256` is of the whole content, in hex.
   * The content is hashed only where this is given.
   */
  commit?: ((sha256: string) => Promise<void>) | undefined;
  /** Told how many bytes of this attempt have been handed to the connection. */
  onProgress: (sentBytes: number) => void;
}

export type AttemptResult =
  | {kind: 'stored'; received: ReceivedRecord}
  | {kind: 'failed'; phase: Phase; failure: Failure};

/** Bodies from this size on wait before their release for an error that may be on its way: as long as a round trip takes. */
const longPauseBytes = 4 * 1024 * 1024;

/** Smaller ones wait no longer than a near service needs, in milliseconds, and those of one chunk not at all. */
const shortPauseMs = 5;

/** How long a released upload may still be answered after the run was told to end. */
const graceMs = 5_000;

/**
 * Makes one attempt at one file: connect, send all but the last chunk, check the source, release, read the answer.
 * Rejects for a bug only; the phase says how far it came, and before `released` the request cannot have taken effect.
 */
export function attemptUpload(options: AttemptOptions): Promise<AttemptResult> {
  return new Attempt(options).run();
}

class Attempt {
  readonly #options: AttemptOptions;
  readonly #abort = new Stop();
  #phase: Phase = 'connecting';
  #failure: Failure | undefined;
  #bug: unknown;
  #ended = false;
  #cancelTimer = () => {};

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  async run(): Promise<AttemptResult> {
    const {stop, uploader, source, contentType, idempotencyKey} = this.#options;
    const onStop = () => this.#stop();
    stop.addEventListener('abort', onStop, {once: true});
    if (stop.aborted) onStop();
    try {
      const answer = await uploader.upload({
        contentType,
        contentLength: source.size,
        idempotencyKey,
        body: await this.#body(),
        signal: this.#abort,
      });
      return this.#judge(answer);
    } catch (error) {
      if (this.#bug !== undefined) throw this.#bug;
      return this.#failed(this.#failure ?? asFailure(error));
    } finally {
      // The body may still be running, on a connection that is gone.
      this.#ended = true;
      this.#cancelTimer();
      stop.removeEventListener('abort', onStop);
    }
  }

  #judge(answer: UploadAnswer): AttemptResult {
    // An answer is still an answer when the run was told to end or the source failed meanwhile, unless it claims success.
    if (answer.kind === 'refused') {
      return this.#failed({
        kind: 'refused',
        status: answer.status,
        ...(answer.errorRecord === undefined ? {} : {message: answer.errorRecord.message}),
        ...(answer.errorRecord?.code === undefined ? {} : {serviceCode: answer.errorRecord.code}),
        ...(answer.retryAfter === undefined ? {} : {retryAfter: answer.retryAfter}),
        ...(answer.location === undefined ? {} : {location: answer.location}),
      });
    }
    if (this.#phase !== 'released') {
      // Also when the rest of that answer never came, which must not look like a stall that is worth another try.
      const premature: Failure = {kind: 'premature', status: answer.kind === 'stored' ? 200 : answer.status};
      return this.#failed(
        this.#failure === undefined || this.#failure.kind === 'stall' ? premature : this.#failure,
      );
    }
    if (answer.kind === 'stored') return {kind: 'stored', received: answer.received};
    return this.#failed(
      this.#failure ?? {kind: 'unreadable', status: answer.status, problem: answer.problem},
    );
  }

  #failed(failure: Failure): AttemptResult {
    return {kind: 'failed', phase: this.#phase, failure};
  }

  /** Ends the attempt with a failure; the first one counts. */
  #end(failure: Failure): void {
    this.#failure ??= failure;
    this.#abort.abort(new MediaError('interrupted', 'The attempt was ended.'));
  }

  #stop(): void {
    const {stop, clock} = this.#options;
    const failure: Failure = {kind: 'stopped', error: stop.reason as MediaError};
    if (this.#phase !== 'released') this.#end(failure);
    else this.#setTimer(() => clock.after(graceMs, () => this.#end(failure)));
  }

  #setTimer(start: () => () => void): void {
    this.#cancelTimer();
    if (!this.#ended) this.#cancelTimer = start();
  }

  /** Every sign of progress puts the stall off. */
  #watchForStall(): void {
    const {clock, stallTimeoutMs} = this.#options;
    this.#setTimer(() =>
      clock.after(stallTimeoutMs, () => this.#end({kind: 'stall', afterMs: stallTimeoutMs})),
    );
  }

  #watchForAnswer(): void {
    const {clock, answerTimeoutMs} = this.#options;
    this.#setTimer(() =>
      clock.after(answerTimeoutMs, () => this.#end({kind: 'answer-timeout', afterMs: answerTimeoutMs})),
    );
  }

  /** A small file is sent in one piece, others are read while they are sent. */
  async #body(): Promise<BodyWriter | WholeBody> {
    const {source, commit, rateLimit} = this.#options;
    const content = rateLimit === undefined ? await source.small?.() : undefined;
    if (content === undefined) return wire => this.#noted(this.#send(wire));
    if (content.bytes.length < source.size) return cutShort(source);
    return commit === undefined
      ? {bytes: content.bytes, release: () => this.#releaseAtOnce(content)}
      : wire => this.#noted(this.#sendWhole(wire, content.bytes));
  }

  /** Nothing of a small file is sent before its source is found unchanged. */
  #releaseAtOnce(content: SmallContent): void {
    const {source, onProgress} = this.#options;
    this.#phase = 'held';
    try {
      content.verify();
    } catch (error) {
      this.#note(error);
      throw error;
    }
    this.#phase = 'released';
    this.#watchForAnswer();
    onProgress(source.size);
  }

  async *#noted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  /** The same where its commit has to be on record first, which takes time. */
  async *#sendWhole(wire: Wire, bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    this.#phase = 'held';
    this.#watchForStall();
    await this.#hold(wire, hash('sha256', bytes));
    await this.#yieldToAnswer(wire);
    this.#release(wire);
    yield bytes;
    this.#options.onProgress(bytes.length);
  }

  /** Keeps what ended a body: whoever made the request is told only that it ended. */
  #note(error: unknown): void {
    if (error instanceof MediaError) this.#failure ??= {kind: 'error', error};
    else if (!(error instanceof Abandoned)) this.#bug ??= error;
  }

  /** Asked for each chunk only when everything before it has left the process. */
  async *#send(wire: Wire): AsyncGenerator<Uint8Array> {
    const {source, commit, clock, rateLimit, onProgress} = this.#options;
    const pace = new Pace(rateLimit?.chunkBytes);
    const digest = commit === undefined ? undefined : createHash('sha256');
    this.#phase = 'held';
    this.#watchForStall();
    let sent = 0;
    for await (const chunk of chunksOf(source, pace)) {
      const last = sent + chunk.length === source.size;
      await this.#keepToRate(chunk.length);
      digest?.update(chunk);
      if (last) await this.#hold(wire, digest?.digest('hex'));
      await this.#yieldToAnswer(wire);
      if (last) this.#release(wire);
      const start = clock.monotonic();
      yield chunk;
      pace.learn(clock.monotonic() - start);
      sent += chunk.length;
      onProgress(sent);
      if (!last) this.#watchForStall();
    }
  }

  /** Waiting for our own limit is no stall. */
  async #keepToRate(bytes: number): Promise<void> {
    const {rateLimit} = this.#options;
    if (rateLimit === undefined) return;
    this.#setTimer(() => () => {});
    await rateLimit.take(bytes, this.#abort);
    this.#watchForStall();
  }

  /** The last chunk waits here: for errors that are on their way, then for the source to be found unchanged. */
  async #hold(wire: Wire, sha256: string | undefined): Promise<void> {
    const {source, clock, commit} = this.#options;
    const pauseMs = pauseBeforeRelease(source.size, wire.connectMs);
    if (pauseMs > 0) await clock.sleep(pauseMs, this.#abort);
    await source.verify();
    if (sha256 !== undefined) await commit?.(sha256);
    this.#abort.throwIfAborted();
  }

  /** From here to the write of the last chunk nothing else can run, so the phase is never ahead of the connection. */
  #release(wire: Wire): void {
    if (!wire.open) throw new Abandoned();
    this.#phase = 'released';
    this.#watchForAnswer();
  }

  /** Once an answer has begun no further byte is sent; the request ends when the answer has been read. */
  async #yieldToAnswer(wire: Wire): Promise<void> {
    if (!wire.answered) return;
    await wire.settled;
    throw new Abandoned();
  }
}

function pauseBeforeRelease(size: number, connectMs: number): number {
  if (size <= smallestChunk) return 0;
  return size < longPauseBytes ? shortPauseMs : Math.min(1_000, Math.max(shortPauseMs, 2 * connectMs));
}

/** Ends a body that nobody waits for: its request has been answered, or its connection is gone. Never shown. */
class Abandoned extends Error {}

function asFailure(error: unknown): Failure {
  return error instanceof MediaError ? {kind: 'error', error} : {kind: 'connection', cause: error};
}

/** What is read at once, in bytes; no chunk is larger. */
const blockBytes = 256 * 1024;
const smallestChunk = 64 * 1024;

/**
 * What to send at a time: more while the connection takes it at once, for throughput, and little on a slow one, whose
 * every chunk is a sign of life that puts off the stall timeout.
 */
class Pace {
  readonly #isFixed: boolean;
  chunkBytes: number;

  constructor(fixedBytes: number | undefined) {
    this.#isFixed = fixedBytes !== undefined;
    this.chunkBytes = fixedBytes ?? smallestChunk;
  }

  /** Told how long the last chunk took. */
  learn(elapsedMs: number): void {
    if (this.#isFixed) return;
    if (elapsedMs < 10) this.chunkBytes = Math.min(blockBytes, this.chunkBytes * 2);
    else if (elapsedMs > 100) this.chunkBytes = smallestChunk;
  }
}

/**
 * The bytes of a source in order, read one block ahead. Whoever takes a chunk is done with it when asking for the next:
 * a connection takes no chunk of this size before the one before has left the process. So few blocks serve a file of
 * any size. Rejects with `source_changed` when the bytes end before the source's size.
 */
async function* chunksOf(source: OpenSource, pace: Pace): AsyncGenerator<Uint8Array> {
  const memory = new Blocks(pace, source.size);
  let position = 0;
  let next = source.read(0, blockBytes, memory.next());
  while (position < source.size) {
    const block = await next;
    if (block.length === 0) await cutShort(source);
    position += block.length;
    if (position < source.size) next = quietly(source.read(position, blockBytes, memory.next()));
    for (let start = 0; start < block.length; ) {
      const end = Math.min(block.length, start + pace.chunkBytes);
      yield block.subarray(start, end);
      start = end;
    }
  }
}

/** One block is being sent, one is being read, and one more lies between them for certainty. */
const blockCount = 3;

/** The memory that blocks are read into, used in turn. */
class Blocks {
  readonly #isReused: boolean;
  readonly #blocks: Uint8Array[] = [];
  #turn = 0;

  constructor(pace: Pace, size: number) {
    // Small chunks may wait in the connection's buffer; small files need no second block.
    this.#isReused = pace.chunkBytes >= smallestChunk && size > blockBytes;
  }

  /** The memory for the next block; undefined where it is to be new. */
  next(): Uint8Array | undefined {
    if (!this.#isReused) return undefined;
    const turn = this.#turn++ % blockCount;
    this.#blocks[turn] ??= Buffer.allocUnsafeSlow(blockBytes);
    return this.#blocks[turn];
  }
}

/** The file ended before its size: says how it changed. */
async function cutShort(source: OpenSource): Promise<never> {
  await source.verify();
  throw new MediaError(
    'source_changed',
    'The file ended before its size: it changed while it was being uploaded.',
  );
}

/** Lets a read that is under way fail without anybody waiting for it yet; whoever awaits it still sees the error. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
