import {hasTrait, MediaError, unlessBug} from '../../errors.ts';
import {command, fact, type Hint, hint, phrase, setting} from '../../hint.ts';
import {omitUndefined} from '../../lib/object.ts';
import {Stop} from '../../lib/stop.ts';
import type {PriorUpload, UploadLog} from '../journal/journal.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {unknownUploadHint} from './attempt/explain.ts';
import type {AbortScope} from './attempt/judge.ts';
import {type LeftOut, type Outcome, type OutcomeFacts, storedFacts, wouldBeLeftOut} from './outcome.ts';
import type {TransferOptions} from './transfer-options.ts';
import type {PendingResult} from './workers.ts';

/** Ends a batch when a failure applies to all remaining files: nothing more is begun, what is sent goes on. */
export class BatchAbort extends Stop<MediaError> {
  /** Whether the service has sent any response yet. */
  #hasResponded = false;

  /** Call with each outcome: notes whether the service has responded; ends the batch if the journal takes no lines. */
  learn(outcome: Outcome): void {
    const error = 'error' in outcome ? outcome.error : undefined;
    if (error !== undefined) this.stopEarly(error);
    if (outcome.status === 'uploaded' || error?.status !== undefined) this.#hasResponded = true;
  }

  /** Ends the batch at once if a failure of this scope ends it. Call before the failure is recorded, which may wait. */
  stopEarly(error: MediaError, scope: AbortScope = 'never'): void {
    const holdsForAll = scope === 'always' || (scope === 'if-first' && !this.#hasResponded);
    if (holdsForAll || hasTrait(error.code, 'unrecorded')) this.abort(error);
  }
}

/** Reports one file to the observer, and makes its outcome, wherever its transfer ends. */
export class OutcomeBuilder {
  /** What is known about the file so far. */
  readonly facts: OutcomeFacts;
  /** The names of what is known at first, which stays known if the file begins again. */
  readonly #firstFacts: readonly string[];
  readonly #source: Source;
  readonly #options: TransferOptions;
  readonly #batchAbort: BatchAbort;
  readonly #start: number;
  /** What the observer knows. */
  readonly #warnings = new Set<string>();
  #isStarted = false;

  constructor(position: number, source: Source, options: TransferOptions, batchAbort: BatchAbort) {
    const {name: file, nameBytes, isOnce} = source;
    this.facts = omitUndefined({file, nameBytes, isOnce, position, attempts: 0, elapsedMs: 0});
    this.#firstFacts = Object.keys(this.facts);
    this.#source = source;
    this.#options = options;
    this.#batchAbort = batchAbort;
    this.#start = options.clock.monotonic();
  }

  /** Call when the file is open. Reports no start yet if only its bytes can show whether it is to be left out. */
  async opened({size}: OpenSource): Promise<void> {
    const {found} = this.#source;
    this.facts.size = size;
    this.#isStarted = false;
    if (found === undefined || (await found.isNamedMedia())) this.started(size);
  }

