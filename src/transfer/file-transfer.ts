import {hasTrait, MediaError} from '../errors.ts';
import type {InputVariant, UploadLog} from '../journal/journal.ts';
import type {Stored} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {type AttemptOptions, attemptUpload, type FailedAttempt} from './attempt/attempt.ts';
import {explain, unsent} from './attempt/explain.ts';
import type {RateLimit} from './attempt/rate-limit.ts';
import {decide, overloadOf, type Reach, type RetryBudget, signOf} from './attempt/retry.ts';
import type {AttemptEnd, Concurrency} from './concurrency.ts';
import {Ending, type Halt} from './ending.ts';
import type {Stripped} from './geotags.ts';
import type {KeySupport} from './key-support.ts';
import {geotagTransform, type TransferOptions} from './options.ts';
import {isLeftOut, type LeftOut, type Outcome} from './outcome.ts';
import {type Retries, retriesOf} from './retries.ts';
import type {Outage} from './waiting/outage.ts';
import type {Descriptors, PendingResult} from './workers.ts';

/** What the files of a batch share. */
export interface BatchState {
  /** How many files are uploaded at a time. */
  concurrency: Concurrency;
  /** Whether an upload with an unknown outcome may be sent again. */
  keys: KeySupport;
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

/** Takes one file through its transfer: open, decide its type, look it up, then attempt, judge and record until it has ended. */
export class FileTransfer {
  readonly #position: number;
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #batch: BatchState;
  readonly #ending: Ending;
  readonly #retries: Retries;
  /** Set after an attempt with an unknown outcome: no later failure makes it certain again. */
  #unknown: MediaError | undefined;
  /** Whether an attempt with the same idempotency key was released, in this run or an earlier one. */
  #wasReleased = false;
  #hasYielded = false;
  #entry: UploadLog | undefined;
  #stripped: Stripped | undefined;

  constructor(position: number, source: Source, options: TransferOptions, batch: BatchState) {
    this.#position = position;
    this.#source = source;
    this.#options = options;
    this.#batch = batch;
    this.#ending = new Ending(position, source, options, batch.halt);
    this.#retries = retriesOf(this.#ending.facts, options, batch);
  }

