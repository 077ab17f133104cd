import type {Clock} from '../../host.ts';

/**
 * How long a refusal may take once bytes have left over a connection that took so long to open, which is a round trip or more:
 * half of one for lines that are not even, and time for a near service that is busy.
 */
export function longestRefusalMs(connectMs: number): number {
  return Math.max(50, 1.5 * connectMs);
}

/**
 * Hears, once, that a service refuses none of the files that are in progress: all have been sent, and a refusal would have come,
 * but nothing has. It only takes its time, which need not be waited for before more are sent.
 */
export class Silence {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #onSilence: () => void;
  #sent = 0;
  #connectMs = 0;
  #isOver = false;
  #cancel = () => {};

  constructor(clock: Pick<Clock, 'after'>, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  /** Counts a file of which bytes have left; `all`: how many are in progress. */
  sent(connectMs: number, all: number): void {
    this.#sent += 1;
    this.#connectMs = Math.max(this.#connectMs, connectMs);
    if (this.#isOver || this.#sent < all) return;
    this.#isOver = true;
    this.#cancel = this.#clock.after(longestRefusalMs(this.#connectMs), this.#onSilence);
  }

  /** Call when a file has ended. */
  break(): void {
    this.#isOver = true;
    this.#cancel();
  }
}
