import type {MediaError} from '../errors.ts';
import type {Outcome} from './outcome.ts';

/** For whom a failure holds: for its file, for all files if it was the first answer of a batch, or for all files. */
export type Reach = 'never' | 'if-first' | 'always';

/** Whether a batch goes on: a failure may hold for all files that follow. */
export class Halt {
  readonly #failFast: boolean;
  #reason: MediaError | undefined;
  /** Whether the service has answered anything yet. */
  #answered = false;

  constructor(failFast: boolean) {
    this.#failFast = failFast;
  }

  /** Why nothing more is to be sent; undefined while the batch goes on. */
  get reason(): MediaError | undefined {
    return this.#reason;
  }

  /** Nothing more is to be sent; the first reason counts. */
  because(reason: MediaError): void {
    this.#reason ??= reason;
  }

  /** Takes in what became of a file. */
  learn(outcome: Outcome, reach: Reach): void {
    if (outcome.status === 'uploaded') this.#answered = true;
    if (!('error' in outcome)) return;
    const {error} = outcome;
    const holdsForAll = reach === 'always' || (reach === 'if-first' && !this.#answered);
    if (holdsForAll || this.#failFast || error.code === 'journal_failed') this.because(error);
    if (error.status !== undefined) this.#answered = true;
  }
}
