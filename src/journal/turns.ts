/** Lets those who ask for the same key go one after the other, in the order of asking. */
export class Turns<Key> {
  readonly #last = new Map<Key, Promise<void>>();

  /** Resolves, once all who asked for the key before have ended their turns, to the function that ends this one. */
  async take(key: Key): Promise<() => void> {
    const before = this.#last.get(key);
    let end = () => {};
    const turn = new Promise<void>(resolve => {
      end = resolve;
    });
    this.#last.set(key, turn);
    await before;
    return () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
      end();
    };
  }
}
