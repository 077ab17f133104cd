import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {markEnded} from '../../lib/files/holder.ts';
import type {Lock} from '../../lib/files/lock.ts';
import {parseObject} from '../../lib/json.ts';
import {systemCode} from '../../lib/system-code.ts';
import {journalAccessError, takenOverError} from './journal-errors.ts';
import {appendAll, type JournalHandle} from './journal-file.ts';
import type {JournalIndex} from './journal-index.ts';
import {
  formatTransition,
  formatWriterLine,
  isRecord,
  parseLine,
  type Transition,
  type WriterEvent,
} from './line.ts';
import type {WriterCheck} from './writer-check.ts';

/** How often an idle writer appends an `alive` line, in milliseconds. */
const renewMs = 20_000;

/** The transitions that must survive a crash of the machine before the run goes on. */
const durableEvents: ReadonlySet<QueuedLine['event']> = new Set(['commit', 'done', 'resolved', 'forgotten']);

/** A line to append; its promise resolves to its offset in the file. */
interface QueuedLine {
  text: string;
  event: Transition['event'] | WriterEvent | 'header';
  resolve: (offset: number) => void;
  reject: (error: MediaError) => void;
}

/** The open file of a journal, which this run writes. */
export interface LogFile {
  handle: JournalHandle;
  check: WriterCheck;
  /** Whether appends of two machines may overwrite each other, as on NFS. Then only the owner of the lock may send. */
  isRemote: boolean;
  /** Whether each write is durable when it resolves, without a sync. */
  syncsWrites: boolean;
}

export interface LogParts {
  /** A function creates the file, for the first line about an upload. */
  file: LogFile | (() => Promise<LogFile>);
  lock: Lock;
  index: JournalIndex;
  displayPath: string;
  host: Host;
}

/**
 * Appends the lines of a run to its journal, as the only writer. Lines that arrive during a write form the next group,
 * with one write and one sync. After a failure, all later lines reject.
 */
export class JournalLog {
  readonly #parts: LogParts;
  #file: LogFile | undefined;
  readonly #stopRenewing: () => void;
  #queue: QueuedLine[] = [];
  #writing: Promise<void> | undefined;
  #failure: MediaError | undefined;
  /** The `done` and `failed` lines that could not be written. */
  readonly #lostOutcomes: string[] = [];
  #isIdle = true;

  constructor(parts: LogParts) {
    this.#parts = parts;
    this.#file = typeof parts.file === 'function' ? undefined : parts.file;
    this.#stopRenewing = parts.host.clock.every(renewMs, () => this.#renew());
  }

  /** Appends a line without waiting. The next commit is durable only if this line is. */
  appendWithoutWaiting(transition: Transition): void {
    this.throwIfFailed();
    this.append(transition).catch(() => {});
  }

