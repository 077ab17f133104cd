import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import {InOrder} from '../in-order.ts';
import type {Journal} from '../journal/journal.ts';
import type {Uploader} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/source.ts';
import {Duplicates} from './duplicates.ts';
import {type Ending, FileTransfer, leftOut, nameOf} from './file-transfer.ts';
import {Gate} from './gate.ts';
import {wouldBeLeftOut} from './left-out.ts';
import type {LeftOut, Outcome} from './outcome.ts';
import {RateLimit} from './rate-limit.ts';
import {RetryBudget} from './retry.ts';
import {type Later, mapConcurrently} from './workers.ts';

/** Told what happens between outcomes; `position` is the input's place among the inputs. */
export interface TransferObserver {
  started(position: number, name: string, size: number): void;
  /** How many bytes of the present attempt have been handed to the connection. */
  progress(position: number, sentBytes: number): void;
  retrying(position: number, name: string, error: MediaError, waitMs: number): void;
  /** A file that a walk found is an image or a video by its bytes alone, so that nobody could count it beforehand. */
  recognized(size: number): void;
  /** Not told of what is left out. */
  finished(position: number): void;
  warning(name: string, message: string): void;
}

export interface TransferOptions {
  /** Takes up to `concurrency` uploads at a time. */
  uploader: Uploader;
  /** The service's host and port, for messages. */
  host: string;
  clock: Clock;
  random: () => number;
  uuid: () => string;
  /** Decides the content type, or rejects with a MediaError. */
  contentType: (source: Source, opened: OpenSource) => Promise<{contentType: string; warning?: string}>;
  /** Files that are worked on at a time. */
  concurrency: number;
  /** Attempts after the first. */
  retries: number;
  stallTimeoutMs: number;
  answerTimeoutMs: number;
  /** Bytes a second for all files together; unlimited without it. */
  limitRate?: number;
  /** What to do with an upload whose outcome is unknown: leave it, or send it again. */
  onUnknown: 'hold' | 'retry';
  /** Remembers what was sent, so that another run can go on. */
  journal?: Journal;
  dryRun: boolean;
  /** Whether the first failure ends the batch. */
  failFast: boolean;
  /** Aborted, with a MediaError as its reason, when the run is to end. */
  stop: StopSignal;
  observer: TransferObserver;
}

/** What the files of a batch share. */
export interface BatchParts {
  /** Retries are taken from it, so that an outage costs a bounded number of requests. */
  budget: RetryBudget;
  /** Closed while the service asks for time. */
  gate: Gate;
  rateLimit: RateLimit | undefined;
  /** Of a dry run. */
  duplicates: Duplicates | undefined;
}

/**
 * Uploads the sources, up to `concurrency` at a time, and yields what became of each as it is known; never rejects for
 * the failure of one file. After a signal no further source is taken; after any other end of the run those that are
 * left come out as failed with `not_tried`. A dry run yields in the order of the sources, so that of equal files the first
 * counts as the original. What a walk leaves out is yielded as such.
 */
export function uploadAll(
  sources: AsyncIterable<Source> | Iterable<Source>,
  options: TransferOptions,
): AsyncIterableIterator<Outcome | LeftOut> {
  const batch = new Batch(options);
  const outcomes = mapConcurrently(
    sources,
    options.concurrency,
    source => batch.transfer(source),
    () => batch.isInterrupted,
  );
  return options.dryRun ? batch.audited(outcomes) : outcomes;
}

class Batch {
  readonly #options: TransferOptions;
  readonly #parts: BatchParts;
  #halted: MediaError | undefined;
  #answered = false;
  /** The position of the source that comes next. */
  #next = 0;

  constructor(options: TransferOptions) {
    const {clock, limitRate, dryRun, stop} = options;
    this.#options = options;
    this.#parts = {
      budget: new RetryBudget(),
      gate: new Gate(clock),
      rateLimit: limitRate === undefined ? undefined : new RateLimit(limitRate, clock),
      duplicates: dryRun ? new Duplicates(stop) : undefined,
    };
  }

  get isInterrupted(): boolean {
    return this.#end()?.code === 'interrupted';
  }

  async transfer(source: Source): Promise<Later<Outcome | LeftOut>> {
    const position = this.#next;
    this.#next += 1;
    const end = this.#halted ?? this.#end();
    if (end !== undefined) return {result: this.#notTried(position, source, end)};
    const ending = await new FileTransfer(position, source, this.#options, this.#parts).run();
    if (ending.outcome.status !== 'left out') this.#options.observer.finished(position);
    this.#learn(ending);
    return {result: this.#recorded(ending)};
  }

  async #notTried(position: number, source: Source, why: MediaError): Promise<Outcome | LeftOut> {
    const isLeftOut = source.found !== undefined && (await wouldBeLeftOut(source, this.#options));
    return isLeftOut ? leftOut(position, source) : notTried(position, source, why);
  }

  async #recorded({outcome, recorded}: Ending): Promise<Outcome | LeftOut> {
    const journalFailure = await recorded;
    this.#halted ??= journalFailure;
    return outcome;
  }

  /** The outcomes in the order of their positions, with the duplicates among them marked. */
  async *audited(outcomes: AsyncIterable<Outcome | LeftOut>): AsyncGenerator<Outcome | LeftOut> {
    const order = new InOrder<Outcome | LeftOut>();
    for await (const next of outcomes) {
      for (const outcome of order.take(next)) {
        const duplicateOf = this.#parts.duplicates?.originalOf(outcome.position);
        yield outcome.status === 'checked' && duplicateOf !== undefined ? {...outcome, duplicateOf} : outcome;
      }
    }
  }

  #learn({outcome, halt}: Ending): void {
    if ('error' in outcome) {
      if (halt === 'always' || (halt === 'if-first' && !this.#answered)) this.#halted ??= outcome.error;
      if (this.#options.failFast || outcome.error.code === 'journal_failed') this.#halted ??= outcome.error;
    }
    this.#answered ||=
      outcome.status === 'uploaded' || ('error' in outcome && outcome.error.status !== undefined);
  }

  #end(): MediaError | undefined {
    const {stop} = this.#options;
    return stop.aborted ? (stop.reason as MediaError) : undefined;
  }
}

function notTried(position: number, source: Source, why: MediaError): Outcome {
  const sentence = `${source.name} was not tried: the run had ended (${why.code}).`;
  const error = new MediaError('not_tried', sentence, {cause: why});
  return {...nameOf(source), position, status: 'failed', error, attempts: 0, elapsedMs: 0};
}
