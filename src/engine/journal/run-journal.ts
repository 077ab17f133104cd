import type {Host, StopSignal} from '../../host.ts';
import {type Hashable, largeHash, smallHash} from '../../lib/files/content-hash.ts';
import {omitUndefined} from '../../lib/object.ts';
import type {ReceivedRecord} from '../service/record.ts';
import {type ActiveUpload, ActiveUploads} from './active-uploads.ts';
import {type UploadLog, uploadLog} from './entry.ts';
import {contentKey, variantKey} from './journal-identity.ts';
import type {IndexRow} from './journal-index.ts';
import {
  type InputVariant,
  type JournalInput,
  JournalLookup,
  type JournalManifest,
  type PriorUpload,
  settledStateOf,
} from './journal-memory.ts';
import {type FileState, formatHeader} from './line.ts';
import type {JournalLog} from './log.ts';
import type {JournalReader} from './reader.ts';

/** The journal of a run: looks up what earlier runs have uploaded, and logs what this run uploads. */
export class Journal extends JournalLookup {
  readonly #log: JournalLog;
  readonly #host: Host;
  readonly #active = new ActiveUploads();

  constructor(reader: JournalReader, log: JournalLog, host: Host, manifest?: JournalManifest) {
    super(reader, host.clock, manifest);
    // The last header of the file need not repeat the ID.
    reader.index.serviceId ??= reader.scope?.serviceId;
    this.#log = log;
    this.#host = host;
  }

  /** Looks a file up like JournalLookup, but ignores an unknown upload while a file of the same size is in progress. */
  override async lookUpUnchanged(
    input: JournalInput,
    resendSince?: number,
  ): Promise<PriorUpload | undefined> {
    const isBusy = this.#active.has(input.size);
    const prior = await super.lookUpUnchanged(input, resendSince);
    // Equal content may be in progress. beginUpload() waits for its result.
    return isBusy && prior?.status === 'unknown' ? undefined : prior;
  }

  /**
   * Returns the earlier upload of this variant, or records the intent to send it. Waits for equal content in progress.
   * Hashes large content only if the journal, or an upload in progress, has content of the same size.
   */
  override async beginUpload(
    input: InputVariant,
    source: Hashable,
    options: {resendSince?: number; stop?: StopSignal} = {},
  ): Promise<PriorUpload | {status: 'new'; log: UploadLog}> {
    const active = this.#active.begin(input.size);
    // Before the read: a later change of the file shows in its times only if they are old enough now.
    const fileState = settledStateOf(input, this.#host.clock.now());
    let isInProgress = false;
    try {
      const digest = await this.#hashIfNeeded(input, source, active, options.stop);
      const prior = digest && (await this.lookUpContent(input, digest.sha256, options.resendSince));
      if (this.manifest !== undefined) this.manifest.found(input, digest?.sha256, prior);
      else if (prior?.status === 'done') await this.#recordSighting(fileState, prior.entry);
      if (prior !== undefined) return prior;
      const log = await this.#startUpload(input, fileState, digest, active);
      isInProgress = true;
      return {status: 'new', log};
    } finally {
      if (!isInProgress) active.end();
    }
  }

  /** Records the user's decision on an unknown upload: uploaded with this record, or else to be sent again. */
  async settle(entry: IndexRow, record?: ReceivedRecord['record']): Promise<void> {
    const {key, sha256 = ''} = await this.reader.lineOf(entry);
    const decision = {event: 'resolved', key, sha256} as const;
    if (this.manifest !== undefined) {
      await this.manifest.settle(this.reader.index.contentOf(entry.row), record);
      this.reader.index.forget(key);
    } else if (record === undefined) await this.#log.append({...decision, as: 'resend'});
    else await this.#log.append({...decision, as: 'uploaded', recordJson: JSON.stringify(record)});
  }

  /** For `media journal forget`: records that the service no longer has a file, so that the next run sends it again. */
  async forget(entry: IndexRow): Promise<void> {
    if (this.manifest !== undefined) return this.manifest.forget(this.reader.index.contentOf(entry.row));
    const {key} = await this.reader.lineOf(entry);
    await this.#log.append({event: 'forgotten', key});
  }

  /** Appends another header if the journal does not say so yet: later runs then need not ask the service. */
  override recordKeySupport(honoursKeys: boolean): void {
    const {scope, index} = this.reader;
    if (scope === undefined || scope.honoursKeys === honoursKeys) return;
    this.reader.scope = {...scope, ...omitUndefined({serviceId: index.serviceId}), honoursKeys};
    this.#log.appendHeader(formatHeader(this.reader.scope));
  }

  /** Makes all lines durable, writes the manifest, and releases the journal; rejects if they are not durable. */
  override close(): Promise<void> {
    return this.#log.close(isComplete => this.manifest?.write(this.reader, isComplete) ?? Promise.resolve());
  }

  /** Hashes content, and waits for equal content in progress; undefined if the upload can hash while it sends. */
  async #hashIfNeeded(
    {size, stat}: JournalInput,
    source: Hashable,
    active: ActiveUpload,
    stop: StopSignal | undefined,
  ): Promise<ContentDigest | undefined> {
    const isNeeded = stat === undefined || active.hasEarlier || this.reader.index.hasSize(size);
    const small = await smallHash(source);
    if (small === undefined && !isNeeded) return undefined;
    const sha256 = small ?? (await largeHash(source, stop));
    active.announce(sha256);
    if (active.hasEarlier) await active.waitForEqual();
    return {sha256, isInMemory: small !== undefined};
  }

