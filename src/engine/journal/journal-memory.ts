import type {Clock, Host, StopSignal} from '../../host.ts';
import {contentHash, type Hashable} from '../../lib/files/content-hash.ts';
import type {User} from '../../lib/files/ownership.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {FileStat, OpenSource, Source} from '../sources/open/source.ts';
import type {UploadLog} from './entry.ts';
import {undefinedIfMissing} from './journal-file.ts';
import {type Content, contentKey, type Variant, variantKey} from './journal-identity.ts';
import type {IndexRow} from './journal-index.ts';
import {type FileState, pathKey, type Scope, type Seed} from './line.ts';
import {type JournalReader, readJournal} from './reader.ts';
import {requireSameScope, requireSameService, type ServiceQuestions} from './scope.ts';

/** An input as its name and its stat describe it, without its content. */
export interface JournalInput {
  /** Relative to the root of the input: text, or bytes if the name is not UTF-8. */
  path: string | Uint8Array;
  /** Bytes. */
  size: number;
  /** Present for files only; a source without a stat is read every time. */
  stat?: FileStat | undefined;
  /** What decides the content type: a rule of `--types`, or one type for all files. Undefined matches every rule. */
  typeRule?: string | undefined;
  /** The transform that files with a location get, such as `geotags/2`; undefined if the run sends them as they are. */
  transformRule?: string | undefined;
}

/** An input, and the variant of it that the run sends. */
export interface InputVariant extends JournalInput, Variant {
  /** Receives how many earlier uploads stored the original, if this run sends it transformed. */
  onEarlierOriginals?: (uploads: number) => void;
}

/** The manifest that a journal belongs to: it is loaded before the journal, and written from it at the end. */
export interface JournalManifest {
  readonly displayPath: string;
  /** What the run has changed in it, as a phrase; undefined before it is written. */
  readonly change: string | undefined;
  /** Reads the manifest, once the journal is locked; resolves to what it knows. */
  load(): Promise<Seed>;
  /** The key of a file, which is its path in the journal; rejects if it cannot have one. */
  keyOf(source: Source, opened: OpenSource): Promise<string>;
  /** Takes note of what the journal knows about the content of a file; throws if the file must not be sent. */
  found(input: InputVariant, sha256: string | undefined, prior: PriorUpload | undefined): void;
  /** The keys of the entries that are to be removed, since their files are gone; none before allowPruning(). */
  stale(): AsyncIterable<string>;
  /** Call once the run has looked at all of its inputs: a file that was moved has its new key then. */
  allowPruning(): void;
  /** Notes that unknown content is stored, with this record, or without one, that it is to be sent again. */
  settle(content: Content | undefined, record: ReceivedRecord['record'] | undefined): Promise<void>;
  /** Notes that the service no longer has this content. */
  forget(content: Content | undefined): void;
  /** Writes the manifest, while the journal is locked. `isComplete`: whether the journal's file has every line. */
  write(reader: JournalReader, isComplete: boolean): Promise<void>;
}

/** What the journal recorded about the content of an input in earlier uploads. */
export type PriorUpload =
  /** Stored: the service's record is in the journal. `sha256`: if the content was read. */
  | {status: 'done'; received: ReceivedRecord; entry: IndexRow; sha256?: string | undefined}
  /** Sent under this idempotency key, but no result is recorded. */
  | {status: 'unknown'; key: string};

/** Looks inputs up in a journal, for runs and dry runs. */
export class JournalLookup {
  readonly reader: JournalReader;
  readonly manifest: JournalManifest | undefined;
  readonly #clock: Clock;

  constructor(reader: JournalReader, clock: Clock, manifest?: JournalManifest) {
    this.reader = reader;
    this.#clock = clock;
    this.manifest = manifest;
  }

  /** The file in which a user settles unknown uploads. */
  get displayPath(): string {
    return this.manifest?.displayPath ?? this.reader.displayPath;
  }

