import type {Clock, StopSignal} from '../../host.ts';
import {backoffMs, type FailureVerdict} from '../attempt/judge.ts';

export interface WaitOptions {
  clock: Clock;
  random: () => number;
  /** The longest Retry-After or outage to wait for, in milliseconds. */
  retryMaxWaitMs: number;
}

/**
 * The pause grows with each refusal in a row up to this one, to 2 s: a batch whose files are all refused ends within minutes, and
 * 8 at a time cause fewer than 10 requests a second.
 */
const longestRow = 3;

/**
 * Stops all workers from sending while the service asks to wait with Retry-After. After several refusals in a row, with nothing
 * stored between them, each file waits a little: the service limits how many files it takes in some time, and even one at a time is
 * too fast. Without these pauses, a batch would have most of its files refused in a second.
 */
export class Gate {
  readonly #options: WaitOptions & {retries: number};
  #closedUntil = 0;
  #refusalsInARow = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(options: WaitOptions & {retries: number}) {
    this.#options = options;
  }

  /** Takes the result of a request that was made at this time into account. */
  learn({availability, batchWait}: Pick<FailureVerdict, 'availability' | 'batchWait'>, sentAt: number): void {
    if (availability === 'stored') this.#refusalsInARow = 0;
    if (typeof batchWait === 'number') this.closeFor(batchWait);
    // Those that were sent together count once.
    if (batchWait === 'backoff' && sentAt >= this.#refusedAt) {
      this.#refusedAt = this.#options.clock.monotonic();
      this.#refusalsInARow += 1;
    }
  }

  /** Closes the gate for at least this many milliseconds. */
  closeFor(ms: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#options.clock.monotonic() + ms);
  }

  /** Resolves once the gate is open; rejects with the signal's reason if that is aborted first. */
  async pass(signal: StopSignal): Promise<void> {
    const {clock, random, retries} = this.#options;
    // At random, so that all do not come at once.
    if (this.#refusalsInARow > 1 && retries > 0)
      await clock.sleep(backoffMs(Math.min(this.#refusalsInARow, longestRow) - 1, random), signal);
    for (;;) {
      const waitMs = this.#closedUntil - clock.monotonic();
      if (waitMs <= 0) return;
      await clock.sleep(waitMs, signal);
    }
  }
}
