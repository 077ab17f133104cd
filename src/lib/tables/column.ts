/** A list of numbers, 0 where none was set, for millions of rows: it takes no more than its kind of number needs. */
export class Column {
  #values: Float64Array | Uint32Array | Uint16Array | Uint8Array;
  readonly #Kind: NumberArray;

  constructor(Kind: NumberArray) {
    this.#Kind = Kind;
    this.#values = new Kind(256);
  }

  at(row: number): number {
    return this.#values[row] ?? 0;
  }

  set(row: number, value: number): void {
    if (row >= this.#values.length) {
      const longer = new this.#Kind(2 * Math.max(row, this.#values.length));
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[row] = value;
  }
}

type NumberArray = new (length: number) => Float64Array | Uint32Array | Uint16Array | Uint8Array;
