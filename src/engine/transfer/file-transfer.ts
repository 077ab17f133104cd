import {hasTrait, MediaError} from '../../errors.ts';
import {phrase} from '../../hint.ts';
import type {InputVariant, UploadLog} from '../journal/journal.ts';
import type {Stored} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {Attempt, type AttemptOptions, type FailedAttempt} from './attempt/attempt.ts';
import {explain, openingError} from './attempt/explain.ts';
import {type FailureVerdict, judge, type Phase} from './attempt/judge.ts';
import type {Stripped} from './location-plan.ts';
import {isLeftOut, type LeftOut, type Outcome} from './outcome.ts';
import {type BatchAbort, OutcomeBuilder} from './outcome-builder.ts';
import type {Pacing} from './pacing.ts';
import {Retries, type RetryPolicy} from './retry-policy.ts';
import {geotagTransform, type TransferOptions} from './transfer-options.ts';
import type {Descriptors, PendingResult} from './workers.ts';

/** What governs all files of a batch, beside `stop`: see CONTRIBUTING, "What governs a batch". */
interface BatchState {
  pacing: Pacing;
  retryPolicy: RetryPolicy;
  descriptors: Descriptors;
  batchAbort: BatchAbort;
}

/** Takes a file through its transfer: open, decide its type, look it up; attempt, judge and record until it ends. */
export class FileTransfer {
  readonly #position: number;
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #batch: BatchState;
  readonly #outcome: OutcomeBuilder;
  readonly #retries: Retries;
  /** Set after an attempt with an unknown outcome: no later failure makes it certain again. */
  #unknown: MediaError | undefined;
  /** Whether an attempt with the same idempotency key was released, in this run or an earlier one. */
  #wasReleased = false;
  #hasYielded = false;
  /** Whether a connection, or a call that a stop has abandoned, may still read the content from memory. */
  #isInUse = false;
  #entry: UploadLog | undefined;
  #stripped: Stripped | undefined;

  constructor(position: number, source: Source, options: TransferOptions, batch: BatchState) {
    this.#position = position;
    this.#source = source;
    this.#options = options;
    this.#batch = batch;
    this.#outcome = new OutcomeBuilder(position, source, options, batch.batchAbort);
    this.#retries = new Retries(this.#outcome.facts, batch.retryPolicy);
  }

