import type {LeftOut, UploadResult} from '../../../engine/transfer/outcome.ts';
import {type ErrorCode, hasTrait, type MediaError} from '../../../errors.ts';
import {Stop} from '../../../lib/stop.ts';
import {isDenied} from '../../../lib/system-code.ts';
import {asMediaError} from '../../output/report.ts';
import {type SettleOptions, settledState, type WatchedState} from './settler.ts';

/** The outcome of a file that was not uploaded, or may not have been. */
export type FailedOutcome = Extract<UploadResult, {error: MediaError}>;

/** After its upload, a file stays where it is, stays until its disposal is decided again in an hour, or has left. */
export type UploadEnd = 'stays' | 'asked again' | 'left';

/** What is done with a complete file. */
export interface FileWork {
  /** Uploads a complete file, disposes of it, and prints its outcome. Rejects if the session or the disposal failed. */
  take(path: string, state: WatchedState): Promise<UploadEnd | FailedOutcome | LeftOut>;
  /** Called for a file that is not tried again as it is. */
  reportFailure(path: string, outcome: FailedOutcome): Promise<void>;
  /** Called at most once a minute for each kind of error while files wait to be tried again. */
  reportDelay(error: MediaError, files: number): void;
}

/** How long files that failed wait to be tried again: doubled each time, until one succeeds. */
const shortestWaitMs = 1_000;
const longestWaitMs = 60_000;
/** How often the same kind of error is reported. */
const silenceMs = 60_000;
/** When a file is disposed of again, or read again, that could not be. */
const askAgainMs = 3_600_000;

/** Takes files from their appearance to their end: complete, uploaded, disposed of, or tried again later. */
export class Feed {
  readonly #work: FileWork;
  readonly #options: SettleOptions;
  /** The files that are being waited for until they are complete. */
  readonly #settling = new Set<string>();
  /** The files that are being uploaded, and whether each has settled again since. */
  readonly #active = new Map<string, boolean>();
  /** The key of the state in which a file was done with, until it disappears: in this state, it is not tried again. */
  readonly #finalStates = new Map<string, string>();
  /** The files that wait to be tried again, all at the same time. */
  readonly #delayed = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #waitMs = shortestWaitMs;
  #cancelRetry: (() => void) | undefined;
  /** When each kind of error was last reported. */
  readonly #lastReports = new Map<ErrorCode, number>();
  readonly #stop = new Stop();

  constructor(options: SettleOptions, work: FileWork) {
    this.#work = work;
    this.#options = options;
  }

  /** How many files are being uploaded, wait for that, or wait to be tried again. */
  get waiting(): number {
    return new Set([...this.#active.keys(), ...this.#delayed]).size;
  }

  /** Call when a file has appeared or changed. */
  touch(path: string): void {
    const taking = this.#take(path).finally(() => this.#running.delete(taking));
    this.#running.add(taking);
  }

  /** Call when a file has disappeared. */
  forget(path: string): void {
    this.#finalStates.delete(path);
    this.#delayed.delete(path);
  }

  /** Takes no more files. */
  close(): void {
    this.#stop.abort(undefined);
    this.#cancelRetry?.();
  }

  /** Resolves when the files that were taken have come to their end. */
  async waitForEnd(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Waits until a file is complete, then has it uploaded and disposed of, unless it is done with as it is. */
  async #take(path: string): Promise<void> {
    if (this.#settling.has(path)) return;
    this.#settling.add(path);
    const state = await settledState(path, this.#options, this.#stop);
    this.#settling.delete(path);
    if (state === undefined || this.#stop.aborted || this.#finalStates.get(path) === state.key) return;
    if (this.#active.has(path)) {
      this.#active.set(path, true);
      return;
    }
    this.#active.set(path, false);
    this.#delayed.delete(path);
    try {
      await this.#decide(path, await this.#work.take(path, state), state.key);
    } catch (error) {
      this.#delay(path, asMediaError(error));
    } finally {
      const hasChanged = this.#active.get(path) === true;
      this.#active.delete(path);
      if (hasChanged) this.touch(path);
    }
  }

  /** Decides by the result of a file whether it is done with in the state of this key, or tried again. */
  async #decide(path: string, result: UploadEnd | FailedOutcome | LeftOut, key: string): Promise<void> {
    if (typeof result === 'string') {
      if (result === 'asked again') this.#askAgain(path);
      // What has disappeared, with its file system perhaps, may come back as it was.
      if (result === 'left') this.touch(path);
      else this.#finalStates.set(path, key);
      this.#waitMs = shortestWaitMs;
      return;
    }
    if (result.status === 'left out') return void this.#finalStates.set(path, key);
    const {error, status} = result;
    if (error.code === 'file_missing' || error.code === 'interrupted') return;
    if (error.code === 'source_changed') return this.touch(path);
    // What is unknown or mismatched may be stored: a person decides about it, so it is not sent again.
    if (status === 'failed' && !hasTrait(error.code, 'as it is')) return this.#delay(path, error);
    this.#finalStates.set(path, key);
    // By then, a network share may be back. A short wait would send a large file of a damaged disk again and again.
    if (error.code === 'file_unreadable' && !isDenied(error.cause)) this.#askAgain(path);
    await this.#work.reportFailure(path, result);
  }

  /** Takes the file again in an hour, though it has not changed. Unlike after(), every() lets the process end. */
  #askAgain(path: string): void {
    const cancel = this.#options.clock.every(askAgainMs, () => {
      cancel();
      this.#finalStates.delete(path);
      this.touch(path);
    });
  }

  /** Tries the file again later, with all others that wait; reports the error, at most once a minute for its code. */
  #delay(path: string, error: MediaError): void {
    if (this.#stop.aborted) return;
    const {clock} = this.#options;
    this.#delayed.add(path);
    const lastReport = this.#lastReports.get(error.code);
    if (lastReport === undefined || clock.monotonic() - lastReport >= silenceMs) {
      this.#lastReports.set(error.code, clock.monotonic());
      this.#work.reportDelay(error, this.waiting);
    }
    this.#cancelRetry ??= clock.after(this.#waitMs, () => {
      this.#cancelRetry = undefined;
      this.#waitMs = Math.min(longestWaitMs, 2 * this.#waitMs);
      for (const waiting of this.#delayed) this.touch(waiting);
    });
  }
}
