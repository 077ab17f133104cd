/** A result that is on its way, and needs no worker any more. */
export interface Later<Result> {
  result: Promise<Result>;
}

/**
 * Works on the items of a stream, up to `concurrency` at a time, and yields results as they come. An item is asked for
 * only when a worker is free, and when no more results wait to be taken than there are workers: memory stays bounded on
 * both sides. An item that comes when `isOver` is dropped, and none is asked for after it. Rejects, once all work has
 * ended, with what the first failing item or the stream itself rejected with.
 */
export function mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Later<Result>>,
  isOver: () => boolean = () => false,
): AsyncIterableIterator<Result> {
  return new Workers(items, concurrency, work, isOver);
}

// Iterators written out, and no more promises than needed: a batch of small files spends its time on what lies between them.
class Workers<Item, Result> implements AsyncIterableIterator<Result> {
  readonly #iterator: AsyncIterator<Item>;
  readonly #concurrency: number;
  readonly #work: (item: Item) => Promise<Later<Result>>;
  readonly #isOver: () => boolean;
  readonly #results: Later<Result>[] = [];
  readonly #running = new Set<Promise<void>>();
  #asking: Promise<void> | undefined;
  #exhausted = false;
  #failure: {error: unknown} | undefined;
  #wake = () => {};

  constructor(
    items: AsyncIterable<Item> | Iterable<Item>,
    concurrency: number,
    work: (item: Item) => Promise<Later<Result>>,
    isOver: () => boolean,
  ) {
    this.#iterator = (Symbol.asyncIterator in items ? items : later(items))[Symbol.asyncIterator]();
    this.#concurrency = concurrency;
    this.#work = work;
    this.#isOver = isOver;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Result>> {
    for (;;) {
      const first = this.#results.shift();
      this.#ask();
      if (first !== undefined) {
        try {
          return {done: false, value: await first.result};
        } catch (error) {
          this.#failure ??= {error};
          continue;
        }
      }
      if (this.#running.size === 0 && this.#asking === undefined) {
        await this.return();
        if (this.#failure !== undefined) throw this.#failure.error;
        return {done: true, value: undefined};
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Takes no more items and waits for the work under way. */
  async return(): Promise<IteratorResult<Result>> {
    this.#exhausted = true;
    await this.#asking;
    await Promise.all(this.#running);
    await Promise.allSettled(this.#results.map(({result}) => result));
    await this.#iterator.return?.();
    return {done: true, value: undefined};
  }

  #ask(): void {
    const hasEnded = this.#exhausted || this.#failure !== undefined;
    const isFull = Math.max(this.#running.size, this.#results.length) >= this.#concurrency;
    if (hasEnded || isFull || this.#asking !== undefined) return;
    this.#asking = this.#iterator.next().then(
      item => {
        if (item.done || this.#isOver()) this.#exhausted = true;
        else this.#start(item.value);
        this.#asked();
      },
      error => {
        this.#failure ??= {error};
        this.#asked();
      },
    );
  }

  #asked(): void {
    this.#asking = undefined;
    this.#ask();
    this.#wake();
  }

  #start(item: Item): void {
    const task = this.#work(item).then(
      later => {
        // It may fail before anybody waits for it.
        later.result.catch(() => {});
        this.#results.push(later);
        this.#worked(task);
      },
      error => {
        this.#failure ??= {error};
        this.#worked(task);
      },
    );
    this.#running.add(task);
  }

  #worked(task: Promise<void>): void {
    this.#running.delete(task);
    this.#ask();
    this.#wake();
  }
}

async function* later<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
