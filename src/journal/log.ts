import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {markEnded} from '../lib/files/holder.ts';
import type {Lock} from '../lib/files/lock.ts';
import {fencedOff, journalFailed} from './file/errors.ts';
import type {Fence} from './file/fence.ts';
import {appendAll, type JournalHandle} from './file/file.ts';
import {GroupSync} from './file/group-sync.ts';
import {formatTransition, formatWriterLine, type Transition, type WriterEvent} from './file/lines.ts';
import {isRecordJson} from './file/parse.ts';
import type {JournalIndex} from './known/journal-index.ts';

/** How often a writer shows that it is alive, in milliseconds. */
const renewMs = 20_000;

/** The transitions that others rely on, so that they must survive a crash. */
const durable: ReadonlySet<Transition['event']> = new Set(['commit', 'done', 'resolved', 'forgotten']);

export interface LogParts {
  handle: JournalHandle;
  fence: Fence;
  lock: Lock;
  index: JournalIndex;
  shown: string;
  host: Host;
  /** Whether simultaneous appends by two machines may overwrite each other. If so, the lock decides which one may send. */
  isRemote: boolean;
  /** Whether each write is durable when it resolves. */
  syncsWrites: boolean;
}

/** The lines that a run writes to its journal, as its only writer. */
export class JournalLog {
  readonly #parts: LogParts;
  readonly #group: GroupSync;
  readonly #stopRenewing: () => void;
  #failure: MediaError | undefined;
  #isIdle = true;

  constructor(parts: LogParts) {
    this.#parts = parts;
    const {handle} = parts;
    this.#group = new GroupSync({
      write: bytes => appendAll(handle, bytes),
      sync: () => (parts.syncsWrites ? Promise.resolve() : handle.datasync()),
      look: (bytes, isRelease) => this.#look(bytes, isRelease),
      releaseLine: () => this.#writerLine('release'),
    });
    this.#stopRenewing = parts.host.clock.every(renewMs, () => this.#renew());
  }

  /** Appends without waiting: a commit is durable only when all earlier lines are, and if one fails, all later ones do. */
  note(transition: Transition): void {
    this.refuseIfFailed();
    this.#write(
      transition,
      () => {},
      error => this.#failed(error),
    );
  }

  /** Throws why nothing more can be written, if so. */
  refuseIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when the line is in the file; for a commit, when the upload may be released. */
  append(transition: Transition): Promise<void> {
    return new Promise((resolve, reject) => {
      this.refuseIfFailed();
      this.#write(transition, resolve, error => reject(this.#failed(error)));
    });
  }

  /** Records the end of this writer, and makes everything durable; rejects if that fails. */
  async close(): Promise<void> {
    this.#stopRenewing();
    markEnded(this.#parts.lock.holder);
    // If this fails, others still see that this process has ended, or wait for it.
    if (this.#failure === undefined) await this.#writeEvent('close').catch(() => {});
    try {
      await this.#group.end();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #write(transition: Transition, resolve: () => void, reject: (error: unknown) => void): void {
    const {index, lock} = this.#parts;
    const {token} = lock.holder;
    const line = formatTransition(transition, token);
    // The record is the only part of a line that comes from outside.
    if ('recordJson' in transition && !isRecordJson(transition.recordJson)) {
      reject(new Error(`not a journal line: ${line}`));
      return;
    }
    this.#isIdle = false;
    const isRelease = transition.event === 'commit';
    this.#group.append({
      text: line,
      isDurable: durable.has(transition.event),
      isRelease,
      onWritten: ({offset, length}) => {
        index.apply(transition, token, offset, length);
        if (isRelease) index.release(token);
      },
      resolve,
      reject,
    });
  }

  #writeEvent(event: WriterEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      const text = this.#writerLine(event);
      this.#group.append({text, isDurable: false, isRelease: false, onWritten: () => {}, resolve, reject});
    });
  }

  #writerLine(event: WriterEvent): string {
    const {lock, host} = this.#parts;
    return formatWriterLine(event, lock.holder, host.clock.now());
  }

  async #look(bytes: Buffer, isRelease: boolean): Promise<{start: number; refusal?: MediaError | undefined}> {
    const {fence, lock, shown, isRemote} = this.#parts;
    const {start, other} = fence.look(bytes);
    if (other !== undefined) this.#failure ??= fence.refusal(other);
    else if (isRemote && isRelease && !(await lock.isOurs()))
      this.#failure ??= fencedOff(shown, 'another process');
    return {start, refusal: this.#failure};
  }

  #renew(): void {
    this.#parts.lock.renew().catch(() => {});
    if (this.#isIdle && this.#failure === undefined)
      this.#writeEvent('alive').catch(error => this.#failed(error));
    this.#isIdle = true;
  }

  #failed(error: unknown): unknown {
    if (error instanceof Error && error.message.startsWith('not a journal line')) return error;
    this.#failure ??=
      error instanceof MediaError ? error : journalFailed(this.#parts.shown, 'written', error);
    return this.#failure;
  }
}
