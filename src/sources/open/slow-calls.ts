import type {Clock} from '../../host.ts';

/** A call that took longer than this has waited for a disk. */
const slowCallMs = 2;

/**
 * How many files are opened on other threads after a slow call. The number doubles each time, since a slow disk is slow
 * often and a busy machine only now and then, and falls by one with each fast call.
 */
const carefulOpens = {least: 8, most: 512};

/** Decides by the time that calls take whether the next may be made on this thread. */
export class SlowCalls {
  readonly #clock: Clock;
  /** How many files are still to be opened on other threads. */
  #careful = 0;
  /** How many will be after the next slow call. */
  #nextCareful = carefulOpens.least;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether recent calls were fast. */
  get areFast(): boolean {
    return this.#careful <= 0;
  }

  /** Makes a call on this thread, and measures it. */
  timed<Result>(call: () => Result): Result {
    const start = this.#clock.monotonic();
    const result = call();
    if (this.#clock.monotonic() - start > slowCallMs) {
      this.#careful = this.#nextCareful;
      this.#nextCareful = Math.min(carefulOpens.most, 2 * this.#nextCareful);
    } else this.#nextCareful = Math.max(carefulOpens.least, this.#nextCareful - 1);
    return result;
  }

  /** Counts a file that was opened on another thread. */
  openedElsewhere(): void {
    this.#careful -= 1;
  }
}