  /** Call when the file is known to be media: the first call reports its start to the observer. */
  started(size: number): void {
    if (!this.#isStarted) this.#options.observer.started(this.facts.position, this.facts.file, size);
    this.#isStarted = true;
  }

  /** Forgets what was found: no descriptor is left, so the file begins again. `attempts`: how many do not count. */
  restart(attempts: number): void {
    const {facts} = this;
    for (const name of Object.keys(facts))
      if (!this.#firstFacts.includes(name)) Reflect.deleteProperty(facts, name);
    facts.attempts -= attempts;
  }

  /** Warns of something about the file, once. `ofSeveral`: what several files do, after their number. */
  warn(sentence: string, ofSeveral?: string): void {
    const {warning = ''} = this.facts;
    if (!warning.includes(sentence)) this.facts.warning = `${warning} ${sentence}`.trim();
    if (!this.#warnings.has(sentence)) this.#options.observer.warning(this.#source.name, sentence, ofSeveral);
    this.#warnings.add(sentence);
  }

  /** The file was not begun, since the run had ended. */
  async notTried(why: MediaError): Promise<Outcome | LeftOut> {
    if (await wouldBeLeftOut(this.#source, this.#options)) return this.leftOutResult().result;
    const sentence = phrase`${fact('subject', this.#source.name, 'was')} not tried: the run had ended (${why.code}).`;
    const error = new MediaError('not_tried', sentence, {cause: why});
    return {status: 'failed', error, ...this.facts};
  }

  /** The result for a file that a walk found and that is not sent: hidden, or not media by name and bytes. */
  leftOutResult(): PendingResult<LeftOut> {
    const {name, found} = this.#source;
    const known = {file: name, position: this.facts.position, isHidden: found?.isHidden === true};
    return {result: Promise.resolve({status: 'left out', ...known})};
  }

  /** The outcome of a file that is not stored, or whose outcome is unknown. */
  failed(status: 'failed' | 'unknown', error: MediaError): PendingResult<Outcome> {
    return this.#finish({status, error, ...this.#factsNow()});
  }

  /** The file passed the checks of a dry run. */
  checked(): PendingResult<Outcome> {
    return this.#finish({status: 'checked', ...this.#factsNow()});
  }

  /** The outcome of a file that an earlier run stored (`skipped`), or may have stored. */
  fromJournal(known: PriorUpload): PendingResult<Outcome> {
    if (known.status === 'unknown') return this.failed('unknown', this.unknownSince(known.key));
    if (this.#options.geotags === 'strip')
      this.facts.geotags = known.entry.transform === undefined ? 'none' : 'stripped';
    if (known.sha256 !== undefined) this.facts.sha256 = known.sha256;
    return this.#finish({status: 'skipped', ...this.#factsNow(), ...storedFacts(known.received)});
  }

  /** The service stored the file; its `result` is known when the journal has recorded it. */
  stored(received: ReceivedRecord, entry: UploadLog | undefined): PendingResult<Outcome> {
    const {json, serviceId} = received;
    if (entry?.contentSha256 !== undefined) this.facts.sha256 = entry.contentSha256;
    // Members go before spreads: on Node.js 20, each one after a spread takes over a microsecond.
    const outcome = {status: 'uploaded', ...this.#factsNow(), ...storedFacts(received)} as const;
    if (entry === undefined) return this.#finish(outcome);
    this.#batchAbort.learn(outcome);
    const recording = entry.recordStored(json, serviceId, error => this.#batchAbort.abort(error));
    return {result: this.#afterRecording(outcome, recording, entry.idempotencyKey)};
  }

  /** The outcome once `recording` has ended. If that fails, the file counts as uploaded, but nothing more is sent. */
  async #afterRecording(outcome: Outcome & {status: 'uploaded'}, recording: Promise<void>, key: string) {
    let unrecorded: MediaError | undefined;
    try {
      await recording;
    } catch (error) {
      unrecorded = unlessBug(error);
      this.#batchAbort.abort(unrecorded);
    }
    this.#options.observer.finished(outcome.position);
    if (unrecorded === undefined) return outcome;
    return {...outcome, unrecorded: this.#unrecordedError(unrecorded, key)};
  }

  /** The error for a file that is stored although its journal could not record it. */
  #unrecordedError(error: MediaError, key: string): MediaError {
    const path = this.#options.journal?.reader.displayPath ?? '';
    const message = phrase`${fact('subject', this.#source.name)} is stored, but the journal does not record it: ${error.sentence}`;
    const settle = command('settle', '. If the next run reports it as unknown', path, key);
    const advice =
      error.code === 'journal_of_other_service'
        ? hint`Its record is printed. Find out which service ${setting('baseUrl')} should lead to.`
        : hint`Its record is printed${settle}`;
    return error.reword<Hint>({message, hint: advice});
  }

  /** The error for a file that an earlier run sent completely under this key without recording a response. */
  unknownSince(key: string, isSentAgain = false): MediaError {
    const sentence = phrase`${fact('subject', this.#source.name)} was sent completely before and no response was recorded, so it may or may not be stored.`;
    // By its key, since the journal or manifest may know the content under another path.
    const settle = command('settle', '; if it is stored', this.#options.journal?.displayPath ?? '', key);
    const advice = hint`${unknownUploadHint(isSentAgain)}${settle}`;
    return new MediaError('outcome_unknown', sentence, {hint: advice});
  }

  /** Reports the end of the file to the batch and the observer; the result waits for nothing more. */
  #finish(outcome: Outcome): PendingResult<Outcome> {
    this.#batchAbort.learn(outcome);
    this.#options.observer.finished(outcome.position);
    return {result: Promise.resolve(outcome)};
  }

  /** The facts with the time that the file has taken so far, which this call sets. */
  #factsNow(): OutcomeFacts {
    this.facts.elapsedMs = Math.round(this.#options.clock.monotonic() - this.#start);
    return this.facts;
  }
}
