import {MediaError} from '../errors.ts';
import type {Clock, Host, StopSignal} from '../host.ts';
import {contentHash, type Hashable} from '../lib/files/content-hash.ts';
import type {User} from '../lib/files/ownership.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {FileStat} from '../sources/open/source.ts';
import type {JournalEntry} from './entry.ts';
import {contentOf, type SentAs, sentAsKey} from './identity.ts';
import type {Entry} from './journal-index.ts';
import {type FileState, pathKey, type Scope} from './line.ts';
import {type JournalReader, readJournal} from './reader.ts';
import {type Questions, refuseOtherScope, refuseOtherStore} from './scope.ts';

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
export interface SentInput extends JournalInput, SentAs {
  /** Called before it is sent transformed, with the number of earlier uploads of it that were sent unchanged. */
  onSentUnchanged?: (uploads: number) => void;
}

/** What a journal knows about an input. */
export type Known =
  /** Uploaded before, with the same content. */
  | {status: 'done'; received: ReceivedRecord; entry: Entry}
  /** Released before under this idempotency key, without a recorded result. */
  | {status: 'unknown'; key: string};

/**
 * What a journal knows about inputs, for runs and dry runs. Unknown uploads that were first released at the time `resendSince` or
 * later, in milliseconds since the Unix epoch, may be sent again: by default none, with -Infinity all.
 */
export class JournalMemory {
  readonly reader: JournalReader;
  readonly #clock: Clock;

  constructor(reader: JournalReader, clock: Clock) {
    this.reader = reader;
    this.#clock = clock;
  }

  /** What is known about an unchanged file, an unknown upload first; undefined if the file must be read. */
  async recall(input: JournalInput, resendSince = Number.POSITIVE_INFINITY): Promise<Known | undefined> {
    const {index} = this.reader;
    if (input.stat === undefined || !index.hasSize(input.size)) return undefined;
    const entry = index.entryOfFile(fileStateOf(input));
    const content = entry && index.contentOf(entry.row);
    if (entry === undefined || content === undefined) return undefined;
    const held = await this.#held(index.entriesWith(content), entry, resendSince);
    return held ?? (entry.state === 'done' ? this.#done(entry) : undefined);
  }

  /** What is known about hashed content that is sent in one way. */
  async find(
    {size, onSentUnchanged, ...sentAs}: Pick<SentInput, 'size' | 'onSentUnchanged' | keyof SentAs>,
    sha256: string,
    resendSince = Number.POSITIVE_INFINITY,
  ): Promise<Known | undefined> {
    const entries = this.reader.index.entriesWith(contentOf(sha256, size));
    const held = await this.#held(entries, sentAs, resendSince);
    if (held !== undefined) return held;
    const stored = entries.filter(({state}) => state === 'done');
    const done = stored.find(entry => sentAsKey(entry) === sentAsKey(sentAs));
    if (done !== undefined) return this.#done(done);
    const unchanged = stored.filter(({transform}) => transform === undefined);
    if (sentAs.transform !== undefined && unchanged.length > 0) onSentUnchanged?.(unchanged.length);
    return undefined;
  }

  /** What is known about an input, which is read only if content of its size is known; a run begins an entry for a new one. */
  async admit(
    input: SentInput,
    source: Hashable,
    options: {resendSince?: number; stop?: StopSignal} = {},
  ): Promise<Known | {status: 'new'; entry?: JournalEntry}> {
    if (!this.reader.index.hasSize(input.size)) return {status: 'new'};
    const known = await this.find(input, await contentHash(source, options.stop), options.resendSince);
    return known ?? {status: 'new'};
  }

  /** Records whether the service honours Idempotency-Key; does nothing for a dry run. */
  remember(_honoursKeys: boolean): void {}

  /** Does nothing for a dry run, which keeps nothing open. */
  async close(): Promise<void> {}

  /** The first of these uploads that is unknown and must not be sent again. */
  async #held(entries: readonly Entry[], sentAs: SentAs, resendSince: number): Promise<Known | undefined> {
    for (const entry of entries) {
      if (entry.state !== 'unknown' || resendSince === Number.NEGATIVE_INFINITY) continue;
      const mayRepeat =
        resendSince !== Number.POSITIVE_INFINITY &&
        // Sent in another way, it would have another idempotency key, and be stored twice.
        sentAsKey(entry) === sentAsKey(sentAs) &&
        (await this.#isRecent(entry, resendSince));
      if (!mayRepeat) return {status: 'unknown', key: (await this.reader.lineOf(entry)).key};
    }
    return undefined;
  }

  /** Whether an upload was released since then: not at an unreadable time, nor more than a minute ahead of the clock, which has been set back since. */
  async #isRecent(entry: Entry, since: number): Promise<boolean> {
    const released = await this.reader.timeOf(entry);
    return released >= since && released <= this.#clock.now() + 60_000;
  }

  async #done(entry: Entry): Promise<Known> {
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
export async function readMemory(
  path: string,
  host: Pick<Host, 'cwd' | 'files' | 'clock'> & User,
  asked: Scope | undefined,
  questions: Questions = {},
): Promise<JournalMemory | undefined> {
  const reader = await readJournal(path, host, {user: host}).catch(error => {
    if (!(error instanceof MediaError) || error.code !== 'file_missing') throw error;
  });
  if (reader === undefined) return undefined;
  if (asked !== undefined && reader.scope !== undefined) refuseOtherScope(reader.scope, asked, path);
  await refuseOtherStore(reader.scope, questions, path);
  return new JournalMemory(reader, host.clock);
}
