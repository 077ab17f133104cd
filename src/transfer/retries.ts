import type {MediaError} from '../errors.ts';
import {withTries} from './attempt/explain.ts';
import {backoffMs, type Failure, parseRetryAfter, type RetryBudget} from './attempt/retry.ts';
import type {KeySupport} from './key-support.ts';
import type {RetryOptions, RunOptions} from './options.ts';
import type {OutcomeFacts} from './outcome.ts';

/** Services may forget idempotency keys without notice. Those that document it keep them for at least a day. */
const keyLifeMs = 12 * 3_600_000;

export type Retries = ReturnType<typeof retriesOf>;

/** Counts the retries of one file: as many as the user and the batch permit, and one more after each outage. */
export function retriesOf(
  facts: Readonly<OutcomeFacts>,
  {clock, random, retries, stop, observer, onUnknown}: RunOptions & RetryOptions,
  {budget, keys}: {budget: RetryBudget; keys: KeySupport},
) {
  /** In milliseconds since the Unix epoch. */
  let firstTryAt: number | undefined;
  let spent = 0;
  /** Retries after an outage, which are not limited. */
  let free = 0;
  const waitBefore = (failure: Failure | undefined) => {
    const field = failure?.kind === 'refused' ? failure.retryAfter : undefined;
    const asked = field === undefined ? undefined : parseRetryAfter(field, clock.now());
    return asked ?? backoffMs(spent, random);
  };
  return {
    /** Call before each attempt. */
    begin(): void {
      firstTryAt ??= clock.now();
    },

    /** Whether the file may be sent again although it may be stored: not once the service may have forgotten the key. */
    get mayResend(): boolean {
      return (firstTryAt ?? 0) >= this.resendSince;
    },

    /** Unknown uploads that were released at this time or later may be sent again; Infinity for none, -Infinity for all. */
    get resendSince(): number {
      if (onUnknown === 'retry') return Number.NEGATIVE_INFINITY;
      return keys.isCertain ? clock.now() - keyLifeMs : Number.POSITIVE_INFINITY;
    },

    /** Waits before the next attempt; false if there may be none, or if the service asks to wait for too long. `isFree`: after an outage, which is waited for elsewhere. */
    async next(
      error: MediaError,
      {failure, isFree = false}: {failure?: Failure; isFree?: boolean} = {},
    ): Promise<boolean> {
      if (failure?.kind === 'refused' && failure.longWaitMs !== undefined && !isFree) return false;
      if (stop.aborted || (isFree ? retries === 0 : spent >= retries || !budget.take())) return false;
      const waitMs = isFree ? undefined : waitBefore(failure);
      if (isFree) free += 1;
      else spent += 1;
      observer.retrying(facts.position, facts.name, error, waitMs);
      if (waitMs === undefined) return true;
      return clock.sleep(waitMs, stop).then(
        () => true,
        () => false,
      );
    },

    /** Call when the file is stored: returns its retries to the batch. */
    giveBack: () => budget.restore(spent),

    /** The error with the number of attempts, if there was more than one. */
    withAttempts(error: MediaError): MediaError {
      const {attempts} = facts;
      if (attempts < 2) return error;
      return error.reword({message: withTries(error.message, attempts, retries + 1 + free)});
    },
  };
}
