import {MediaError} from '../errors.ts';
import type {Clock} from '../host.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {OpenSource, Source} from '../sources/source.ts';
import {type AttemptResult, attemptUpload} from './attempt.ts';
import {explain} from './explain.ts';
import {
  backoffMs,
  type Decision,
  decide,
  type Failure,
  type Phase,
  parseRetryAfter,
  RetryBudget,
} from './retry.ts';
import type {Uploader} from './uploader.ts';

/** What became of one input. */
export type Outcome = OutcomeFacts &
  (
    | {status: 'uploaded'; received: ReceivedRecord}
    /** Checked and found fit, under `dryRun`; nothing was sent. */
    | {status: 'checked'}
    | {status: 'failed'; error: MediaError}
    | {status: 'unknown'; error: MediaError}
  );

export interface OutcomeFacts {
  name: string;
  contentType?: string;
  /** Bytes. */
  size?: number;
  /** Requests begun. */
  attempts: number;
  elapsedMs: number;
}

/** Told what happens between outcomes. */
export interface TransferObserver {
  started(name: string, size: number): void;
  progress(sentBytes: number): void;
  retrying(name: string, error: MediaError, waitMs: number): void;
  warning(name: string, message: string): void;
}

export interface TransferOptions {
  uploader: Uploader;
  /** The service's host and port, for messages. */
  host: string;
  clock: Clock;
  random: () => number;
  uuid: () => string;
  /** Decides the content type, or rejects with a MediaError. */
  contentType: (source: Source, opened: OpenSource) => Promise<{contentType: string; warning?: string}>;
  /** Attempts after the first. */
  retries: number;
  stallTimeoutMs: number;
  answerTimeoutMs: number;
  /** What to do with an upload whose outcome is unknown: leave it, or send it again. */
  onUnknown: 'hold' | 'retry';
  dryRun: boolean;
  /** Whether the first failure ends the batch. */
  failFast: boolean;
  /** Aborted, with a MediaError as its reason, when the run is to end. */
  stop: AbortSignal;
  observer: TransferObserver;
}

/** Uploads the sources in order and yields what became of each; never rejects for the failure of one file. */
export async function* uploadAll(
  sources: Iterable<Source>,
  options: TransferOptions,
): AsyncGenerator<Outcome> {
  let halted: MediaError | undefined;
  let answered = false;
  const budget = new RetryBudget();
  for (const source of sources) {
    const before = halted ?? (options.stop.aborted ? (options.stop.reason as MediaError) : undefined);
    if (before !== undefined) {
      yield notTried(source, before);
      continue;
    }
    const {outcome, halt} = await new Transfer(source, options, budget).run();
    if (halt === 'always' || (halt === 'if-first' && !answered))
      halted = (outcome as {error: MediaError}).error;
    if (options.failFast && 'error' in outcome) halted ??= outcome.error;
    answered ||= outcome.status === 'uploaded' || ('error' in outcome && outcome.error.status !== undefined);
    yield outcome;
  }
}

function notTried(source: Source, why: MediaError): Outcome {
  const error = new MediaError('not_tried', `${source.name} was not tried: the run had ended (${why.code}).`);
  return {name: source.name, status: 'failed', error, attempts: 0, elapsedMs: 0};
}

type Halt = 'never' | 'if-first' | 'always';

/** One file's way through its attempts. */
class Transfer {
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #budget: RetryBudget;
  readonly #start: number;
  readonly #facts: {contentType?: string; size?: number} = {};
  #attempts = 0;
  #retries = 0;
  /** An attempt whose outcome is unknown: no later failure makes that certain again. */
  #unknown: MediaError | undefined;

  constructor(source: Source, options: TransferOptions, budget: RetryBudget) {
    this.#source = source;
    this.#options = options;
    this.#budget = budget;
    this.#start = options.clock.monotonic();
  }

