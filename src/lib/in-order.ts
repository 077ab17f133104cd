/** Puts items in the order of their positions, which count from 0; items that come early wait. */
export class InOrder<Item extends {readonly position: number}> {
  readonly #early = new Map<number, Item>();
  #next = 0;

  /** Adds an item; returns the items whose turn it now is. */
  take(item: Item): Item[] {
    this.#early.set(item.position, item);
    const due: Item[] = [];
    for (let next = this.#early.get(this.#next); next !== undefined; next = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#next += 1;
      due.push(next);
    }
    return due;
  }

  /** The items that are still waiting for an item that never came, in order. */
  rest(): Item[] {
    const waiting = [...this.#early].sort(([a], [b]) => a - b).map(([, item]) => item);
    this.#early.clear();
    return waiting;
  }
}
