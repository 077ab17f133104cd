import type {Concurrency} from './concurrency.ts';

/** A result that no longer needs a worker. */
export interface PendingResult<Result> {
  result: Promise<Result>;
}

/**
 * Works on the items of a stream, up to `limit` at a time, and yields results as they come. An item is read only when
 * a worker is free and fewer results than workers wait to be taken, so that memory stays bounded. Once `isOver`, no
 * more are read. After a failure of an item or of the stream, rejects with it once all work has ended. `onEnd` is called then,
 * or when the caller has left.
 */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: Pick<Concurrency, 'limit' | 'most' | 'onRise'>,
  work: (item: Item) => Promise<PendingResult<Result>>,
  isOver: () => boolean = () => false,
  onEnd: () => void = () => {},
): AsyncGenerator<Result> {
  const results: PendingResult<Result>[] = [];
  const failures: unknown[] = [];
  const waiting: (() => void)[] = [];
  let onProgress = () => {};
  let active = 0;
  let working = concurrency.most;
  let hasEnded = false;

  // All workers read from this generator, which handles their requests in order and reads nothing more after the end.
  const taken = (async function* () {
    if (isOver()) return;
    for await (const item of items) {
      if (hasEnded) return;
      yield item;
      if (hasEnded || isOver()) return;
    }
  })();
  const isFull = () => Math.max(active, results.length) >= concurrency.limit;
  // The last one, so that those beyond the limit sleep on instead of taking turns.
  const wakeOne = () => {
    if (!isFull()) waiting.pop()?.();
  };
  const wakeAll = () => {
    for (const goOn of waiting.splice(0)) goOn();
  };
  const fail = (error: unknown) => {
    failures.push(error);
    hasEnded = true;
    wakeAll();
  };
  const worked = async () => {
    while (isFull() && !hasEnded) await new Promise<void>(resolve => waiting.push(resolve));
    active += 1;
    try {
      const next = await taken.next();
      return next.done ? undefined : await work(next.value);
    } finally {
      active -= 1;
      wakeOne();
    }
  };
  concurrency.onRise = wakeAll;
  const workOnItems = async () => {
    for (let pending = await worked(); pending !== undefined; pending = await worked()) {
      // The result may reject before it is awaited.
      pending.result.catch(() => {});
      results.push(pending);
      onProgress();
    }
  };
  const workers = Array.from({length: concurrency.most}, async () => {
    await workOnItems().catch(fail);
    working -= 1;
    onProgress();
  });

  try {
    while (working > 0 || results.length > 0) {
      const first = results.shift();
      wakeOne();
      if (first === undefined) {
        await new Promise<void>(resolve => {
          onProgress = resolve;
        });
      } else {
        const settled = await first.result.then(value => ({value}), fail);
        if (settled !== undefined) yield settled.value;
      }
    }
  } finally {
    hasEnded = true;
    wakeAll();
    await Promise.all(workers);
    await Promise.allSettled(results.map(({result}) => result));
    await taken.return();
    onEnd();
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Limits how many files are in progress once the process has run out of file descriptors. A file that gets none yields: it
 * closes what it has opened, and begins again when another one has ended. Each file that ends raises the limit a little.
 */
export class Descriptors {
  #inProgress = 0;
  #most = Number.POSITIVE_INFINITY;
  /** Whether there were others in progress when the last file began; they may have ended since. */
  #hasCompany = false;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when there is room; again, for as long as it resolves to undefined because it yielded. */
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

  /** Lowers the limit to the other files in progress; false if there were none, which could make room. */
  yieldDescriptor(): boolean {
    if (!this.#hasCompany) return false;
    this.#most = Math.max(1, this.#inProgress - 1);
    return true;
  }
}
