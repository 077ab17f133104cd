/**
 * Works on the items of a stream, up to `concurrency` at a time, and yields results as they come. An item is asked for
 * only when a worker is free, and when no more results wait to be taken than there are workers: memory stays bounded on
 * both sides. Rejects, once all work has ended, with what the first failing item or the stream itself rejected with.
 */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const workers = new Workers(items, concurrency, work);
  try {
    for (;;) {
      const result = await workers.next();
      if (result === undefined) return;
      yield result.value;
    }
  } finally {
    await workers.end();
  }
}

class Workers<Item, Result> {
  readonly #iterator: AsyncIterator<Item> | Iterator<Item>;
  readonly #concurrency: number;
  readonly #work: (item: Item) => Promise<Result>;
  readonly #results: Result[] = [];
  readonly #running = new Set<Promise<void>>();
  #asking: Promise<void> | undefined;
  #exhausted = false;
  #failure: {error: unknown} | undefined;
  #wake = () => {};

  constructor(
    items: AsyncIterable<Item> | Iterable<Item>,
    concurrency: number,
    work: (item: Item) => Promise<Result>,
  ) {
    this.#iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    this.#concurrency = concurrency;
    this.#work = work;
  }

  /** The next result, or undefined after the last. */
  async next(): Promise<{value: Result} | undefined> {
    for (;;) {
      this.#ask();
      if (this.#results.length > 0) return {value: this.#results.shift() as Result};
      if (this.#running.size === 0 && this.#asking === undefined) {
        if (this.#failure !== undefined) throw this.#failure.error;
        return undefined;
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Takes no more items and waits for the work under way. */
  async end(): Promise<void> {
    this.#exhausted = true;
    await this.#asking;
    await Promise.all(this.#running);
    await this.#iterator.return?.();
  }

  #ask(): void {
    const isOver = this.#exhausted || this.#failure !== undefined;
    const isFull = Math.max(this.#running.size, this.#results.length) >= this.#concurrency;
    if (isOver || isFull || this.#asking !== undefined) return;
    this.#asking = this.#take().finally(() => {
      this.#asking = undefined;
      this.#ask();
      this.#wake();
    });
  }

  async #take(): Promise<void> {
    try {
      const item = await this.#iterator.next();
      if (item.done) this.#exhausted = true;
      else this.#start(item.value);
    } catch (error) {
      this.#failure ??= {error};
    }
  }

  #start(item: Item): void {
    const task = this.#work(item)
      .then(
        result => void this.#results.push(result),
        error => {
          this.#failure ??= {error};
        },
      )
      .finally(() => {
        this.#running.delete(task);
        this.#ask();
        this.#wake();
      });
    this.#running.add(task);
  }
}