  /** Records that this file has the content of an upload, so that the next run need not read it. */
  async #recordSighting(fileState: FileState, entry: IndexRow): Promise<void> {
    if (this.reader.index.entryOfFile(fileState)?.row === entry.row) return;
    const {key} = await this.reader.lineOf(entry);
    this.#log.appendWithoutWaiting({event: 'seen', key, ...fileState});
  }

  /**
   * Records the intent to upload. Reuses the idempotency key if an earlier run released the same variant and recorded
   * no result. An earlier unknown upload stays unknown until one is stored: a refusal of this attempt does not settle
   * it.
   */
  async #startUpload(
    {size, contentType, transform}: InputVariant,
    fileState: FileState,
    digest: ContentDigest | undefined,
    active: ActiveUpload,
  ): Promise<UploadLog> {
    const equalUploads = digest ? this.reader.index.entriesWithContent(contentKey(digest.sha256, size)) : [];
    const withoutOutcome = equalUploads.filter(
      ({state, wasReleased}) => wasReleased && (state === 'unknown' || state === 'pending'),
    );
    const variant = variantKey({contentType, transform});
    const sameVariant = withoutOutcome.find(entry => variantKey(entry) === variant);
    const key = sameVariant === undefined ? this.#newKey() : (await this.reader.lineOf(sameVariant)).key;
    const unknownUpload = withoutOutcome.find(({state}) => state === 'unknown');
    const intent = {contentType, transform, ...fileState};
    const isLasting = digest?.isInMemory || fileState.stat !== undefined;
    const sha256 = isLasting ? digest?.sha256 : undefined;
    this.#log.throwIfFailed();
    // With a hash, the commit follows soon, and its line has the intent too.
    if (sha256 === undefined) this.#log.appendWithoutWaiting({event: 'intent', key, ...intent});
    const unknownKey = unknownUpload && (await this.reader.lineOf(unknownUpload)).key;
    return uploadLog({
      idempotencyKey: key,
      unknownKey,
      releasedAt: sameVariant && (await this.reader.releaseTimeOf(sameVariant)),
      sha256,
      log: this.#log,
      journal: this,
      active,
      contentSha256: digest?.sha256,
      unrecordedIntent: sha256 === undefined ? undefined : intent,
    });
  }

  /** A new idempotency key. */
  #newKey(): string {
    for (;;) {
      const key = this.#host.uuid();
      // The index has only digests of keys, so a new key may collide with an old one.
      if (this.reader.index.rowOf(key) === -1) return key;
    }
  }
}

/** The SHA-256 of content, in hex. `isInMemory`: the run sends the bytes that it has hashed, so they cannot change. */
interface ContentDigest {
  sha256: string;
  isInMemory: boolean;
}
