import {hasTrait, type MediaError} from '../errors.ts';
import type {RateLimit} from './attempt/rate-limit.ts';
import type {Reach, RetryBudget} from './attempt/retry.ts';
import type {Concurrency} from './concurrency.ts';
import type {Outcome} from './outcome.ts';
import type {Outage} from './waiting/outage.ts';
import type {Descriptors} from './workers.ts';

export interface BatchState {
  /** How many files are uploaded at a time. */
  concurrency: Concurrency;
  /** Limits the retries of the whole batch, so that an outage causes a bounded number of requests. */
  budget: RetryBudget;
  /** Keeps files from being sent while the service is away or asks to wait. */
  outage: Outage;
  /** Keeps files from being opened while the process has no descriptor left for them. */
  descriptors: Descriptors;
  /** Ends the batch when the failure of one file applies to all. */
  halt: Halt;
  rateLimit: RateLimit | undefined;
}

/** Decides whether a batch continues: a failure may apply to all remaining files. */
export class Halt {
  /** Why nothing more may be sent; undefined while the batch continues. */
  reason: MediaError | undefined;
  readonly #onHalt: () => void;
  /** Whether the service has sent any response yet. */
  #answered = false;

  /** `onHalt` is called once, when the batch is to end. */
  constructor(onHalt: () => void) {
    this.#onHalt = onHalt;
  }

  /** Ends the batch; only the first reason counts. */
  because(reason: MediaError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#onHalt();
  }

  /** Takes the result of a file into account. */
  learn(outcome: Outcome, reach: Reach): void {
    if (outcome.status === 'uploaded') this.#answered = true;
    if (!('error' in outcome)) return;
    const {error} = outcome;
    this.stopEarly(error, reach);
    if (error.status !== undefined) this.#answered = true;
  }

  /** Ends the batch at once if this failure, whose outcome is yet to be recorded, ends it. */
  stopEarly(error: MediaError, reach: Reach): void {
    const holdsForAll = reach === 'always' || (reach === 'if-first' && !this.#answered);
    if (holdsForAll || hasTrait(error.code, 'unrecorded')) this.because(error);
  }
}
