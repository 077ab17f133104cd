import {endsJournalling, MediaError} from '../errors.ts';
import type {JournalEntry, JournalInput, Known, Resend} from '../journal/journal.ts';
import {isOutOfDescriptors} from '../lib/system-code.ts';
import {parseRecord, type ReceivedRecord} from '../service/record.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {attemptUpload, type FailedAttempt} from './attempt/attempt.ts';
import {explain, unknownSince, unrecorded, withTries} from './attempt/explain.ts';
import {
  backoffMs,
  type Decision,
  decide,
  type Failure,
  type Phase,
  parseRetryAfter,
  type Reach,
} from './attempt/retry.ts';
import type {BatchParts} from './batch-parts.ts';
import {isLeftOut} from './left-out.ts';
import type {TransferOptions} from './options.ts';
import {type LeftOut, leftOut, nameOf, type Outcome, type OutcomeFacts} from './outcome.ts';
import {resendOf} from './resend.ts';
import type {Later} from './workers.ts';

/** One file's way through its attempts. */
export class FileTransfer {
  readonly #position: number;
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #parts: BatchParts;
  readonly #start: number;
  readonly #facts: OutcomeFacts;
  #retries = 0;
  /** In milliseconds since the Unix epoch. */
  #firstTryAt: number | undefined;
  /** Whether only the bytes can tell that the file is not to be left out. */
  #isForItsBytes = false;
  /** An attempt whose outcome is unknown: no later failure makes that certain again. */
  #unknown: MediaError | undefined;
  #entry: JournalEntry | undefined;

  constructor(position: number, source: Source, options: TransferOptions, parts: BatchParts) {
    this.#position = position;
    this.#source = source;
    this.#options = options;
    this.#parts = parts;
    this.#start = options.clock.monotonic();
    this.#facts = {...nameOf(source), position, attempts: 0, elapsedMs: 0};
  }

