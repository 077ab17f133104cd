import type {Concurrency} from './concurrency.ts';

/** A result that no longer needs a worker. */
export interface PendingResult<Result> {
  result: Promise<Result>;
}

/**
 * Works on the items of a stream, up to `limit` at a time, and yields results as they come. An item is read only when
 * fewer are worked on and fewer results wait to be taken than the limit, so that memory stays bounded. Once `isOver`,
 * no more are read. After a failure of an item or of the stream, rejects with it once all work has ended. `onEnd` is
 * called then, or when the caller has left.
 */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: Pick<Concurrency, 'limit'>,
  work: (item: Item) => Promise<PendingResult<Result>>,
  isOver: () => boolean = () => false,
  onEnd: () => void = () => {},
): AsyncGenerator<Result> {
  const results: PendingResult<Result>[] = [];
  const failures: unknown[] = [];
  const waiting: (() => void)[] = [];
  let active = 0;
  let isReading = true;
  let hasEnded = false;

  const change = () => new Promise<void>(resolve => waiting.push(resolve));
  const changed = () => {
    for (const goOn of waiting.splice(0)) goOn();
  };
  /** Ends the work at the first failure. */
  const fail = (error: unknown) => {
    failures.push(error);
    hasEnded = true;
    changed();
  };
  /** Works on an item; never rejects. */
  const workOn = async (item: Item) => {
    active += 1;
    try {
      const pending = await work(item);
      // The result may reject before it is awaited.
      pending.result.catch(() => {});
      results.push(pending);
    } catch (error) {
      fail(error);
    }
    active -= 1;
    changed();
  };
  const isFull = () => Math.max(active, results.length) >= concurrency.limit;
  /** Begins work on each item when there is room; resolves when no more are read. */
  const read = async () => {
    if (isOver()) return;
    for await (const item of items) {
      if (hasEnded) return;
      void workOn(item);
      while (isFull() && !hasEnded) await change();
      if (hasEnded || isOver()) return;
    }
  };
  const reading = read()
    .catch(fail)
    .finally(() => {
      isReading = false;
      changed();
    });

  try {
    while (isReading || active > 0 || results.length > 0) {
      const first = results.shift();
      changed();
      if (first === undefined) await change();
      else {
        const settled = await first.result.then(value => ({value}), fail);
        if (settled !== undefined) yield settled.value;
      }
    }
  } finally {
    hasEnded = true;
    changed();
    await reading;
    while (active > 0) await change();
    await Promise.allSettled(results.map(({result}) => result));
    onEnd();
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Limits the files in progress once the process has no file descriptors left. A file that gets none yields: it closes
 * what it has opened, and begins again when another has ended. Each that ends raises the limit a little.
 */
export class Descriptors {
  #inProgress = 0;
  #most = Number.POSITIVE_INFINITY;
  /** Whether there were others in progress when the last file began; they may have ended since. */
  #hasCompany = false;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when there is room; again while it resolves to undefined, because it yielded its descriptor. */
  async use<Result>(work: () => Promise<Result | undefined>): Promise<Result> {
    for (;;) {
      while (this.#inProgress >= Math.floor(this.#most))
        await new Promise<void>(resolve => this.#waiting.push(resolve));
      this.#hasCompany = this.#inProgress > 0;
      this.#inProgress += 1;
      let result: Result | undefined;
      try {
        result = await work();
      } finally {
        this.#inProgress -= 1;
        if (result !== undefined) this.#most += 1 / this.#most;
        this.#waiting.shift()?.();
      }
      if (result !== undefined) return result;
    }
  }

  /** Lowers the limit to the other files in progress; false if there were none, so that waiting would not help. */
  yieldDescriptor(): boolean {
    if (!this.#hasCompany) return false;
    this.#most = Math.max(1, this.#inProgress - 1);
    return true;
  }
}
