import {endsJournalling, type MediaError} from '../errors.ts';
import type {JournalEntry, JournalInput, Known} from '../journal/journal.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {Stored} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {attemptUpload, type FailedAttempt} from './attempt/attempt.ts';
import {explain, unknownSince, unsent} from './attempt/explain.ts';
import {decide, type KeyHistory, type Reach, signOf} from './attempt/retry.ts';
import type {BatchParts} from './batch-parts.ts';
import {inTurns, type TurnResult} from './in-turns.ts';
import {endOfKnown} from './known.ts';
import {isLeftOut} from './left-out.ts';
import {openSource} from './opening.ts';
import type {TransferOptions} from './options.ts';
import {type LeftOut, leftOut, nameOf, type Outcome, type OutcomeFacts} from './outcome.ts';
import {recorded} from './recorded.ts';
import {resendOf} from './resend.ts';
import {Retries} from './retries.ts';
import type {Later} from './workers.ts';

/** Takes one file through its attempts. */
export class FileTransfer {
  readonly #position: number;
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #parts: BatchParts;
  readonly #start: number;
  readonly #facts: OutcomeFacts;
  readonly #retries: Retries;
  /** Whether only the bytes show that the file is media, not its name. */
  #isMediaByBytes = false;
  #isRecognized = false;
  /** Set after an attempt with an unknown outcome: no later failure makes it certain again. */
  #unknown: MediaError | undefined;
  /** Whether an attempt with the same idempotency key was released, in this run or an earlier one. */
  #wasReleased = false;
  #hasGivenWay = false;
  #entry: JournalEntry | undefined;

  constructor(position: number, source: Source, options: TransferOptions, parts: BatchParts) {
    this.#position = position;
    this.#source = source;
    this.#options = options;
    this.#parts = parts;
    this.#start = options.clock.monotonic();
    this.#facts = {...nameOf(source), position, attempts: 0, elapsedMs: 0};
    this.#retries = new Retries(this.#facts, options, parts.budget);
  }

