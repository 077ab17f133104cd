import type {MediaError} from '../../errors.ts';
import {fact, phrase} from '../../hint.ts';
import {Stop} from '../../lib/stop.ts';
import {backoffMs, type FailureVerdict} from './attempt/judge.ts';
import type {OutcomeFacts} from './outcome.ts';
import type {TransferOptions} from './transfer-options.ts';

/** How long a key counts as remembered: those services that document it keep keys for a day or longer. */
const keyLifeMs = 12 * 3_600_000;

/** The most retries of a batch beyond those that stored files give back. */
const budgetRetries = 100;

/** How long a service has to respond when it is asked about keys, in milliseconds. */
const questionMs = 5_000;

/** Limits the retries of a whole batch: an outage causes at most 100 requests more than there are files. */
export class RetryPolicy {
  readonly options: TransferOptions;
  #left = budgetRetries;
  #question: Promise<void> | undefined;

  constructor(options: TransferOptions) {
    this.options = options;
  }

  /** Whether the service honours Idempotency-Key: as the user says, else as it declares, now or in the journal. */
  get honoursKeys(): boolean | undefined {
    const {onUnknown, uploader, journal} = this.options;
    if (onUnknown !== 'declared') return onUnknown === 'honoured';
    return uploader.honoursKeys ?? journal?.reader.scope?.honoursKeys;
  }

  /** Unknown uploads released at this time or later may be sent again; Infinity for none, -Infinity for all. */
  get resendSince(): number {
    const {onUnknown, clock} = this.options;
    if (onUnknown === 'retry') return Number.NEGATIVE_INFINITY;
    return this.honoursKeys ? clock.now() - keyLifeMs : Number.POSITIVE_INFINITY;
  }

  /** Call after each response: records in the journal whether the service honours keys, once it has said so. */
  learn(): void {
    const {uploader, journal} = this.options;
    if (uploader.honoursKeys !== undefined) journal?.recordKeySupport(uploader.honoursKeys);
  }

  /** Whether the service honours keys; if nothing is known yet, it is asked, once and without a file. */
  async askAboutKeys(): Promise<boolean> {
    if (this.honoursKeys === undefined) {
      this.#question ??= this.#ask();
      await this.#question;
    }
    return this.honoursKeys === true;
  }

  /** Asks the service without a file, for at most 5 s; its response sets `honoursKeys` of the uploader. */
  async #ask(): Promise<void> {
    const {uploader, clock, stop} = this.options;
    const end = new Stop();
    const onStop = () => end.abort(stop.reason);
    const cancel = clock.after(questionMs, onStop);
    stop.addEventListener('abort', onStop, {once: true});
    if (!stop.aborted) await uploader.probeAvailability?.(end);
    cancel();
    stop.removeEventListener('abort', onStop);
    this.learn();
  }

  /** Takes one retry; false if none is left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Call for a stored file: returns its retries, or a fifth of one if it had none, as the AWS SDKs do. */
  refund(retries: number): void {
    this.#left = Math.min(budgetRetries, this.#left + Math.max(retries, 0.2));
  }
}

/** Counts the retries of one file: as many as the user and the batch permit, and one more after each outage. */
export class Retries {
  readonly #facts: Readonly<OutcomeFacts>;
  readonly #policy: RetryPolicy;
  /** When an upload with this key was first tried, in milliseconds since the Unix epoch. */
  #firstTryAt = 0;
  #spent = 0;
  /** Retries after an outage, which are not limited. */
  #afterOutages = 0;

  constructor(facts: Readonly<OutcomeFacts>, policy: RetryPolicy) {
    this.#facts = facts;
    this.#policy = policy;
  }

  /** Call before the first attempt. `releasedAt`: when an earlier run released this key, NaN if that is unknown. */
  begin(releasedAt = Number.NaN): void {
    const now = this.#policy.options.clock.now();
    this.#firstTryAt = Number.isNaN(releasedAt) ? now : Math.min(now, releasedAt);
  }

  /** Whether the file may be sent again although it may be stored: not once the service may have forgotten the key. */
  get mayResend(): boolean {
    return this.#firstTryAt >= this.#policy.resendSince;
  }

  /** Waits before the next attempt, unless an outage has been waited for; false if there may be no other attempt. */
  async next(error: MediaError, verdict: FailureVerdict, afterOutage = false): Promise<boolean> {
    const {retries, stop, clock, random, observer} = this.#policy.options;
    if (verdict.longWaitMs !== undefined && !afterOutage) return false;
    if (stop.aborted || (afterOutage ? retries === 0 : this.#spent >= retries || !this.#policy.take()))
      return false;
    const waitMs = afterOutage ? undefined : (verdict.waitMs ?? backoffMs(this.#spent, random));
    if (afterOutage) this.#afterOutages += 1;
    else this.#spent += 1;
    observer.retrying(this.#facts.position, this.#facts.file, error, waitMs);
    if (waitMs === undefined) return true;
    return clock.sleep(waitMs, stop).then(
      () => true,
      () => false,
    );
  }

  /** Call when the file is stored: gives its retries back to the batch. */
  refund(): void {
    this.#policy.refund(this.#spent);
  }

  /** The error with the number of attempts, if there was more than one. */
  withAttempts(error: MediaError): MediaError {
    const {attempts} = this.#facts;
    if (attempts < 2) return error;
    const most = this.#policy.options.retries + 1 + this.#afterOutages;
    return error.reword({message: phrase`${error.sentence}${phrase`${fact('tries', attempts, most)}`}`});
  }
}
