import {firstRows, Slots, withRows} from './columns.ts';
import type {Content, ShaHalf} from './content.ts';

/** The number of bits of the filter for sizes; a few sizes that do not occur pass it too. */
const sizeBits = 2 ** 20;

/** The content of each upload. */
export class KnownContents {
  readonly #slots = new Slots(row => this.#sha[4 * row] ?? 0);
  readonly #sizes = new Uint8Array(sizeBits / 8);
  #size = new Float64Array(firstRows);
  #sha = new Int32Array(4 * firstRows);
  #isHashed = new Uint8Array(firstRows);

  /** Adds the next upload, whose content is not known yet. */
  add(row: number, size: number): void {
    if (row === this.#size.length) {
      this.#size = withRows(this.#size, 2 * row);
      this.#sha = withRows(this.#sha, 8 * row);
      this.#isHashed = withRows(this.#isHashed, 2 * row);
    }
    this.#size[row] = size;
  }

  /** Sets the content of an upload, replacing an earlier one. */
  hash(row: number, sha: ShaHalf): void {
    if (this.isHashed(row) && this.#isSame(row, sha)) return;
    for (let at = 0; at < 4; at += 1) this.#sha[4 * row + at] = sha[at] ?? 0;
    this.#isHashed[row] = 1;
    const bit = bitOf(this.sizeOf(row));
    this.#sizes[bit >> 3] = (this.#sizes[bit >> 3] ?? 0) | (1 << (bit & 7));
    this.#slots.add(row);
  }

  sizeOf(row: number): number {
    return this.#size[row] ?? 0;
  }

  isHashed(row: number): boolean {
    return this.#isHashed[row] === 1;
  }

  /** The content of an upload; undefined if nobody has hashed it. */
  of(row: number): Content | undefined {
    if (!this.isHashed(row)) return undefined;
    const part = (at: number) => this.#sha[4 * row + at] ?? 0;
    return {size: this.sizeOf(row), sha: [part(0), part(1), part(2), part(3)]};
  }

  /** The rows of all uploads with this content, in the order in which they were hashed. */
  rowsOf({size, sha}: Content): number[] {
    const rows: number[] = [];
    for (let slot = this.#slots.start(sha[0]); ; slot = this.#slots.next(slot)) {
      const row = this.#slots.rowAt(slot);
      if (row === -1) return rows;
      if (this.#isSame(row, sha) && this.#size[row] === size && !rows.includes(row)) rows.push(row);
    }
  }

  /** Whether content of this size may be known; false is certain. */
  maySize(size: number): boolean {
    const bit = bitOf(size);
    return ((this.#sizes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  #isSame(row: number, sha: ShaHalf): boolean {
    for (let at = 0; at < 4; at += 1) if (this.#sha[4 * row + at] !== sha[at]) return false;
    return true;
  }
}

function bitOf(size: number): number {
  return Math.imul(size % 2 ** 32, 0x9e3779b1) >>> 12;
}
