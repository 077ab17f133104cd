import {MediaError} from '../errors.ts';
import type {Clock, Host, StopSignal} from '../host.ts';
import {contentHash, type Hashable} from '../lib/files/content-hash.ts';
import type {User} from '../lib/files/ownership.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {FileStat} from '../sources/open/source.ts';
import type {UploadLog} from './entry.ts';
import {contentOf, type Variant, variantKey} from './identity.ts';
import type {IndexRow} from './journal-index.ts';
import {type FileState, pathKey, type Scope} from './line.ts';
import {type JournalReader, readJournal} from './reader.ts';
import {requireSameScope, requireSameService, type ServiceQuestions} from './scope.ts';

/** An input, as far as it is known without reading its content. */
export interface JournalInput {
  /** Relative to the root of the input: text, or bytes if it is not UTF-8. */
  path: string | Uint8Array;
  /** Bytes. */
  size: number;
  /** Set for files; other content is always read. */
  stat?: FileStat | undefined;
  /** What decides its content type: a rule of `--types`, or a given type; undefined for any. */
  types?: string | undefined;
}

/** An input, and how it is to be sent. */
export interface UploadInput extends JournalInput, Variant {
  /** Called before it is sent transformed, with the number of earlier uploads of it that were sent unchanged. */
  onEarlierOriginals?: (uploads: number) => void;
}

/** What a journal knows about an input. */
export type PriorUpload =
  /** Uploaded before, with the same content. */
  | {status: 'done'; received: ReceivedRecord; entry: IndexRow}
  /** Released before under this idempotency key, without a recorded result. */
  | {status: 'unknown'; key: string};

/**
 * What a journal knows about inputs, for runs and dry runs. Unknown uploads that were first released at the time `resendSince` or
 * later, in milliseconds since the Unix epoch, may be sent again: by default none, with -Infinity all.
 */
export class JournalLookup {
  readonly reader: JournalReader;
  readonly #clock: Clock;

  constructor(reader: JournalReader, clock: Clock) {
    this.reader = reader;
    this.#clock = clock;
  }

  /** What is known about an unchanged file, an unknown upload first; undefined if the file must be read. */
  async lookUpUnchanged(
    input: JournalInput,
    resendSince = Number.POSITIVE_INFINITY,
  ): Promise<PriorUpload | undefined> {
    const {index} = this.reader;
    if (input.stat === undefined || !index.hasSize(input.size)) return undefined;
    const entry = index.entryOfFile(fileStateOf(input));
    const content = entry && index.contentOf(entry.row);
    if (entry === undefined || content === undefined) return undefined;
    const blocking = await this.#blockingUpload(index.entriesWith(content), entry, resendSince);
    return blocking ?? (entry.state === 'done' ? this.#storedUpload(entry) : undefined);
  }

  /** What is known about hashed content that is sent in one way. */
  async lookUpContent(
    {size, onEarlierOriginals, ...sentAs}: Pick<UploadInput, 'size' | 'onEarlierOriginals' | keyof Variant>,
    sha256: string,
    resendSince = Number.POSITIVE_INFINITY,
  ): Promise<PriorUpload | undefined> {
    const entries = this.reader.index.entriesWith(contentOf(sha256, size));
    const blocking = await this.#blockingUpload(entries, sentAs, resendSince);
    if (blocking !== undefined) return blocking;
    const stored = entries.filter(({state}) => state === 'done');
    const done = stored.find(entry => variantKey(entry) === variantKey(sentAs));
    if (done !== undefined) return this.#storedUpload(done);
    const originals = stored.filter(({transform}) => transform === undefined);
    if (sentAs.transform !== undefined && originals.length > 0) onEarlierOriginals?.(originals.length);
    return undefined;
  }

  /** What is known about an input, which is read only if content of its size is known; a run begins an entry for a new one. */
  async beginUpload(
    input: UploadInput,
    source: Hashable,
    options: {resendSince?: number; stop?: StopSignal} = {},
  ): Promise<PriorUpload | {status: 'new'; entry?: UploadLog}> {
    if (!this.reader.index.hasSize(input.size)) return {status: 'new'};
    const prior = await this.lookUpContent(
      input,
      await contentHash(source, options.stop),
      options.resendSince,
    );
    return prior ?? {status: 'new'};
  }

  /** Records whether the service honours Idempotency-Key; does nothing for a dry run. */
  recordKeySupport(_honoursKeys: boolean): void {}

  /** Does nothing for a dry run, which keeps nothing open. */
  async close(): Promise<void> {}

  /** The first of these uploads that is unknown and must not be sent again. */
  async #blockingUpload(
    entries: readonly IndexRow[],
    sentAs: Variant,
    resendSince: number,
  ): Promise<PriorUpload | undefined> {
    for (const entry of entries) {
      if (entry.state !== 'unknown' || resendSince === Number.NEGATIVE_INFINITY) continue;
      const mayRepeat =
        resendSince !== Number.POSITIVE_INFINITY &&
        // Sent in another way, it would have another idempotency key, and be stored twice.
        variantKey(entry) === variantKey(sentAs) &&
        (await this.#isRecent(entry, resendSince));
      if (!mayRepeat) return {status: 'unknown', key: (await this.reader.lineOf(entry)).key};
    }
    return undefined;
  }

  /** Whether an upload was released since then: not at an unreadable time, nor more than a minute ahead of the clock, which has been set back since. */
  async #isRecent(entry: IndexRow, since: number): Promise<boolean> {
    const releaseTime = await this.reader.timeOf(entry);
    return releaseTime >= since && releaseTime <= this.#clock.now() + 60_000;
  }

  async #storedUpload(entry: IndexRow): Promise<PriorUpload> {
    return {status: 'done', received: await this.reader.recordOf(entry), entry};
  }
}

/** A file that changed less than this many nanoseconds ago may change again without a change of its times. */
const youngNs = 2_000_000_000n;

/** An input as lines and shortcuts have it. */
export function fileStateOf({path, size, stat, types}: JournalInput): FileState {
  const times = stat && `${stat.mtimeNs} ${stat.ctimeNs} ${stat.dev} ${stat.ino}`;
  return {path: pathKey(path), size, stat: times, types};
}

/** The same without times in which a later change might not show; `now` in milliseconds. */
export function settledStateOf(input: JournalInput, now: number): FileState {
  const {stat} = input;
  const isSettled = stat !== undefined && BigInt(Math.floor(now)) * 1_000_000n - stat.ctimeNs >= youngNs;
  return fileStateOf({...input, stat: isSettled ? stat : undefined});
}

/** Reads a journal for a dry run, without locking it; undefined if there is none. Rejects as openJournal() does. */
export async function readLookup(
  path: string,
  host: Pick<Host, 'cwd' | 'files' | 'clock'> & User,
  runScope: Scope | undefined,
  questions: ServiceQuestions = {},
): Promise<JournalLookup | undefined> {
  const reader = await readJournal(path, host, {user: host}).catch(error => {
    if (!(error instanceof MediaError) || error.code !== 'file_missing') throw error;
  });
  if (reader === undefined) return undefined;
  if (runScope !== undefined && reader.scope !== undefined) requireSameScope(reader.scope, runScope, path);
  await requireSameService(reader.scope, questions, path);
  return new JournalLookup(reader, host.clock);
}
