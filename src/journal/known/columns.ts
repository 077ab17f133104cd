type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** A column with a place for the row: the same one, or one twice as long with the same values. */
export function roomFor<Kind extends Column>(column: Kind, row: number): Kind {
  if (row < column.length) return column;
  const Longer = column.constructor as new (length: number) => Kind;
  const longer = new Longer(2 * column.length);
  longer.set(column as ArrayLike<number>);
  return longer;
}

/** How many rows a column has room for at first. */
export const firstRows = 256;

/**
 * Finds rows by a hash of 32 bits: `for (let at = slots.start(hash); (row = slots.rowAt(at)) !== -1; at = slots.next(at))`
 * comes by each row that was put under that hash, and by others. Four to eight bytes a row.
 */
export class Slots {
  /** The row plus one; 0 where there is none. */
  #slots = new Uint32Array(2 * firstRows);
  #count = 0;

  start(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  rowAt(slot: number): number {
    return (this.#slots[slot] ?? 0) - 1;
  }

  next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  /** Puts another row where one was found. */
  replace(slot: number, row: number): void {
    this.#slots[slot] = row + 1;
  }

  /** Adds a row; `hashOf` gives the hash of those that are there. */
  add(hash: number, row: number, hashOf: (row: number) => number): void {
    this.#count += 1;
    if (4 * this.#count > 3 * this.#slots.length) this.#grow(hashOf);
    this.#put(hash, row);
  }

  #put(hash: number, row: number): void {
    let slot = this.start(hash);
    while (this.#slots[slot] !== 0) slot = this.next(slot);
    this.#slots[slot] = row + 1;
  }

  #grow(hashOf: (row: number) => number): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (const kept of before) if (kept !== 0) this.#put(hashOf(kept - 1), kept - 1);
  }
}

/** Numbers for a few texts that are told again and again. */
export class Names {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** The number of a text; the last one stands for all that are too many. */
  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = Math.min(this.#names.length, 0xffff);
    this.#names[number] = name;
    this.#numbers.set(name, number);
    return number;
  }

  nameOf(number: number): string {
    return this.#names[number] ?? '';
  }
}