  /** Resolves when nothing more is sent, to a result that the journal may still record; to undefined if it begins again, having yielded its descriptor. */
  async run(): Promise<PendingResult<Outcome | LeftOut> | undefined> {
    if (this.#source.found?.isHidden) return this.#ending.leftOut();
    this.#hasYielded = false;
    this.#entry = undefined;
    let opened: OpenSource | undefined;
    let pending: PendingResult<Outcome | LeftOut> | undefined;
    try {
      opened = await this.#open();
      await this.#ending.opened(opened);
      pending = await this.#transfer(opened);
    } catch (error) {
      const failure = unsent(this.#source.name, error);
      if (this.#hasYielded || this.#yieldDescriptor(failure)) return undefined;
      pending = (await isLeftOut(this.#source, failure))
        ? this.#ending.leftOut()
        : this.#ending.failed('failed', failure);
    } finally {
      const end = () => this.#entry?.end();
      if (pending === undefined) end();
      else pending.result.then(end, end);
      await opened?.close();
    }
    return pending;
  }

  /** Opens the source; again after an error that another try may not meet. */
  async #open(): Promise<OpenSource> {
    for (;;) {
      try {
        return await this.#source.open(this.#options.stop);
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        const {action} = decide('opening', {kind: 'error', error});
        if (action !== 'retry' || this.#yieldDescriptor(error) || !(await this.#retries.next(error)))
          throw error;
      }
    }
  }

  async #transfer(opened: OpenSource): Promise<PendingResult<Outcome>> {
    const {journal, dryRun, stop, verify, geotags, typeRule} = this.#options;
    const {relativePath: path = this.#source.name} = this.#source;
    const transformRule = geotags === 'strip' ? geotagTransform : undefined;
    const input = {path, size: opened.size, stat: opened.stat, typeRule, transformRule};
    // A record is compared with the content type, too.
    const known =
      verify === undefined ? await this.#asked(since => journal?.lookUpUnchanged(input, since)) : undefined;
    if (known !== undefined) {
      this.#ending.started(opened.size);
      // It is public, too.
      if (geotags === 'warn') await this.#applyGeotags(opened);
      return this.#ending.fromJournal(known);
    }
    const {contentType, warning} = await this.#options.contentType(this.#source, opened);
    this.#ending.facts.contentType = contentType;
    if (verify !== undefined) this.#ending.facts.dimensions = await verify.dimensions(opened, contentType);
    this.#ending.started(opened.size);
    if (warning !== undefined) this.#ending.warn(warning);
    if (geotags !== undefined) await this.#applyGeotags(opened);
    const typed: InputVariant = {...input, contentType, ...this.#stripped};
    const admission = await this.#asked(resendSince =>
      journal?.beginUpload(typed, opened, {resendSince, stop}),
    );
    if (admission !== undefined && admission.status !== 'new') return this.#ending.fromJournal(admission);
    this.#entry = admission?.log;
    return dryRun ? this.#ending.checked() : this.#upload(opened, contentType);
  }

  /** What the journal knows; if that is an upload with an unknown outcome, once more when it is known whether that may be sent again. */
  async #asked<Result extends {status: string}>(
    ask: (resendSince: number) => Promise<Result | undefined> | undefined,
  ): Promise<Result | undefined> {
    const known = await ask(this.#retries.resendSince);
    const mayChange = known?.status === 'unknown' && (await this.#batch.keys.ask());
    return mayChange ? ask(this.#retries.resendSince) : known;
  }

  /** Searches the file for its location, and plans to send it without that. */
  async #applyGeotags(opened: OpenSource): Promise<void> {
    const {applyGeotags} = await import('./geotags.ts');
    this.#stripped = await applyGeotags(this.#options.geotags, opened, this.#ending);
  }

  async #upload(source: OpenSource, contentType: string): Promise<PendingResult<Outcome>> {
    const {uploader, clock, stop, timeoutMs, observer} = this.#options;
    const {outage, rateLimit} = this.#batch;
    const entry = this.#entry;
    this.#wasReleased = entry?.wasReleased ?? false;
    const doubted = entry?.unknownKey;
    if (doubted !== undefined) this.#unknown = this.#ending.unknownSince(doubted, true);
    // Named one by one: a copy of all the options takes a fifth of what an attempt costs on the main thread.
    const upload: AttemptOptions = {
      source,
      transformed: this.#stripped?.transformed,
      contentType,
      idempotencyKey: entry?.idempotencyKey ?? this.#options.uuid(),
      uploader,
      clock,
      stop,
      timeoutMs,
      rateLimit,
      entry,
      onProgress: bytes => observer.progress(this.#position, bytes),
    };
    outage.begin(this.#position);
    try {
      for (;;) {
        const ending = await this.#attemptOnce(upload);
        if (ending !== undefined) return ending;
      }
    } finally {
      outage.finish(this.#position);
    }
  }

  /** Makes an attempt when the file may be sent; the outcome of the file, or undefined if it is to be tried again now. */
  async #attemptOnce(upload: AttemptOptions): Promise<PendingResult<Outcome> | undefined> {
    const end = await this.#batch.concurrency.begin(upload.source.size);
    let how: AttemptEnd = 'other';
    let result: Stored | FailedAttempt;
    try {
      const error = await this.#batch.outage.pass(this.#position);
      if (error !== undefined) return this.#failed(error);
      result = await this.#attempt(upload);
      how = result.kind === 'stored' ? 'stored' : (overloadOf(result.phase, result.failure) ?? 'other');
    } finally {
      end(how);
    }
    if (result.kind === 'failed') return this.#afterFailure(result);
    this.#batch.outage.ended(this.#position, 'stored');
    this.#retries.giveBack();
    return this.#ending.stored(result.received, this.#entry);
  }

  async #attempt(upload: AttemptOptions): Promise<Stored | FailedAttempt> {
    this.#ending.facts.attempts += 1;
    this.#retries.begin();
    const result = await attemptUpload(upload);
    return result.kind === 'unsure' ? this.#attempt({...upload, isHashed: true}) : result;
  }

  async #afterFailure({phase, failure}: FailedAttempt): Promise<PendingResult<Outcome> | undefined> {
    const {waitsForNetwork, several, host} = this.#options;
    const {keys} = this.#batch;
    const wasReleased = this.#wasReleased;
    const isKnown = this.#ending.facts.attempts > 1 || wasReleased;
    const decideNow = () =>
      decide(phase, failure, {isHonoured: keys.isCertain && isKnown, wasReleased}, waitsForNetwork);
    let decision = decideNow();
    if (decision.action === 'unknown' && (await keys.ask())) decision = decideNow();
    if (phase === 'released') this.#wasReleased = true;
    const isForgotten = several && this.#entry === undefined;
    const error = explain(failure, decision, host, isForgotten ? undefined : this.#retries.mayResend);
    const isFree = this.#batch.outage.ended(this.#position, signOf(failure, decision), error.messageToKeep);
    const isYielding = this.#yieldDescriptor(error, 1);
    // Before the journal is written, or a file that waits would be sent meanwhile.
    if (decision.action === 'fail') this.#batch.halt.stopEarly(error, decision.halt);
    if (decision.action === 'unknown') {
      this.#unknown ??= error;
      if (phase !== 'released') await this.#entry?.recordUnknown();
    }
    // Each certain failure is recorded at once: a kill during the wait would otherwise leave a commit without a result.
    else if (this.#unknown === undefined && !hasTrait(error.code, 'unrecorded'))
      await this.#entry?.recordFailure({code: error.code, message: error.messageToKeep});
    if (isYielding) throw error;
    const isFinal = decision.action === 'fail' || (decision.action === 'unknown' && decision.isFinal);
    const mayRepeat = !isFinal && (this.#unknown === undefined || this.#retries.mayResend);
    if (mayRepeat && (await this.#retries.next(error, {failure, isFree}))) return undefined;
    return this.#failed(error, decision.action === 'fail' ? decision.halt : 'never');
  }

  /** Whether the file begins again when others have ended, for want of a descriptor; `attempts`: those that do not count. */
  #yieldDescriptor(error: MediaError, attempts = 0): boolean {
    if (error.code !== 'too_many_open_files' || this.#source.isOnce || this.#wasReleased) return false;
    this.#hasYielded = this.#unknown === undefined && this.#batch.descriptors.yieldDescriptor();
    if (!this.#hasYielded) return false;
    this.#ending.facts.attempts -= attempts;
    this.#options.observer.retrying(this.#position, this.#source.name, error, undefined);
    return true;
  }

  /** The outcome of a file that is not stored, or may be. */
  #failed(error: MediaError, halt: Reach = 'never'): PendingResult<Outcome> {
    const unknown = this.#unknown;
    const last = unknown === error ? '' : ` The last attempt: ${error.messageToKeep}`;
    const shown = unknown?.reword({message: `${unknown.message}${last}`}) ?? error;
    const status = unknown === undefined ? 'failed' : 'unknown';
    return this.#ending.failed(status, this.#retries.withAttempts(shown), halt);
  }
}