  /**
   * Looks a file up by its path and stat, without reading it; undefined if its content must be read. `resendSince`:
   * what was released before this time (in milliseconds since 1970) without a known result must not be sent again.
   */
  async lookUpUnchanged(
    input: JournalInput,
    resendSince = Number.POSITIVE_INFINITY,
  ): Promise<PriorUpload | undefined> {
    const {index} = this.reader;
    // A manifest needs the whole hash of each file.
    if (input.stat === undefined || !index.hasSize(input.size) || this.manifest) return undefined;
    const entry = index.entryOfFile(fileStateOf(input));
    const content = entry && index.contentOf(entry.row);
    if (entry === undefined || content === undefined) return undefined;
    const blocking = await this.#blockingUpload(index.entriesWithContent(content), entry, resendSince);
    return blocking ?? (entry.state === 'done' ? this.#storedUpload(entry) : undefined);
  }

  /** Looks content up by its SHA-256: an unknown upload of any variant, or a stored upload of this variant. */
  async lookUpContent(
    {size, onEarlierOriginals, ...variant}: Pick<InputVariant, 'size' | 'onEarlierOriginals' | keyof Variant>,
    sha256: string,
    resendSince = Number.POSITIVE_INFINITY,
  ): Promise<PriorUpload | undefined> {
    const entries = this.reader.index.entriesWithContent(contentKey(sha256, size));
    const blocking = await this.#blockingUpload(entries, variant, resendSince);
    if (blocking !== undefined) return blocking;
    const stored = entries.filter(({state}) => state === 'done');
    const done = stored.find(entry => variantKey(entry) === variantKey(variant));
    if (done !== undefined) return this.#storedUpload(done, sha256);
    const originals = stored.filter(({transform}) => transform === undefined);
    if (variant.transform !== undefined && originals.length > 0) onEarlierOriginals?.(originals.length);
    return undefined;
  }

  /** Looks an input up; hashes it only if the journal has content of its size. A run gets a log for a new upload. */
  async beginUpload(
    input: InputVariant,
    source: Hashable,
    options: {resendSince?: number; stop?: StopSignal} = {},
  ): Promise<PriorUpload | {status: 'new'; log?: UploadLog}> {
    const isKnown = this.reader.index.hasSize(input.size);
    const sha256 = isKnown ? await contentHash(source, options.stop) : undefined;
    const prior =
      sha256 === undefined ? undefined : await this.lookUpContent(input, sha256, options.resendSince);
    this.manifest?.found(input, sha256, prior);
    return prior ?? {status: 'new'};
  }

  /** Records whether the service honours Idempotency-Key. A dry run records nothing. */
  recordKeySupport(_honoursKeys: boolean): void {}

  /** Releases the journal. A dry run keeps nothing open. */
  async close(): Promise<void> {}

  /** The first unknown upload that forbids to send this variant. With `resendSince` -Infinity none does. */
  async #blockingUpload(
    entries: readonly IndexRow[],
    variant: Variant,
    resendSince: number,
  ): Promise<PriorUpload | undefined> {
    for (const entry of entries) {
      if (entry.state !== 'unknown' || resendSince === Number.NEGATIVE_INFINITY) continue;
      const mayRepeat =
        resendSince !== Number.POSITIVE_INFINITY &&
        // Another variant has another idempotency key, so the service would store the content twice.
        variantKey(entry) === variantKey(variant) &&
        (await this.#isRecent(entry, resendSince));
      const {key, sha256 = key} = await this.reader.lineOf(entry);
      // A manifest has no keys.
      if (!mayRepeat) return {status: 'unknown', key: this.manifest === undefined ? key : sha256};
    }
    return undefined;
  }

  /** Whether an upload was released since then, and not in the future, as it seems after the clock was set back. */
  async #isRecent(entry: IndexRow, since: number): Promise<boolean> {
    const releaseTime = await this.reader.releaseTimeOf(entry);
    return releaseTime >= since && releaseTime <= this.#clock.now() + 60_000;
  }

  async #storedUpload(entry: IndexRow, sha256?: string): Promise<PriorUpload> {
    return {status: 'done', received: await this.reader.recordOf(entry), entry, sha256};
  }
}

/** A file that changed less than this many nanoseconds ago may change again without a change of its times. */
const settleTimeNs = 2_000_000_000n;

/** The state of a file as lines record it. */
export function fileStateOf({path, size, stat, typeRule, transformRule}: JournalInput): FileState {
  const times = stat && `${stat.mtimeNs} ${stat.ctimeNs} ${stat.dev} ${stat.ino}`;
  const types = transformRule === undefined ? typeRule : `${typeRule} ${transformRule}`;
  return {path: pathKey(path), size, stat: times, types};
}

/** The state of a file, without a stat so young that a later change might leave it equal; `now` in milliseconds. */
export function settledStateOf(input: JournalInput, now: number): FileState {
  const {stat} = input;
  const isSettled = stat !== undefined && BigInt(Math.floor(now)) * 1_000_000n - stat.ctimeNs >= settleTimeNs;
  return fileStateOf({...input, stat: isSettled ? stat : undefined});
}

/** Reads a journal for a dry run, without a lock; undefined if there is no file. Rejects as openJournal() does. */
export async function readLookup(
  path: string,
  host: Pick<Host, 'cwd' | 'files' | 'clock'> & User,
  runScope: Scope | undefined,
  {manifest, ...questions}: ServiceQuestions & {manifest?: JournalManifest} = {},
): Promise<JournalLookup | undefined> {
  const user = manifest === undefined ? host : undefined;
  const reader = await readJournal(path, host, {user, seed: await manifest?.load()}).catch(
    undefinedIfMissing,
  );
  if (reader === undefined) return undefined;
  const shown = manifest?.displayPath ?? path;
  if (runScope !== undefined && reader.scope !== undefined)
    requireSameScope(reader.scope, runScope, shown, manifest && 'manifest');
  await requireSameService(reader.scope, questions, shown, manifest && 'manifest');
  return new JournalLookup(reader, host.clock, manifest);
}