  /** Resolves when nothing more is sent for the file; its `result`, once that is on record too. */
  async run(): Promise<Later<Outcome | LeftOut>> {
    if (this.#source.found?.isHidden) return this.#leftOut();
    let opened: OpenSource | undefined;
    let later: Later<Outcome | LeftOut> | undefined;
    try {
      opened = await this.#open();
      later = await this.#transfer(opened);
    } catch (error) {
      later = (await isLeftOut(this.#source, error))
        ? this.#leftOut()
        : this.#ended({...this.#describe(), status: 'failed', error: this.#known(error)});
    } finally {
      const end = () => this.#entry?.end();
      if (later === undefined) end();
      else later.result.then(end, end);
      await opened?.close();
    }
    return later;
  }

  async #transfer(opened: OpenSource): Promise<Later<Outcome>> {
    const {journal, memory, dryRun, observer, stop} = this.#options;
    const input = this.#journalInput(opened);
    const known = await (journal ?? memory)?.recall(input, this.#resend);
    if (known !== undefined) {
      this.#begin(opened);
      return this.#ended(await this.#asKnown(known));
    }
    const {contentType, warning} = await this.#options.contentType(this.#source, opened);
    this.#facts.contentType = contentType;
    this.#begin(opened);
    if (warning !== undefined) {
      this.#facts.warning = warning;
      observer.warning(this.#source.name, warning);
    }
    if (!dryRun) return this.#upload(opened, contentType);
    const found = await memory?.peek({...input, contentType}, opened, {resend: this.#resend, stop});
    if (found !== undefined) return this.#ended(await this.#asKnown(found));
    await this.#parts.duplicates?.add(this.#position, this.#source, opened);
    return this.#ended({...this.#describe(), status: 'checked'});
  }

  #leftOut(): Later<LeftOut> {
    return {result: Promise.resolve(leftOut(this.#position, this.#source))};
  }

  /** `reach`: for whom it holds. */
  #ended(outcome: Outcome, reach: Reach = 'never'): Later<Outcome> {
    this.#parts.halt.learn(outcome, reach);
    this.#options.observer.finished(this.#position);
    return {result: Promise.resolve(outcome)};
  }

  get #resend(): Resend {
    return resendOf(this.#options);
  }

  /** What became of a file that the journal knows. */
  async #asKnown(known: Known): Promise<Outcome> {
    if (known.status === 'unknown')
      return {...this.#describe(), status: 'unknown', error: unknownSince(this.#source.name)};
    const received = parseRecord(known.recordJson);
    if (!('problem' in received)) return {...this.#describe(), status: 'skipped', received};
    // Sending it again would store it twice.
    const what = `holds a record that is ${received.problem}`;
    const {journal, memory} = this.#options;
    throw (await (journal ?? memory)?.reader.damage(known.entry, what)) ?? new Error(what);
  }

  #journalInput({size, stat}: OpenSource): JournalInput {
    const {relativePath, name} = this.#source;
    return {path: relativePath ?? name, size, stat, types: this.#options.typeRule};
  }

  /** Where other files took all descriptors, not even a module that decides a type can be loaded; anything else is a bug. */
  #known(error: unknown): MediaError {
    if (error instanceof MediaError) return error;
    if (!isOutOfDescriptors(error)) throw error;
    return new MediaError(
      'too_many_open_files',
      `${this.#source.name} was not sent: too many files are open.`,
      {
        hint: 'Raise the limit with ulimit -n, or lower --concurrency.',
        cause: error,
      },
    );
  }

  /** Of a file that its bytes alone call media, since it could as well have been left out before. */
  #begin({size}: OpenSource): void {
    if (!this.#isForItsBytes) return;
    this.#options.observer.recognized(size);
    this.#options.observer.started(this.#position, this.#source.name, size);
  }

  async #open(): Promise<OpenSource> {
    for (;;) {
      try {
        const opened = await this.#source.open(this.#options.stop);
        this.#facts.size = opened.size;
        const {found} = this.#source;
        this.#isForItsBytes = found !== undefined && !(await found.isNamedMedia());
        if (!this.#isForItsBytes)
          this.#options.observer.started(this.#position, this.#source.name, opened.size);
        return opened;
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        const {decision} = this.#decide('opening', {kind: 'error', error});
        if (decision.action !== 'retry' || !(await this.#waitToRetry(error, undefined))) throw error;
      }
    }
  }

  async #upload(source: OpenSource, contentType: string): Promise<Later<Outcome>> {
    const {uploader, clock, stallTimeoutMs, answerTimeoutMs, stop, observer, journal} = this.#options;
    const input = {...this.#journalInput(source), contentType};
    const admission = await journal?.admit(input, source, {resend: this.#resend, stop});
    if (admission !== undefined && admission.status !== 'new')
      return this.#ended(await this.#asKnown(admission));
    const entry = admission?.entry;
    this.#entry = entry;
    if (entry?.inDoubt) this.#unknown = unknownSince(this.#source.name);
    const idempotencyKey = entry?.idempotencyKey ?? this.#options.uuid();
    for (;;) {
      await this.#passGate();
      this.#facts.attempts += 1;
      this.#firstTryAt ??= clock.now();
      const result = await attemptUpload({
        source,
        contentType,
        idempotencyKey,
        uploader,
        clock,
        stallTimeoutMs,
        answerTimeoutMs,
        stop,
        rateLimit: this.#parts.rateLimit,
        sha256: entry?.sha256,
        commit: entry === undefined ? undefined : sha256 => entry.commit(sha256),
        onProgress: bytes => observer.progress(this.#position, bytes),
      });
      if (result.kind === 'stored') {
        this.#parts.budget.restore(this.#retries);
        return this.#stored(result.received);
      }
      const ending = await this.#afterFailure(result);
      if (ending !== undefined) return ending;
    }
  }

  /** A file that is stored counts as uploaded even when the journal cannot take it, but then nothing more is sent. */
  #stored(received: ReceivedRecord): Later<Outcome> {
    const outcome: Outcome = {...this.#describe(), status: 'uploaded', received};
    const ended = this.#ended(outcome);
    if (this.#entry === undefined) return ended;
    const recorded = this.#entry.done(received.json).then(
      () => outcome,
      error => {
        if (!(error instanceof MediaError)) throw error;
        this.#parts.halt.because(error);
        return {...outcome, unrecorded: unrecorded(this.#source.name, error)};
      },
    );
    return {result: recorded};
  }

  /** The file's end, or undefined when it is to be tried again now. */
  async #afterFailure(result: FailedAttempt): Promise<Later<Outcome> | undefined> {
    const {decision, error} = this.#decide(result.phase, result.failure);
    if (decision.action === 'unknown') this.#unknown ??= error;
    // Each certain failure goes on record at once: a kill while waiting would else leave a commit without an end.
    else if (this.#unknown === undefined && !endsJournalling(error.code)) await this.#entry?.failed(error);
    // A machine that slept may find that the service has forgotten the key.
    const isHeld = this.#unknown !== undefined && !((this.#firstTryAt ?? 0) >= this.#resend.releasedSince);
    if (decision.action !== 'fail' && !isHeld && (await this.#waitToRetry(error, retryAfter(result.failure))))
      return undefined;
    const halt = decision.action === 'fail' ? decision.halt : 'never';
    const outcome: Outcome =
      this.#unknown === undefined
        ? {...this.#describe(), status: 'failed', error: this.#afterTries(error)}
        : {...this.#describe(), status: 'unknown', error: this.#afterTries(this.#unknown)};
    return this.#ended(outcome, halt);
  }

  #decide(phase: Phase, failure: Failure): {decision: Decision; error: MediaError} {
    const decision = decide(phase, failure);
    return {decision, error: explain(phase, failure, decision, this.#options.host)};
  }

  /** Waits before another try; false when there is none left or the run is to end. */
  async #waitToRetry(error: MediaError, retryAfterField: string | undefined): Promise<boolean> {
    const {clock, random, retries, stop, observer} = this.#options;
    if (this.#retries >= retries || stop.aborted || !this.#parts.budget.take()) return false;
    const asked = retryAfterField === undefined ? undefined : parseRetryAfter(retryAfterField, clock.now());
    if (asked !== undefined) this.#parts.gate.closeFor(asked);
    const waitMs = asked ?? backoffMs(this.#retries, random);
    this.#retries += 1;
    observer.retrying(this.#position, this.#source.name, error, waitMs);
    try {
      await clock.sleep(waitMs, stop);
      return true;
    } catch {
      return false;
    }
  }

  /** A run that is told to end while it waits goes on to an attempt, which then ends at once with the reason. */
  async #passGate(): Promise<void> {
    const {stop} = this.#options;
    await this.#parts.gate.pass(stop).catch(error => {
      if (!stop.aborted) throw error;
    });
  }

  #afterTries(error: MediaError): MediaError {
    const {attempts} = this.#facts;
    if (attempts < 2) return error;
    return error.reworded({
      message: withTries(error.message, attempts, this.#options.retries + 1),
    });
  }

  #describe(): OutcomeFacts {
    this.#facts.elapsedMs = Math.round(this.#options.clock.monotonic() - this.#start);
    return this.#facts;
  }
}

function retryAfter(failure: Failure): string | undefined {
  return failure.kind === 'refused' ? failure.retryAfter : undefined;
}