  /** Throws the failure after which nothing more can be written, if there was one. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when the line is in the file; for a commit, when the upload may send its last chunk. */
  async append(transition: Transition): Promise<void> {
    const {index, lock} = this.#parts;
    const by = lock.holder.token;
    const text = formatTransition(transition, by);
    // Only the record comes from outside, so only the record can be malformed.
    if ('recordJson' in transition && !isRecord(parseObject(transition.recordJson)))
      throw new Error(`not a journal line: ${text}`);
    this.#isIdle = false;
    const {event, key} = transition;
    try {
      index.apply({by, ...transition}, await this.#write(text, event));
    } catch (error) {
      if ((event === 'done' || event === 'failed') && index.rowOf(key) !== -1) this.#lostOutcomes.push(text);
      throw error;
    }
    if (event === 'commit') index.release(by);
  }

  /** Appends another header, with members that the first one lacks, without waiting. */
  appendHeader(text: string): void {
    if (this.#file !== undefined) this.#write(text, 'header').catch(() => {});
  }

  /**
   * Makes all lines durable, and releases the journal; rejects if they are not durable. `finish`: called before the
   * release, unless another run has taken the journal over, with whether the file has every line.
   */
  async close(finish?: (isComplete: boolean) => Promise<void>): Promise<void> {
    try {
      await this.#end().finally(async () => {
        if (this.#failure?.code !== 'journal_in_use')
          await finish?.(this.#file !== undefined && this.#failure === undefined);
      });
    } finally {
      // Other runs see that this writer has ended.
      await Promise.allSettled([this.#file?.handle.close(), this.#parts.lock.release()]);
    }
  }

  /** Records the end of this writer, and makes all lines durable; after a failure, only tries to save the outcomes. */
  async #end(): Promise<void> {
    this.#stopRenewing();
    markEnded(this.#parts.lock.holder);
    // If this write fails, other runs judge by the process, or wait until it is certainly gone.
    if (this.#failure === undefined && (this.#file ?? this.#writing) !== undefined)
      await this.#write(this.#writerLine('close'), 'close').catch(() => {});
    await this.#writing;
    const file = this.#file;
    if (file === undefined) return;
    // The callers of append() have the failure already.
    if (this.#failure !== undefined) return this.#writeLostOutcomes(file, this.#failure).catch(() => {});
    await sync(file).catch(error => {
      throw this.#fail(error);
    });
  }

  /** Writes the lost outcomes again: a full disk may have room now. The `open` line excuses an incomplete line. */
  async #writeLostOutcomes(file: LogFile, {cause}: MediaError): Promise<void> {
    const {check, handle, isRemote} = file;
    const {lock} = this.#parts;
    if (this.#lostOutcomes.length === 0 || systemCode(cause) === undefined) return;
    if (isRemote && !(await lock.isOurs())) return;
    if (check.verifyAppend(Buffer.alloc(0)).other !== undefined) return;
    const lines = [this.#writerLine('open'), ...this.#lostOutcomes, this.#writerLine('close')];
    const bytes = Buffer.from(`\n${lines.join('')}`);
    await appendAll(handle, bytes);
    await sync(file);
    let offset = check.verifyAppend(bytes.subarray(1)).start;
    for (const text of lines) {
      const line = parseLine(text);
      if (line !== undefined && 'key' in line) this.#parts.index.apply(line, offset);
      offset += Buffer.byteLength(text);
    }
  }

  #writerLine(event: WriterEvent): string {
    const {lock, host} = this.#parts;
    return formatWriterLine(event, lock.holder, host.clock.now());
  }

  /** Queues a line for the next group; resolves to its offset in the file. */
  #write(text: string, event: QueuedLine['event']): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#queue.push({text, event, resolve, reject});
      this.#writing ??= this.#writeGroups();
    });
  }

  /** Writes queued lines until none is left; never rejects: after a failure, each of the lines does. */
  async #writeGroups(): Promise<void> {
    while (this.#queue.length > 0) {
      // Handles all responses that have arrived first, so that their lines share one sync.
      await this.#parts.host.nextTurn();
      const group = this.#queue;
      this.#queue = [];
      if (this.#failure === undefined) await this.#writeGroup(group).catch(error => this.#fail(error));
      // Lines that have resolved ignore this.
      if (this.#failure !== undefined) for (const {reject} of group) reject(this.#failure);
    }
    this.#writing = undefined;
  }

  /** Appends a group, and syncs it at most once. If another writer has taken the journal over, no commit resolves. */
  async #writeGroup(group: readonly QueuedLine[]): Promise<void> {
    const {file: known, lock, displayPath} = this.#parts;
    // A commit permits to send; only the last writer gets this permission.
    const isRelease = group.some(({event}) => event === 'commit');
    const lines = group.map(({text}) => text).join('');
    const bytes = Buffer.from(isRelease ? `${lines}${this.#writerLine('release')}` : lines);
    this.#file ??= typeof known === 'function' ? await known() : known;
    const file = this.#file;
    await appendAll(file.handle, bytes);
    if (group.some(({event}) => durableEvents.has(event))) await sync(file);
    const {start, other} = file.check.verifyAppend(bytes);
    if (other !== undefined || (file.isRemote && isRelease && !(await lock.isOurs())))
      this.#failure ??= takenOverError(displayPath, other?.holder);
    let offset = start;
    for (const line of group) {
      const isWithheld = line.event === 'commit' && this.#failure !== undefined;
      if (!isWithheld) line.resolve(offset);
      offset += Buffer.byteLength(line.text);
    }
  }

  /** Every 20 s: shows by the lock, and in an idle run by a line, that this writer is alive. */
  #renew(): void {
    this.#parts.lock.renew().catch(() => {});
    // If this fails, the next line of an upload rejects.
    if (this.#isIdle && this.#failure === undefined && this.#file !== undefined)
      this.#write(this.#writerLine('alive'), 'alive').catch(() => {});
    this.#isIdle = true;
  }

  /** Keeps the first failure, and returns it; no line is written after it. */
  #fail(error: unknown): MediaError {
    this.#failure ??=
      error instanceof MediaError ? error : journalAccessError(this.#parts.displayPath, 'written', error);
    return this.#failure;
  }
}

async function sync({handle, syncsWrites}: LogFile): Promise<void> {
  if (!syncsWrites) await handle.datasync();
}
