import type {Host, StopSignal} from '../host.ts';
import {type Hashable, largeHash, smallHash} from '../lib/files/content-hash.ts';
import {defined} from '../lib/object.ts';
import {type ActiveUpload, ActiveUploads} from './active-uploads.ts';
import {type UploadLog, uploadLog} from './entry.ts';
import {contentOf, variantKey} from './identity.ts';
import type {IndexRow} from './journal-index.ts';
import {type FileState, formatHeader} from './line.ts';
import type {JournalLog} from './log.ts';
import {
  type JournalInput,
  JournalLookup,
  type PriorUpload,
  settledStateOf,
  type UploadInput,
} from './memory.ts';
import type {JournalReader} from './reader.ts';

/** The journal of a run: what earlier runs have uploaded, by content, and the log that this run writes. */
export class Journal extends JournalLookup {
  readonly #log: JournalLog;
  readonly #host: Host;
  readonly #active = new ActiveUploads();

  constructor(reader: JournalReader, log: JournalLog, host: Host) {
    super(reader, host.clock);
    reader.index.serviceId ??= reader.scope?.serviceId;
    this.#log = log;
    this.#host = host;
  }

  /** What is known about a file that has not changed since it was last read. */
  override async lookUpUnchanged(
    input: JournalInput,
    resendSince?: number,
  ): Promise<PriorUpload | undefined> {
    const isBusy = this.#active.has(input.size);
    const known = await super.lookUpUnchanged(input, resendSince);
    // An equal file may be in progress: admit() waits for it, and then knows more.
    return isBusy && known?.status === 'unknown' ? undefined : known;
  }

  /**
   * Returns what the service has of this content, sent in this way, or records the intent to send it. Hashes the content unless
   * no content of its size is known or in progress, and waits for equal content that is in progress.
   */
  override async beginUpload(
    input: UploadInput,
    source: Hashable,
    options: {resendSince?: number; stop?: StopSignal} = {},
  ): Promise<PriorUpload | {status: 'new'; entry: UploadLog}> {
    const active = this.#active.begin(input.size);
    // Before the content is read: what changes the file from then on shows in its times only if they are old enough now.
    const seen = settledStateOf(input, this.#host.clock.now());
    let isInProgress = false;
    try {
      const hashed = await this.#hashIfNeeded(input, source, active, options.stop);
      const known =
        hashed === undefined
          ? undefined
          : await this.lookUpContent(input, hashed.sha256, options.resendSince);
      if (known?.status === 'done') await this.#see(seen, known.entry);
      if (known !== undefined) return known;
      const entry = await this.#begin(input, seen, hashed, active);
      isInProgress = true;
      return {status: 'new', entry};
    } finally {
      if (!isInProgress) active.end();
    }
  }

  /** Records how the user has settled an unknown upload: it was uploaded, with this media ID, or is to be sent again. */
  async settle(entry: IndexRow, settlement: {uploaded: string} | 'resend'): Promise<void> {
    const {key, sha256 = ''} = await this.reader.lineOf(entry);
    const resolved = {event: 'resolved', key, sha256} as const;
    await this.#log.append(
      settlement === 'resend'
        ? {...resolved, as: 'resend'}
        : {...resolved, as: 'uploaded', recordJson: JSON.stringify({id: settlement.uploaded})},
    );
  }

  /** Records that a stored upload no longer counts, so that its content is sent again. */
  async forget(entry: IndexRow): Promise<void> {
    const {key} = await this.reader.lineOf(entry);
    await this.#log.append({event: 'forgotten', key});
  }

  override recordKeySupport(honoursKeys: boolean): void {
    const {scope, index} = this.reader;
    if (scope === undefined || scope.honoursKeys === honoursKeys) return;
    this.reader.scope = {...scope, ...defined({serviceId: index.serviceId}), honoursKeys};
    this.#log.noteHeader(formatHeader(this.reader.scope));
  }

  /** Makes everything durable and releases the journal; rejects if the former failed. */
  override close(): Promise<void> {
    return this.#log.close();
  }

  /** The hash, once no equal content is in progress; undefined if it can be computed while the content is sent. */
  async #hashIfNeeded(
    {size, stat}: JournalInput,
    source: Hashable,
    active: ActiveUpload,
    stop: StopSignal | undefined,
  ): Promise<Hashed | undefined> {
    const isNeeded = stat === undefined || active.hasEarlier || this.reader.index.hasSize(size);
    const small = await smallHash(source);
    if (small === undefined && !isNeeded) return undefined;
    const sha256 = small ?? (await largeHash(source, stop));
    active.announce(sha256);
    if (active.hasEarlier) await active.afterEqual();
    return {sha256, isInMemory: small !== undefined};
  }

  /** Records that a file has this content, unless that is known, so that it need not be read again. */
  async #see(seen: FileState, entry: IndexRow): Promise<void> {
    if (this.reader.index.entryOfFile(seen)?.row === entry.row) return;
    const {key} = await this.reader.lineOf(entry);
    this.#log.note({event: 'seen', key, ...seen});
  }

  /**
   * Records the intent to upload. Reuses the idempotency key of an unfinished released upload of the same content,
   * otherwise takes a new one. Content with an unknown upload stays unknown until it is done, since the refusal of a
   * second attempt does not settle the first.
   */
  async #begin(
    {size, contentType, transform}: UploadInput,
    seen: FileState,
    hashed: Hashed | undefined,
    active: ActiveUpload,
  ): Promise<UploadLog> {
    const same = hashed ? this.reader.index.entriesWith(contentOf(hashed.sha256, size)) : [];
    const unended = same.filter(
      ({state, wasReleased}) => wasReleased && (state === 'unknown' || state === 'pending'),
    );
    const way = variantKey({contentType, transform});
    const reused = unended.find(entry => variantKey(entry) === way);
    const key = reused === undefined ? this.#newKey() : (await this.reader.lineOf(reused)).key;
    const doubted = unended.find(({state}) => state === 'unknown');
    const intent = {...seen, contentType, transform};
    const isLasting = hashed?.isInMemory || seen.stat !== undefined;
    const sha256 = isLasting ? hashed?.sha256 : undefined;
    this.#log.refuseIfFailed();
    // What is hashed already is committed soon: one line is enough for both.
    if (sha256 === undefined) this.#log.note({event: 'intent', key, ...intent});
    const inDoubt = doubted && (await this.reader.lineOf(doubted)).key;
    return uploadLog({
      idempotencyKey: key,
      inDoubt,
      wasReleased: reused !== undefined,
      sha256,
      log: this.#log,
      reader: this.reader,
      active,
      sha256AtStart: hashed?.sha256,
      intent: sha256 === undefined ? undefined : intent,
    });
  }

  #newKey(): string {
    for (;;) {
      const key = this.#host.uuid();
      // The index contains only digests of keys, so a new key may look known.
      if (this.reader.index.rowOf(key) === -1) return key;
    }
  }
}

/** The SHA-256 of a content, in hex, and whether it is sent from memory, so that it cannot change. */
interface Hashed {
  sha256: string;
  isInMemory: boolean;
}
