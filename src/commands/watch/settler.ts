import type {Clock} from '../../host.ts';

/** A regular file as it was at one moment; the key differs after every write. */
export interface WatchedState {
  key: string;
  size: number;
}

export interface SettlerOptions {
  clock: Pick<Clock, 'after'>;
  /** How long a file must stay as it is, in milliseconds. */
  settleMs: number;
  /** The state of a file; undefined if there is none. */
  look: (path: string) => Promise<WatchedState | undefined>;
  /** Whether another sign says that a file is still being written. */
  isUnfinished: (path: string) => Promise<boolean>;
  /** Called once for a file that is complete. */
  onSettled: (path: string, state: WatchedState) => void;
}

/** Waits until files are complete: size and time of change have been the same for a while. Empty files are passed over. */
export class Settler {
  readonly #options: SettlerOptions;
  /** The files that are being waited for, with what cancels the next look at them. */
  readonly #files = new Map<string, () => void>();
  #isClosed = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** How many files are being waited for. */
  get count(): number {
    return this.#files.size;
  }

  /** Call when a file has appeared or changed. */
  touch(path: string): void {
    if (this.#isClosed || this.#files.has(path)) return;
    this.#files.set(path, () => {});
    void this.#look(path, undefined);
  }

  /** Waits for no file any more. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#files.values()) cancel();
    this.#files.clear();
  }

  async #look(path: string, before: string | undefined): Promise<void> {
    const {clock, settleMs, look, isUnfinished, onSettled} = this.#options;
    const state = await look(path);
    const isSettled = state !== undefined && state.key === before && !(await isUnfinished(path));
    if (this.#isClosed) return;
    if (state === undefined || isSettled) {
      this.#files.delete(path);
      if (state !== undefined && state.size > 0) onSettled(path, state);
      return;
    }
    this.#files.set(
      path,
      clock.after(settleMs, () => void this.#look(path, state.key)),
    );
  }
}
