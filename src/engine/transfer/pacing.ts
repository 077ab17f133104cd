import type {MediaError} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import type {Stop} from '../../lib/stop.ts';
import type {FailedAttempt} from './attempt/attempt.ts';
import {backoffMs, type FailureVerdict} from './attempt/judge.ts';
import {RateLimit} from './attempt/rate-limit.ts';
import {AdaptiveConcurrency, type AttemptResult, type Concurrency, safeConcurrency} from './concurrency.ts';
import {Outage, type OutageOptions} from './outage.ts';
import type {TransferOptions} from './transfer-options.ts';

type PacingOptions = Omit<OutageOptions, 'concurrency' | 'pause' | 'abort'> &
  Pick<TransferOptions, 'retries' | 'concurrency' | 'limitRate'>;

/** What the pacing learns from an attempt. */
type Report = Pick<FailureVerdict, 'availability' | 'overload' | 'batchWait'>;

/** The pause grows with each refusal in a row up to this one, to 2 s: 8 files make under 10 requests a second. */
const longestRow = 3;

/**
 * Decides when a file of the batch may be sent. After several refusals in a row, with nothing stored between them, each
 * file waits a little: the service limits how many files it takes in some time, and even one at a time is too fast.
 * Without these pauses, a batch would have most of its files refused in a second.
 */
export class Pacing {
  /** When the bytes of a file may be sent. */
  readonly rateLimit: RateLimit | undefined;
  readonly #options: PacingOptions;
  readonly #concurrency: Concurrency;
  readonly #outage: Outage;
  /** By file: what releases its slot under a limit that changes; none under a fixed one. */
  readonly #slots = new Map<number, (result: AttemptResult) => void>();
  #pausedUntil = 0;
  #refusalsInARow = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  /** `abort`: aborted when an outage lasts too long; if it is aborted, nobody waits any more. */
  constructor(options: PacingOptions, abort: Stop<MediaError>) {
    const {clock, retries, concurrency, limitRate} = options;
    this.#options = options;
    this.rateLimit = limitRate === undefined ? undefined : new RateLimit(limitRate, clock);
    // Without retries, a file that is refused for being one too many is lost: no higher limit is tried.
    const highest = retries === 0 ? safeConcurrency : Number.POSITIVE_INFINITY;
    this.#concurrency =
      typeof concurrency === 'number'
        ? {limit: concurrency}
        : new AdaptiveConcurrency(clock, Math.min(concurrency.most, highest));
    const pause = (signal: StopSignal) => this.#pause(signal);
    this.#outage = new Outage({...options, concurrency: this.#concurrency, pause, abort});
    abort.addEventListener('abort', () => this.end());
  }

  /** How many files may be in progress at a time. */
  get limit(): number {
    return this.#concurrency.limit;
  }

  /** Resolves when a file may be sent or the run ends; to an error if the service was unavailable for too long. */
  async turn(file: number, size: number): Promise<MediaError | undefined> {
    this.#outage.begin(file);
    const release = await this.#concurrency.begin?.(size);
    if (release !== undefined) this.#slots.set(file, release);
    return this.#outage.pass(file);
  }

  /** Call with the result of an attempt. Returns whether the next attempt is no retry: the service is away for all. */
  report(file: number, report: Report, {sentAt = 0, failure}: Partial<FailedAttempt> = {}): boolean {
    const {availability, overload = 'other', batchWait} = report;
    const {clock} = this.#options;
    if (availability === 'stored') this.#refusalsInARow = 0;
    if (typeof batchWait === 'number')
      this.#pausedUntil = Math.max(this.#pausedUntil, clock.monotonic() + batchWait);
    // Files that were sent together and are all refused count as one refusal.
    if (batchWait === 'backoff' && sentAt >= this.#refusedAt) {
      this.#refusedAt = clock.monotonic();
      this.#refusalsInARow += 1;
    }
    this.#release(file, availability === 'stored' ? 'stored' : overload);
    return this.#outage.report(file, availability, failure);
  }

  /** Call when nothing more is sent for a file, also after report(), which has released its slot already. */
  finish(file: number): void {
    this.#release(file, 'other');
    this.#outage.finish(file);
  }

  /** Ends all waiting, since the run ends. */
  end(why?: MediaError): void {
    this.#outage.abandon(why);
  }

  /** Gives back the file's slot, if it has one: the second call for an attempt does nothing. */
  #release(file: number, result: AttemptResult): void {
    const release = this.#slots.get(file);
    this.#slots.delete(file);
    release?.(result);
  }

  /** Resolves when no pause is left; rejects with the signal's reason if that is aborted first. */
  async #pause(signal: StopSignal): Promise<void> {
    const {clock, random, retries} = this.#options;
    // At random, so that the files do not come at once.
    if (this.#refusalsInARow > 1 && retries > 0)
      await clock.sleep(backoffMs(Math.min(this.#refusalsInARow, longestRow) - 1, random), signal);
    for (;;) {
      const waitMs = this.#pausedUntil - clock.monotonic();
      if (waitMs <= 0) return;
      await clock.sleep(waitMs, signal);
    }
  }
}
