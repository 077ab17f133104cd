import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {holderText, markEnded} from '../lib/files/holder.ts';
import type {Lock} from '../lib/files/lock.ts';
import {systemCode} from '../lib/system-code.ts';
import {fencedOff, journalFailed} from './errors.ts';
import {appendAll, type JournalHandle} from './file.ts';
import type {JournalIndex} from './journal-index.ts';
import {formatTransition, formatWriterLine, isRecordJson, type Transition, type WriterEvent} from './line.ts';
import type {WriterCheck} from './writer-check.ts';

/** How often a writer shows that it is alive, in milliseconds. */
const renewMs = 20_000;

/** The transitions that others rely on, so that they must survive a crash of the machine. */
const durable: ReadonlySet<Line['event']> = new Set(['commit', 'done', 'resolved', 'forgotten']);

/** A line to append, and the promise of where it begins in the file. */
interface Line {
  text: string;
  event: Transition['event'] | WriterEvent | 'header';
  resolve: (offset: number) => void;
  reject: (error: MediaError) => void;
}

export interface LogParts {
  handle: JournalHandle;
  check: WriterCheck;
  lock: Lock;
  index: JournalIndex;
  shown: string;
  host: Host;
  /** Whether simultaneous appends by two machines may overwrite each other. If so, the lock decides which one may send. */
  isRemote: boolean;
  /** Whether each write is durable when it resolves. */
  syncsWrites: boolean;
}

/**
 * The lines that a run writes to its journal, as its only writer: one write per group. Lines that arrive during a write or
 * sync share the next one, so each waits for at most the running sync and one more. After a failure, every further line is
 * rejected.
 */
export class JournalLog {
  readonly #parts: LogParts;
  readonly #stopRenewing: () => void;
  #pending: Line[] = [];
  #running: Promise<void> | undefined;
  #failure: MediaError | undefined;
  /** The ends of sent uploads that could not be written. */
  readonly #unwritten: string[] = [];
  #isIdle = true;

  constructor(parts: LogParts) {
    this.#parts = parts;
    this.#stopRenewing = parts.host.clock.every(renewMs, () => this.#renew());
  }

  /** Appends without waiting: a commit is durable only when all earlier lines are, and if one fails, all later ones do. */
  note(transition: Transition): void {
    this.refuseIfFailed();
    this.append(transition).catch(() => {});
  }

  /** Throws why nothing more can be written, if so. */
  refuseIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when the line is in the file; for a commit, when the upload may be released. */
  async append(transition: Transition): Promise<void> {
    const {index, lock} = this.#parts;
    const by = lock.holder.token;
    const text = formatTransition(transition, by);
    // The record is the only part of a line that comes from outside.
    if ('recordJson' in transition && !isRecordJson(transition.recordJson))
      throw new Error(`not a journal line: ${text}`);
    this.#isIdle = false;
    const {event, key} = transition;
    try {
      index.apply({by, ...transition}, await this.#write(text, event));
    } catch (error) {
      if ((event === 'done' || event === 'failed') && index.rowOf(key) !== -1) this.#unwritten.push(text);
      throw error;
    }
    if (event === 'commit') index.release(by);
  }

  /** Appends another header without waiting, which says more than the first. */
  noteHeader(text: string): void {
    this.#write(text, 'header').catch(() => {});
  }

  /** Makes everything durable, and releases the journal; rejects if the former failed. */
  async close(): Promise<void> {
    const {handle, lock} = this.#parts;
    try {
      await this.#end();
    } finally {
      // Everything is durable by now, and others see that this process has ended.
      await Promise.allSettled([handle.close(), lock.release()]);
    }
  }

  /** Records the end of this writer. */
  async #end(): Promise<void> {
    this.#stopRenewing();
    markEnded(this.#parts.lock.holder);
    // If this fails, others still see that this process has ended, or wait for it.
    if (this.#failure === undefined) await this.#writeEvent('close').catch(() => {});
    await this.#running;
    // Whoever wrote a line knows of the failure already.
    if (this.#failure !== undefined) return this.#writeUnwritten(this.#failure).catch(() => {});
    await this.#sync().catch(error => {
      throw this.#fail(error);
    });
  }

  /** Writes once more what uploads ended with: a full disk may have room again. An opening line ends an incomplete one. */
  async #writeUnwritten({cause}: MediaError): Promise<void> {
    const {check, handle, lock, isRemote} = this.#parts;
    if (this.#unwritten.length === 0 || systemCode(cause) === undefined) return;
    if (isRemote && !(await lock.isOurs())) return;
    if (check.look(Buffer.alloc(0)).other !== undefined) return;
    const lines = [this.#writerLine('open'), ...this.#unwritten, this.#writerLine('close')].join('');
    await appendAll(handle, Buffer.from(`\n${lines}`));
    await this.#sync();
  }

  #writeEvent(event: WriterEvent): Promise<number> {
    return this.#write(this.#writerLine(event), event);
  }

  #writerLine(event: WriterEvent): string {
    const {lock, host} = this.#parts;
    return formatWriterLine(event, lock.holder, host.clock.now());
  }

  #write(text: string, event: Line['event']): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#pending.push({text, event, resolve, reject});
      this.#running ??= this.#writeGroups();
    });
  }

  async #writeGroups(): Promise<void> {
    while (this.#pending.length > 0) {
      // The responses that have arrived are handled first: what they lead to shares one sync.
      await this.#parts.host.nextTurn();
      const group = this.#pending;
      this.#pending = [];
      if (this.#failure === undefined) await this.#writeGroup(group).catch(error => this.#fail(error));
      // Has no effect on promises that are already settled.
      if (this.#failure !== undefined) for (const {reject} of group) reject(this.#failure);
    }
    this.#running = undefined;
  }

  async #writeGroup(group: readonly Line[]): Promise<void> {
    // A commit permits sending; only the last writer gets this permission.
    const isRelease = group.some(({event}) => event === 'commit');
    const lines = group.map(({text}) => text).join('');
    const bytes = Buffer.from(isRelease ? `${lines}${this.#writerLine('release')}` : lines);
    await appendAll(this.#parts.handle, bytes);
    if (group.some(({event}) => durable.has(event))) await this.#sync();
    let offset = await this.#find(bytes, isRelease);
    for (const line of group) {
      const isHeld = line.event === 'commit' && this.#failure !== undefined;
      if (!isHeld) line.resolve(offset);
      offset += Buffer.byteLength(line.text);
    }
  }

  /** Where these bytes are in the file; afterwards, #failure tells whether another writer has taken the journal over. */
  async #find(bytes: Buffer, isRelease: boolean): Promise<number> {
    const {check, lock, shown, isRemote} = this.#parts;
    const {start, other} = check.look(bytes);
    if (other !== undefined) this.#failure ??= fencedOff(shown, holderText(other.holder));
    else if (isRemote && isRelease && !(await lock.isOurs()))
      this.#failure ??= fencedOff(shown, 'another process');
    return start;
  }

  async #sync(): Promise<void> {
    const {handle, syncsWrites} = this.#parts;
    if (!syncsWrites) await handle.datasync();
  }

  #renew(): void {
    this.#parts.lock.renew().catch(() => {});
    // A failure shows in the next line that matters.
    if (this.#isIdle && this.#failure === undefined) this.#writeEvent('alive').catch(() => {});
    this.#isIdle = true;
  }

  #fail(error: unknown): MediaError {
    this.#failure ??=
      error instanceof MediaError ? error : journalFailed(this.#parts.shown, 'written', error);
    return this.#failure;
  }
}
