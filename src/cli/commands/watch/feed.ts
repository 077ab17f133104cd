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

const shortestWaitMs = 1_000;
const longestWaitMs = 60_000;
const silenceMs = 60_000;
const askAgainMs = 3_600_000;

/** Takes files from their appearance to their end: complete, uploaded, disposed of, or tried again later. */
export class Feed {
  readonly #work: FileWork;
  readonly #options: SettleOptions;
  /** The files that are being waited for until they are complete. */
  readonly #settling = new Set<string>();
  /** The files that are being uploaded, and whether each has settled again since. */
  readonly #active = new Map<string, boolean>();
  /** The state in which a file was done with, until it disappears. */
  readonly #finalStates = new Map<string, string>();
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
    const way = this.#take(path).finally(() => this.#running.delete(way));
    this.#running.add(way);
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

  /** The way of one file: complete, not done with as it is, uploaded, disposed of; else tried again later. */
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
      await this.#end(path, await this.#work.take(path, state), state.key);
    } catch (error) {
      this.#delay(path, asMediaError(error));
    } finally {
      const isAgain = this.#active.get(path) === true;
      this.#active.delete(path);
      if (isAgain) this.touch(path);
    }
  }

  /** Decides by the result of a file whether it is done with, or tried again. */
  async #end(path: string, result: UploadEnd | FailedOutcome | LeftOut, key: string): Promise<void> {
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
    if (status === 'failed' && !hasTrait(error.code, 'as it is')) return this.#delay(path, error);
    this.#finalStates.set(path, key);
    // By then, a network share may be back. A short wait would send a large file of a damaged disk again and again.
    if (error.code === 'file_unreadable' && !isDenied(error.cause)) this.#askAgain(path);
    await this.#work.reportFailure(path, result);
  }

  /** Takes the file again later, as it is. */
  #askAgain(path: string): void {
    const cancel = this.#options.clock.every(askAgainMs, () => {
      cancel();
      this.#finalStates.delete(path);
      this.touch(path);
    });
  }

  /** Tries the file again later, with all others that wait. */
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
