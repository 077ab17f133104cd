import {Refusal} from '../exchange/refusal.ts';

/** Keeps an upload that was begun before a reset of the state from being stored after it. */
export class Resets {
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #commits = new Set<Promise<unknown>>();

  /** Waits for resets in progress; resolves to a check that throws if another reset has begun since. */
  async begin(): Promise<() => void> {
    await this.#last;
    const count = this.#count;
    return () => {
      // Not a 503, after which clients would try again, in the middle of the next test.
      if (this.#count !== count)
        throw new Refusal(409, 'The service was reset during this upload, and nothing was stored.');
    };
  }

  /** Runs what may store an upload; a reset waits for its end. */
  async commit<Result>(store: () => Promise<Result>): Promise<Result> {
    const storing = store();
    this.#commits.add(storing);
    return storing.finally(() => this.#commits.delete(storing));
  }

  /** Runs a reset after those before it, when nothing that was begun earlier is being stored any more. */
  reset<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count += 1;
    const done = this.#last.then(() => Promise.allSettled(this.#commits)).then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
