// Written out, since an async generator between two others costs a batch of small files a few promises a file.

/** What has been taken of an iterator already, then the rest of it. */
export class Resumed<Item> implements AsyncIterableIterator<Item> {
  readonly #taken: IteratorResult<Item>[];
  readonly #rest: AsyncIterator<Item>;

  constructor(taken: readonly IteratorResult<Item>[], rest: AsyncIterator<Item>) {
    this.#taken = [...taken];
    this.#rest = rest;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    const taken = this.#taken.shift();
    return taken === undefined ? this.#rest.next() : Promise.resolve(taken);
  }

  async return(): Promise<IteratorResult<Item>> {
    await this.#rest.return?.();
    return {done: true, value: undefined};
  }
}

/** What a function makes of each item of an iterator. */
export class Mapped<Item, Made> implements AsyncIterableIterator<Made> {
  readonly #items: AsyncIterator<Item>;
  readonly #make: (item: Item) => Made;

  constructor(items: AsyncIterator<Item>, make: (item: Item) => Made) {
    this.#items = items;
    this.#make = make;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Made>> {
    return this.#items
      .next()
      .then(({done, value}) => (done ? {done, value: undefined} : {done: false, value: this.#make(value)}));
  }

  async return(): Promise<IteratorResult<Made>> {
    await this.#items.return?.();
    return {done: true, value: undefined};
  }
}
