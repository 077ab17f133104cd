import type {MediaError} from '../errors.ts';
import {withTries} from './attempt/explain.ts';
import {backoffMs, type Failure, parseRetryAfter, type RetryBudget} from './attempt/retry.ts';
import type {RetryOptions, RunOptions} from './options.ts';
import type {OutcomeFacts} from './outcome.ts';

/** Services may forget idempotency keys without notice. Those that document it keep them for at least a day. */
const keyLifeMs = 12 * 3_600_000;

/** Counts the retries of one file: as many as the user and the batch permit, and one more after each outage. */
export class Retries {
  readonly #facts: Readonly<OutcomeFacts>;
  readonly #options: RunOptions & RetryOptions;
  readonly #budget: RetryBudget;
  /** In milliseconds since the Unix epoch. */
  #firstTryAt: number | undefined;
  #spent = 0;
  /** Retries after an outage, which are not limited. */
  #free = 0;

  constructor(facts: Readonly<OutcomeFacts>, options: RunOptions & RetryOptions, budget: RetryBudget) {
    this.#facts = facts;
    this.#options = options;
    this.#budget = budget;
  }

  /** Call before each attempt. */
  begin(): void {
    this.#firstTryAt ??= this.#options.clock.now();
  }

  /** Whether the file may be sent again although it may be stored: not once the service may have forgotten the key. */
  get mayResend(): boolean {
    return (this.#firstTryAt ?? 0) >= this.resendSince;
  }

  /** Unknown uploads that were released at this time or later may be sent again; Infinity for none, -Infinity for all. */
  get resendSince(): number {
    const {onUnknown, clock} = this.#options;
    if (onUnknown === 'honoured') return clock.now() - keyLifeMs;
    return onUnknown === 'hold' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** Waits before the next attempt; false if there may be none, or if the service asks to wait for too long. `isFree`: after an outage, which is waited for elsewhere. */
  async next(
    error: MediaError,
    {failure, isFree = false}: {failure?: Failure; isFree?: boolean} = {},
  ): Promise<boolean> {
    const {clock, retries, stop, observer} = this.#options;
    if (failure?.kind === 'refused' && failure.longWaitMs !== undefined && !isFree) return false;
    if (stop.aborted || (isFree ? retries === 0 : this.#spent >= retries || !this.#budget.take()))
      return false;
    const waitMs = isFree ? undefined : this.#waitMs(failure);
    if (isFree) this.#free += 1;
    else this.#spent += 1;
    observer.retrying(this.#facts.position, this.#facts.name, error, waitMs);
    if (waitMs === undefined) return true;
    return clock.sleep(waitMs, stop).then(
      () => true,
      () => false,
    );
  }

  #waitMs(failure: Failure | undefined): number {
    const {clock, random} = this.#options;
    const field = failure?.kind === 'refused' ? failure.retryAfter : undefined;
    const asked = field === undefined ? undefined : parseRetryAfter(field, clock.now());
    return asked ?? backoffMs(this.#spent, random);
  }

  /** Call when the file is stored: returns its retries to the batch. */
  giveBack(): void {
    this.#budget.restore(this.#spent);
  }

  /** The error with the number of attempts, if there was more than one. */
  withAttempts(error: MediaError): MediaError {
    const {attempts} = this.#facts;
    if (attempts < 2) return error;
    const most = this.#options.retries + 1 + this.#free;
    return error.reworded({message: withTries(error.message, attempts, most)});
  }
}
