type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

/** A copy of a column with room for this number of rows. */
export function withRows<Kind extends Column>(column: Kind, rows: number): Kind {
  const Longer = column.constructor as new (length: number) => Kind;
  const longer = new Longer(rows);
  longer.set(column as ArrayLike<number>);
  return longer;
}

/** The initial number of rows of a column. */
export const firstRows = 256;

/**
 * A hash table of rows, with hashes of 32 bits: `for (let at = slots.start(hash); (row = slots.rowAt(at)) !== -1; at =
 * slots.next(at))` visits every row with that hash, and some others. Uses four to eight bytes per row.
 */
export class Slots {
  /** The row plus one; 0 for an empty slot. */
  #slots = new Uint32Array(2 * firstRows);
  #count = 0;
  readonly #hashOf: (row: number) => number;

  /** `hashOf` returns the hash of a row that was added. */
  constructor(hashOf: (row: number) => number) {
    this.#hashOf = hashOf;
  }

  start(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  rowAt(slot: number): number {
    return (this.#slots[slot] ?? 0) - 1;
  }

  next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  add(row: number): void {
    this.#count += 1;
    if (4 * this.#count > 3 * this.#slots.length) this.#grow();
    this.#put(row);
  }

  #put(row: number): void {
    let slot = this.start(this.#hashOf(row));
    while (this.#slots[slot] !== 0) slot = this.next(slot);
    this.#slots[slot] = row + 1;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (const kept of before) if (kept !== 0) this.#put(kept - 1);
  }
}

/** A digest of 64 bits. */
export interface Digest64 {
  readonly a: number;
  readonly b: number;
}

/** Numbers texts by their digests, starting at 0. */
export class Numbering {
  readonly #slots = new Slots(number => this.#a[number] ?? 0);
  #count = 0;
  #a = new Int32Array(firstRows);
  #b = new Int32Array(firstRows);

  get count(): number {
    return this.#count;
  }

  /** The number of a text, or -1. */
  of({a, b}: Digest64): number {
    for (let slot = this.#slots.start(a); ; slot = this.#slots.next(slot)) {
      const number = this.#slots.rowAt(slot);
      if (number === -1 || (this.#a[number] === a && this.#b[number] === b)) return number;
    }
  }

  /** Adds a text that has no number yet, and returns its number. */
  add({a, b}: Digest64): number {
    const number = this.#count;
    this.#count += 1;
    if (number === this.#a.length) {
      this.#a = withRows(this.#a, 2 * number);
      this.#b = withRows(this.#b, 2 * number);
    }
    this.#a[number] = a;
    this.#b[number] = b;
    this.#slots.add(number);
    return number;
  }

  digestOf(number: number): Digest64 {
    return {a: this.#a[number] ?? 0, b: this.#b[number] ?? 0};
  }
}

/** Numbers for a few texts that occur often. */
export class Names {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** The number of a text; when there are too many texts, the further ones share the last number. */
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
