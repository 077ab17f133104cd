import {backoffMs} from '../attempt/retry.ts';

/**
 * More refusals in a row cause no longer pause than so many, which is 2 s: a batch of which every file is refused comes to its
 * end in minutes, and one at 8 at a time stays below 10 a second.
 */
const longestRow = 3;

/**
 * Counts refusals that come one after the other, with nothing stored between them: the service limits how many files it takes in
 * some time, and even one at a time is too fast. Without pauses, a batch would have most of its files refused in a second.
 */
export class Refusals {
  #inARow = 0;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** Call for each stored file. */
  stored(): void {
    this.#inARow = 0;
  }

  /** Call for each refusal, with the times when its request was sent and when it was heard. */
  refused(sentAt: number, heardAt: number): void {
    // Those that were sent together count once.
    if (sentAt < this.#heardAt) return;
    this.#heardAt = heardAt;
    this.#inARow += 1;
  }

  /** How long a file should wait before it is sent, in milliseconds: at random, so that all do not come at once. */
  waitMs(random: () => number): number {
    return this.#inARow < 2 ? 0 : backoffMs(Math.min(this.#inARow, longestRow) - 1, random);
  }
}
