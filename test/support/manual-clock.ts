import type {Clock} from '../../src/host.ts';

interface Timer {
  at: number;
  action: () => void;
}

/** A clock that only moves when told to; its timers run in order, each `late()` milliseconds late. */
export class ManualClock implements Clock {
  readonly #late: () => number;
  readonly #timers = new Set<Timer>();
  #time = 0;

  constructor(late: () => number = () => 0) {
    this.#late = late;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  idle(): number {
    return this.#time;
  }

  after(ms: number, action: () => void): () => void {
    const timer = {at: this.#time + ms + this.#late(), action};
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  every(ms: number, action: () => void): () => void {
    let cancel = () => {};
    const again = () => {
      cancel = this.after(ms, () => {
        again();
        action();
      });
    };
    again();
    return () => cancel();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, {once: true});
    });
  }

  /** Moves on by `ms`; everything that waits for a timer finishes its work before the next timer runs. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      await settled();
      const next = [...this.#timers].sort((one, other) => one.at - other.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.action();
    }
    this.#time = end;
  }
}

/** Resolves when all promises that can settle now have settled. */
export function settled(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve);
  });
}
