/** Something that happens at a moment of the simulated time. */
export interface Happening {
  at: number;
  /** Draws the order of what happens at the same moment. */
  draw: number;
  action: () => void;
  isCancelled: boolean;
}

/** A run that ends has a few hundred. One that waits in vain, or for the real disk, renews its lock again and again. */
const mostHappenings = 100_000;

/**
 * Simulated time: everything that takes time is a happening, and one seed decides when each comes. Between two of them, all
 * promises that can settle do, so that the same seed always tells the same story.
 */
export class World {
  /** Milliseconds since the Unix epoch. */
  now = 1_700_000_000_000;
  /** How far the clock of the machine is wrong, in milliseconds. */
  clockOffset = 0;
  readonly random: () => number;
  /** What happened, as sentences that a person can follow. */
  readonly story: string[] = [];
  /** A binary heap, the next one first. */
  readonly #heap: Happening[] = [];

  constructor(random: () => number) {
    this.random = random;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.random() * below);
  }

  /** Whether something comes true that does once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  tell(sentence: string): void {
    this.story.push(`${((this.now - 1_700_000_000_000) / 1000).toFixed(3)} s: ${sentence}`);
  }

  after(ms: number, action: () => void): Happening {
    const happening = {at: this.now + Math.max(0, ms), draw: this.random(), action, isCancelled: false};
    this.#push(happening);
    return happening;
  }

  /** Lets time pass until the promise settles. Rejects where nothing could happen any more: the program hangs. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (let idle = 0, happened = 0; !isSettled; happened += 1) {
      if (happened > mostHappenings) throw new Error(`After ${happened} happenings, the run has not ended.`);
      await workDone();
      if (isSettled) break;
      const next = this.#pop();
      if (next === undefined) {
        idle += 1;
        if (idle > 10) throw new Error('Nothing can happen any more, and the run has not ended.');
        continue;
      }
      idle = 0;
      this.now = Math.max(this.now, next.at);
      next.action();
    }
    return promise;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(happening);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(happening, heap[above] as Happening)) break;
      heap[at] = heap[above] as Happening;
      at = above;
    }
    heap[at] = happening;
  }

  #pop(): Happening | undefined {
    for (;;) {
      const first = this.#heap[0];
      const last = this.#heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (this.#heap.length > 0) this.#sink(last);
      if (!first.isCancelled) return first;
    }
  }

  #sink(happening: Happening): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Happening, heap[below] as Happening))
        below += 1;
      if (!isBefore(heap[below] as Happening, happening)) break;
      heap[at] = heap[below] as Happening;
      at = below;
    }
    heap[at] = happening;
  }
}

/** Resolves when all promises that can settle now have. */
function workDone(): Promise<void> {
  return new Promise(resolve => {
    process.nextTick(resolve);
  });
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.at < other.at || (one.at === other.at && one.draw < other.draw);
}
