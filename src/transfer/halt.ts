import {endsJournalling, type MediaError} from '../errors.ts';
import type {Reach} from './attempt/retry.ts';
import type {Outcome} from './outcome.ts';

/** Decides whether a batch continues: a failure may apply to all remaining files. */
export class Halt {
  readonly #onHalt: () => void;
  #reason: MediaError | undefined;
  /** Whether the service has sent any response yet. */
  #answered = false;

  /** `onHalt` is called once, when the batch is to end. */
  constructor(onHalt: () => void) {
    this.#onHalt = onHalt;
  }

  /** Why nothing more may be sent; undefined while the batch continues. */
  get reason(): MediaError | undefined {
    return this.#reason;
  }

  /** Ends the batch; only the first reason counts. */
  because(reason: MediaError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#onHalt();
  }

  /** Takes the result of a file into account. */
  learn(outcome: Outcome, reach: Reach): void {
    if (outcome.status === 'uploaded') this.#answered = true;
    if (!('error' in outcome)) return;
    const {error} = outcome;
    this.foresee(error, reach);
    if (error.status !== undefined) this.#answered = true;
  }

  /** Ends the batch at once if this failure, whose outcome is yet to be recorded, ends it. */
  foresee(error: MediaError, reach: Reach): void {
    const holdsForAll = reach === 'always' || (reach === 'if-first' && !this.#answered);
    if (holdsForAll || endsJournalling(error.code)) this.because(error);
  }
}