  /** Resolves when nothing more is sent, and its `result` when the journal has recorded it; to undefined if it gave way. */
  async run(): Promise<Later<Outcome | LeftOut> | undefined> {
    if (this.#source.found?.isHidden) return this.#leftOut();
    this.#hasGivenWay = false;
    this.#entry = undefined;
    let opened: OpenSource | undefined;
    let later: Later<Outcome | LeftOut> | undefined;
    try {
      opened = await this.#open();
      later = await this.#transfer(opened);
    } catch (error) {
      const failure = unsent(this.#source.name, error);
      if (this.#hasGivenWay || this.#giveWay(failure)) return undefined;
      later = (await isLeftOut(this.#source, failure))
        ? this.#leftOut()
        : this.#ended({...this.#describe(), status: 'failed', error: failure});
    } finally {
      const end = () => this.#entry?.end();
      if (later === undefined) end();
      else later.result.then(end, end);
      await opened?.close();
    }
    return later;
  }

  async #transfer(opened: OpenSource): Promise<Later<Outcome>> {
    const {journal, memory, dryRun, observer, stop, verify} = this.#options;
    const dimensions = await verify?.dimensions(opened);
    if (dimensions !== undefined) this.#facts.dimensions = dimensions;
    const input = this.#journalInput(opened);
    // A record is compared with the content type, too.
    const resend = resendOf(this.#options);
    const known = verify === undefined ? await (journal ?? memory)?.recall(input, resend) : undefined;
    if (known !== undefined) {
      this.#begin(opened);
      return this.#ended(await this.#asKnown(known));
    }
    const {contentType, warning} = await this.#options.contentType(this.#source, opened);
    this.#facts.contentType = contentType;
    this.#begin(opened);
    if (warning !== undefined && this.#facts.warning === undefined) {
      this.#facts.warning = warning;
      observer.warning(this.#source.name, warning);
    }
    const typed = {...input, contentType};
    if (!dryRun) return this.#upload(opened, typed);
    const found = await memory?.peek(typed, opened, {resend, stop});
    if (found !== undefined) return this.#ended(await this.#asKnown(found));
    await this.#parts.duplicates?.add(this.#position, this.#source, opened);
    return this.#ended({...this.#describe(), status: 'checked'});
  }

  #leftOut(): Later<LeftOut> {
    return {result: Promise.resolve(leftOut(this.#position, this.#source))};
  }

  /** `reach`: which files the failure applies to. */
  #ended(outcome: Outcome, reach: Reach = 'never'): Later<Outcome> {
    this.#parts.halt.learn(outcome, reach);
    this.#options.observer.finished(this.#position);
    return {result: Promise.resolve(outcome)};
  }

  /** The outcome of a file that the journal knows. */
  async #asKnown(known: Known): Promise<Outcome> {
    return {...this.#describe(), ...(await endOfKnown(known, this.#source.name, this.#options))};
  }

  #journalInput({size, stat}: OpenSource): JournalInput {
    const {relativePath, name} = this.#source;
    return {path: relativePath ?? name, size, stat, types: this.#options.typeRule};
  }

  /** A file that is media only by its bytes is counted now, since it could have been left out. */
  #begin({size}: OpenSource): void {
    if (!this.#isMediaByBytes) return;
    if (!this.#isRecognized) this.#options.observer.recognized(size);
    this.#isRecognized = true;
    this.#options.observer.started(this.#position, this.#source.name, size);
  }

  async #open(): Promise<OpenSource> {
    const {stop, observer} = this.#options;
    const mayRetry = async (error: MediaError) => !this.#giveWay(error) && this.#retries.next(error);
    const opened = await openSource(this.#source, stop, mayRetry);
    this.#facts.size = opened.size;
    const {found} = this.#source;
    this.#isMediaByBytes = found !== undefined && !(await found.isNamedMedia());
    if (!this.#isMediaByBytes) observer.started(this.#position, this.#source.name, opened.size);
    return opened;
  }

  async #upload(source: OpenSource, input: JournalInput & {contentType: string}): Promise<Later<Outcome>> {
    const {journal, stop} = this.#options;
    const {contentType} = input;
    const admission = await journal?.admit(input, source, {resend: resendOf(this.#options), stop});
    if (admission !== undefined && admission.status !== 'new')
      return this.#ended(await this.#asKnown(admission));
    this.#entry = admission?.entry;
    this.#wasReleased = this.#entry?.wasReleased ?? false;
    if (this.#entry?.inDoubt) this.#unknown = unknownSince(this.#source.name);
    const idempotencyKey = this.#entry?.idempotencyKey ?? this.#options.uuid();
    const attempt = () => this.#attempt(source, contentType, idempotencyKey);
    const file = {position: this.#position, size: source.size};
    return inTurns(this.#parts, file, attempt, result => this.#afterAttempt(result));
  }

  async #attempt(
    source: OpenSource,
    contentType: string,
    idempotencyKey: string,
    isHashed = this.#entry !== undefined,
  ): Promise<Stored | FailedAttempt> {
    const entry = this.#entry;
    this.#facts.attempts += 1;
    this.#retries.begin();
    const {uploader, clock, stop, timeoutMs, observer} = this.#options;
    // Named one by one: a copy of all the options takes a fifth of what an attempt costs on the main thread.
    const result = await attemptUpload({
      source,
      contentType,
      idempotencyKey,
      uploader,
      clock,
      stop,
      timeoutMs,
      rateLimit: this.#parts.rateLimit,
      sha256: entry?.sha256,
      isHashed,
      commit: entry === undefined ? undefined : sha256 => entry.commit(sha256),
      onProgress: bytes => observer.progress(this.#position, bytes),
    });
    return result.kind === 'unsure' ? this.#attempt(source, contentType, idempotencyKey, true) : result;
  }

  /** The outcome of the file, or undefined if it is to be tried again now. */
  #afterAttempt(result: TurnResult): Later<Outcome> | Promise<Later<Outcome> | undefined> {
    if (result.kind === 'not sent') return this.#failed(result.error);
    return result.kind === 'stored' ? this.#stored(result.received) : this.#afterFailure(result);
  }

  #stored(received: ReceivedRecord): Later<Outcome> {
    this.#parts.outage.ended(this.#position, 'stored');
    this.#retries.giveBack();
    const outcome = {...this.#describe(), status: 'uploaded', received} as const;
    const ended = this.#ended(outcome);
    return this.#entry === undefined ? ended : {result: recorded(outcome, this.#entry, this.#parts.halt)};
  }

  async #afterFailure({phase, failure}: FailedAttempt): Promise<Later<Outcome> | undefined> {
    const decision = decide(phase, failure, this.#keyHistory, this.#options.waitsForNetwork);
    if (phase === 'released') this.#wasReleased = true;
    const error = explain(phase, failure, decision, this.#options.host);
    const isFree = this.#parts.outage.ended(this.#position, signOf(failure, decision), error.message);
    if (this.#giveWay(error, 1)) throw error;
    // Before the journal is written, or a file that waits would be sent meanwhile.
    if (decision.action === 'fail') this.#parts.halt.foresee(error, decision.halt);
    if (decision.action === 'unknown') {
      this.#unknown ??= error;
      if (phase !== 'released') await this.#entry?.doubt();
    }
    // Each certain failure is recorded at once: a kill during the wait would otherwise leave a commit without a result.
    else if (this.#unknown === undefined && !endsJournalling(error.code)) await this.#entry?.failed(error);
    const isFinal = decision.action === 'fail' || (decision.action === 'unknown' && decision.isFinal);
    const mayRepeat = !isFinal && (this.#unknown === undefined || this.#retries.mayResend);
    if (mayRepeat && (await this.#retries.next(error, {failure, isFree}))) return undefined;
    return this.#failed(error, decision.action === 'fail' ? decision.halt : 'never');
  }

  /** Whether the file begins again when others have ended, for want of a descriptor; `attempts`: those that do not count. */
  #giveWay(error: MediaError, attempts = 0): boolean {
    if (error.code !== 'too_many_open_files' || this.#source.isOnce || this.#wasReleased) return false;
    this.#hasGivenWay = this.#unknown === undefined && this.#parts.descriptors.giveWay();
    if (!this.#hasGivenWay) return false;
    this.#facts.attempts -= attempts;
    this.#options.observer.retrying(this.#position, this.#source.name, error, undefined);
    return true;
  }

  get #keyHistory(): KeyHistory {
    const isKnown = this.#facts.attempts > 1 || this.#wasReleased;
    return {isHonoured: this.#options.onUnknown === 'honoured' && isKnown, wasReleased: this.#wasReleased};
  }

  /** The outcome of a file that is not stored, or may be. */
  #failed(error: MediaError, halt: Reach = 'never'): Later<Outcome> {
    const shown = this.#retries.withAttempts(this.#unknown ?? error);
    const status = this.#unknown === undefined ? 'failed' : 'unknown';
    return this.#ended({...this.#describe(), status, error: shown}, halt);
  }

  #describe(): OutcomeFacts {
    this.#facts.elapsedMs = Math.round(this.#options.clock.monotonic() - this.#start);
    return this.#facts;
  }
}