  async run(): Promise<{outcome: Outcome; halt: Halt}> {
    let opened: OpenSource | undefined;
    try {
      opened = await this.#open();
      const type = await this.#options.contentType(this.#source, opened);
      this.#facts.contentType = type.contentType;
      if (type.warning !== undefined) this.#options.observer.warning(this.#source.name, type.warning);
      if (this.#options.dryRun) return {outcome: {...this.#describe(), status: 'checked'}, halt: 'never'};
      return await this.#upload(opened, type.contentType);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      return {outcome: {...this.#describe(), status: 'failed', error}, halt: 'never'};
    } finally {
      await opened?.close();
    }
  }

  async #open(): Promise<OpenSource> {
    for (;;) {
      try {
        const opened = await this.#source.open(this.#options.stop);
        this.#facts.size = opened.size;
        this.#options.observer.started(this.#source.name, opened.size);
        return opened;
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        const {decision} = this.#decide('opening', {kind: 'error', error});
        if (decision.action !== 'retry' || !(await this.#waitToRetry(error, undefined))) throw error;
      }
    }
  }

  async #upload(source: OpenSource, contentType: string): Promise<{outcome: Outcome; halt: Halt}> {
    const {uploader, clock, stallTimeoutMs, answerTimeoutMs, stop, observer} = this.#options;
    const idempotencyKey = this.#options.uuid();
    for (;;) {
      this.#attempts += 1;
      const result = await attemptUpload({
        source,
        contentType,
        idempotencyKey,
        uploader,
        clock,
        stallTimeoutMs,
        answerTimeoutMs,
        stop,
        onProgress: bytes => observer.progress(bytes),
      });
      if (result.kind === 'stored') {
        this.#budget.restore(this.#retries);
        return {outcome: {...this.#describe(), status: 'uploaded', received: result.received}, halt: 'never'};
      }
      const ended = await this.#afterFailure(result);
      if (ended !== undefined) return ended;
    }
  }

  /** The file's end, or undefined when it is to be tried again now. */
  async #afterFailure(
    result: Extract<AttemptResult, {kind: 'failed'}>,
  ): Promise<{outcome: Outcome; halt: Halt} | undefined> {
    const {decision, error} = this.#decide(result.phase, result.failure);
    if (decision.action === 'unknown') this.#unknown ??= error;
    const mayRepeat =
      decision.action === 'retry' || (decision.action === 'unknown' && this.#options.onUnknown === 'retry');
    if (mayRepeat && (await this.#waitToRetry(error, retryAfter(result.failure)))) return undefined;
    const halt = decision.action === 'fail' ? decision.halt : 'never';
    const outcome: Outcome =
      this.#unknown === undefined
        ? {...this.#describe(), status: 'failed', error: this.#afterTries(error)}
        : {...this.#describe(), status: 'unknown', error: this.#afterTries(this.#unknown)};
    return {outcome, halt};
  }

  #decide(phase: Phase, failure: Failure): {decision: Decision; error: MediaError} {
    const decision = decide(phase, failure);
    return {decision, error: explain(phase, failure, decision, this.#options.host)};
  }

  /** Waits before another try; false when there is none left or the run is to end. */
  async #waitToRetry(error: MediaError, retryAfterField: string | undefined): Promise<boolean> {
    const {clock, random, retries, stop, observer} = this.#options;
    if (this.#retries >= retries || stop.aborted || !this.#budget.take()) return false;
    const asked = retryAfterField === undefined ? undefined : parseRetryAfter(retryAfterField, clock.now());
    const waitMs = asked ?? backoffMs(this.#retries, random);
    this.#retries += 1;
    observer.retrying(this.#source.name, error, waitMs);
    try {
      await clock.sleep(waitMs, stop);
      return true;
    } catch {
      return false;
    }
  }

  #afterTries(error: MediaError): MediaError {
    if (this.#attempts < 2) return error;
    const {code, message, hint, status, serviceCode, cause} = error;
    return new MediaError(code, `${message} (Attempt ${this.#attempts} of ${this.#options.retries + 1}.)`, {
      ...(hint === undefined ? {} : {hint}),
      ...(status === undefined ? {} : {status}),
      ...(serviceCode === undefined ? {} : {serviceCode}),
      cause,
    });
  }

  #describe(): OutcomeFacts {
    const elapsedMs = Math.round(this.#options.clock.monotonic() - this.#start);
    return {name: this.#source.name, ...this.#facts, attempts: this.#attempts, elapsedMs};
  }
}

function retryAfter(failure: Failure): string | undefined {
  return failure.kind === 'refused' ? failure.retryAfter : undefined;
}
