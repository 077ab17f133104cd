import type {MediaError} from '../errors.ts';
import {withTries} from './attempt/explain.ts';
import {backoffMs, type Failure, parseRetryAfter, type RetryBudget} from './attempt/retry.ts';
import type {TransferOptions} from './options.ts';
import type {OutcomeFacts} from './outcome.ts';
import {resendOf} from './resend.ts';

type Options = Pick<TransferOptions, 'clock' | 'random' | 'retries' | 'onUnknown' | 'stop' | 'observer'>;

/** How often one file may be tried again: as often as the user and the batch allow, and after an outage once more. */
export class Retries {
  readonly #facts: Readonly<OutcomeFacts>;
  readonly #options: Options;
  readonly #budget: RetryBudget;
  /** In milliseconds since the Unix epoch. */
  #firstTryAt: number | undefined;
  #spent = 0;
  /** Retries after an outage, which do not count. */
  #free = 0;

  constructor(facts: Readonly<OutcomeFacts>, options: Options, budget: RetryBudget) {
    this.#facts = facts;
    this.#options = options;
    this.#budget = budget;
  }

  /** An attempt is about to be made. */
  begin(): void {
    this.#firstTryAt ??= this.#options.clock.now();
  }

  /** Whether the file may be sent again although it may be stored. A machine that slept may find that its key is forgotten. */
  get mayResend(): boolean {
    return (this.#firstTryAt ?? 0) >= resendOf(this.#options).releasedSince;
  }

  /**
   * Waits before another try; false when there is none left or the run is to end. `isFree`: whether it was an outage, which is
   * waited for elsewhere.
   */
  async next(
    error: MediaError,
    {failure, isFree = false}: {failure?: Failure; isFree?: boolean} = {},
  ): Promise<boolean> {
    const {clock, retries, stop, observer} = this.#options;
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

  /** The file is stored: the batch gets its retries back. */
  giveBack(): void {
    this.#budget.restore(this.#spent);
  }

  /** The error with the number of attempts, if there was more than one. */
  toldAfter(error: MediaError): MediaError {
    const {attempts} = this.#facts;
    if (attempts < 2) return error;
    const most = this.#options.retries + 1 + this.#free;
    return error.reworded({message: withTries(error.message, attempts, most)});
  }
}