  /** Resolves when nothing more is sent; to undefined if the file yielded its descriptor, and is to begin again. */
  async run(): Promise<PendingResult<Outcome | LeftOut> | undefined> {
    if (this.#source.found?.isHidden) return this.#outcome.leftOutResult();
    this.#hasYielded = false;
    this.#entry = undefined;
    let opened: OpenSource | undefined;
    let pending: PendingResult<Outcome | LeftOut> | undefined;
    try {
      opened = await this.#open();
      await this.#outcome.opened(opened);
      pending = await this.#transfer(opened);
    } catch (error) {
      // What a stop has abandoned, or a request that a bug has ended, may go on.
      this.#isInUse ||= this.#options.stop.aborted || this.#outcome.facts.attempts > 0;
      const failure = openingError(this.#source.name, error);
      if (this.#hasYielded || this.#yieldDescriptor(failure)) return undefined;
      pending = (await isLeftOut(this.#source, failure))
        ? this.#outcome.leftOutResult()
        : this.#outcome.failed('failed', failure);
    } finally {
      const end = () => this.#entry?.end();
      if (pending === undefined) end();
      else pending.result.then(end, end);
      await opened?.close(!this.#isInUse);
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
        const verdict = judge('opening', {kind: 'error', error});
        this.#batch.batchAbort.stopEarly(error, verdict.abortScope);
        if (verdict.isFinal || this.#yieldDescriptor(error) || !(await this.#retries.next(error, verdict)))
          throw error;
      }
    }
  }

  /** Takes an open file to its outcome: known to the journal, checked in a dry run, or uploaded. */
  async #transfer(opened: OpenSource): Promise<PendingResult<Outcome>> {
    const {journal, dryRun, stop, verify, geotags, typeRule} = this.#options;
    const {relativePath = this.#source.name} = this.#source;
    const path = (await journal?.manifest?.keyOf(this.#source, opened)) ?? relativePath;
    const transformRule = geotags === 'strip' ? geotagTransform : undefined;
    const input = {path, size: opened.size, stat: opened.stat, typeRule, transformRule};
    // `verify` compares the record with the content type, which is decided first: then the file is looked up later.
    const known =
      verify === undefined ? await this.#lookUp(since => journal?.lookUpUnchanged(input, since)) : undefined;
    if (known !== undefined) {
      this.#outcome.started(opened.size);
      // A file that was stored before is as public as one that is sent now, so its location is warned of, too.
      if (geotags === 'warn') await this.#applyGeotags(opened);
      return this.#outcome.fromJournal(known);
    }
    const contentType = await this.#decideType(opened);
    const typed: InputVariant = {contentType, ...input, ...this.#stripped};
    const admission = await this.#lookUp(resendSince =>
      journal?.beginUpload(typed, opened, {resendSince, stop}),
    );
    if (admission !== undefined && admission.status !== 'new') return this.#outcome.fromJournal(admission);
    this.#entry = admission?.log;
    return dryRun ? this.#outcome.checked() : this.#upload(opened, contentType);
  }

  /** Decides the content type, and does what needs it: dimensions to verify, the report of the start, the location. */
  async #decideType(opened: OpenSource): Promise<string> {
    const {verify, geotags} = this.#options;
    const {contentType, warning} = await this.#options.contentType(this.#source, opened);
    this.#outcome.facts.contentType = contentType;
    if (verify !== undefined) this.#outcome.facts.dimensions = await verify.dimensions(opened, contentType);
    this.#outcome.started(opened.size);
    if (warning !== undefined) this.#outcome.warn(warning);
    if (geotags !== undefined) await this.#applyGeotags(opened);
    return contentType;
  }

  /** Searches the file for its location, to warn of it or to plan to send the file without it, as the options say. */
  async #applyGeotags(opened: OpenSource): Promise<void> {
    const {applyGeotags} = await import('./location-plan.ts');
    this.#stripped = await applyGeotags(this.#options.geotags, opened, this.#outcome);
  }

  /** What `ask` finds in the journal; for an unknown file, again once the service has said whether it honours keys. */
  async #lookUp<Result extends {status: string}>(
    ask: (resendSince: number) => Promise<Result | undefined> | undefined,
  ): Promise<Result | undefined> {
    const {retryPolicy} = this.#batch;
    const known = await ask(retryPolicy.resendSince);
    const mayChange = known?.status === 'unknown' && (await retryPolicy.askAboutKeys());
    return mayChange ? ask(retryPolicy.resendSince) : known;
  }

  /** Makes attempts, each when the file may be sent, until it has an outcome. */
  async #upload(source: OpenSource, contentType: string): Promise<PendingResult<Outcome>> {
    const {uploader, clock, stop, timeoutMs, observer} = this.#options;
    const {pacing, batchAbort} = this.#batch;
    const entry = this.#entry;
    this.#wasReleased = entry?.releasedAt !== undefined;
    this.#retries.begin(entry?.releasedAt);
    const doubted = entry?.unknownKey;
    if (doubted !== undefined) this.#unknown = this.#outcome.unknownSince(doubted, true);
    // Named one by one: a copy of all the options takes a fifth of what an attempt costs on the main thread.
    const upload: AttemptOptions = {
      source,
      transformed: this.#stripped?.transformed,
      contentType,
      idempotencyKey: entry?.idempotencyKey ?? this.#options.uuid(),
      uploader,
      clock,
      stop,
      batchAbort,
      timeoutMs,
      rateLimit: pacing.rateLimit,
      entry,
      onProgress: bytes => observer.progress(this.#position, bytes),
    };
    try {
      for (;;) {
        const outage = await pacing.turn(this.#position, source.size);
        if (outage !== undefined) return this.#failed(outage);
        // After a long wait, the service may have forgotten the key.
        if (this.#unknown !== undefined && !this.#retries.mayResend) return this.#failed(this.#unknown);
        const result = await this.#attempt(upload);
        const pending = result.kind === 'stored' ? this.#stored(result) : await this.#afterFailure(result);
        if (pending !== undefined) return pending;
      }
    } finally {
      pacing.finish(this.#position);
    }
  }

  /** Makes one attempt; a second one, with a hash, if only that can show whether the source has changed. */
  async #attempt(upload: AttemptOptions): Promise<Stored | FailedAttempt> {
    this.#outcome.facts.attempts += 1;
    const attempt = new Attempt(upload);
    const result = await attempt.run();
    // A connection that is being closed after a failure may read on.
    if (result.kind !== 'stored' || !attempt.hasLeft) this.#isInUse = true;
    if (result.kind === 'unsure') return this.#attempt({...upload, isHashed: true});
    this.#batch.retryPolicy.learn();
    return result;
  }

  /** The outcome of a file that this run has stored. */
  #stored({received}: Stored): PendingResult<Outcome> {
    this.#batch.pacing.report(this.#position, {availability: 'stored'});
    this.#retries.refund();
    return this.#outcome.stored(received, this.#entry);
  }

  /** Judges, reports and records a failure. Resolves to the outcome, or undefined if the file is to be tried again. */
  async #afterFailure(attempt: FailedAttempt): Promise<PendingResult<Outcome> | undefined> {
    const {several, host} = this.#options;
    const {pacing, retryPolicy, batchAbort} = this.#batch;
    const {phase, failure} = attempt;
    let verdict = this.#judge(attempt);
    const afterOutage = pacing.report(this.#position, verdict, attempt);
    if (verdict.action === 'unknown' && (await retryPolicy.askAboutKeys())) verdict = this.#judge(attempt);
    if (phase === 'released') this.#wasReleased = true;
    const isForgotten = several && this.#entry === undefined;
    // A manifest has no keys, so that the next run does not send the file again.
    const mayResend = this.#retries.mayResend && this.#options.journal?.manifest === undefined;
    const error = explain(failure, verdict, host, isForgotten ? undefined : mayResend);
    const isYielding = this.#yieldDescriptor(error, 1);
    // Before the journal is written, or a file that waits would be sent meanwhile.
    batchAbort.stopEarly(error, verdict.abortScope);
    await this.#record(phase, verdict, error);
    if (isYielding) throw error;
    const mayRepeat = !verdict.isFinal && (this.#unknown === undefined || this.#retries.mayResend);
    if (mayRepeat && (await this.#retries.next(error, verdict, afterOutage))) return undefined;
    return this.#failed(error);
  }

  /** The verdict on a failure. A key counts as honoured only if an attempt before this one has used it. */
  #judge({phase, failure}: FailedAttempt): FailureVerdict {
    const {waitsForNetwork, retryMaxWaitMs, clock} = this.#options;
    const wasReleased = this.#wasReleased;
    const isRepeated = this.#outcome.facts.attempts > 1 || wasReleased;
    const isHonoured = isRepeated && this.#batch.retryPolicy.honoursKeys === true;
    const now = clock.now();
    return judge(phase, failure, {isHonoured, wasReleased, waitsForNetwork, now, retryMaxWaitMs});
  }

  /** Each certain failure is recorded at once: a kill during a wait would otherwise leave a commit without a result. */
  async #record(phase: Phase, {action}: FailureVerdict, error: MediaError): Promise<void> {
    if (action === 'unknown') {
      this.#unknown ??= error;
      // After a release, the journal has the commit already, which says so.
      if (phase !== 'released') await this.#entry?.recordUnknown();
    } else if (this.#unknown === undefined && !hasTrait(error.code, 'unrecorded'))
      await this.#entry?.recordFailure({code: error.code, message: error.messageToKeep});
  }

  /** The outcome of a file that is not stored or, after an attempt with an unknown outcome, of an unknown file. */
  #failed(error: MediaError): PendingResult<Outcome> {
    const unknown = this.#unknown;
    const isSame = unknown?.messageToKeep === error.messageToKeep;
    const last = isSame ? '' : ` The last attempt: ${error.messageToKeep}`;
    const shown = unknown?.reword({message: phrase`${unknown.sentence}${last}`}) ?? error;
    const status = unknown === undefined ? 'failed' : 'unknown';
    return this.#outcome.failed(status, this.#retries.withAttempts(shown));
  }

  /** Whether the file begins again later, since no descriptor is left. `attempts`: how many attempts do not count. */
  #yieldDescriptor(error: MediaError, attempts = 0): boolean {
    if (error.code !== 'too_many_open_files' || this.#source.isOnce || this.#wasReleased) return false;
    this.#hasYielded = this.#unknown === undefined && this.#batch.descriptors.yieldDescriptor();
    if (!this.#hasYielded) return false;
    this.#outcome.restart(attempts);
    this.#options.observer.retrying(this.#position, this.#source.name, error, undefined);
    return true;
  }
}
