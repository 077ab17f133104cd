import {hash, randomBytes} from 'node:crypto';

/** Makes collisions impossible to prepare; the same in all maps of this process, and made with the first text. */
let salt: string | undefined;

/** Numbers of a slot: 96 bits of a digest, and the value plus one; 0 in a free slot. */
const slotLength = 4;

/**
 * A Map from texts to numbers below 2^32 - 1, for millions of texts. It keeps 96 bits of a salted SHA-256 instead of
 * each text, so that an entry takes 21 to 43 bytes and no object; two of a million texts are taken for one once in
 * 10^17 times.
 */
export class CompactMap {
  #slots = new Uint32Array(slotLength * 256);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(text: string): number | undefined {
    return this.#valueAt(this.#slotOf(digestOf(text)));
  }

  /** Sets a value, unless there is one that is to be kept, and returns the one before. */
  set(text: string, value: number, before: 'replaced' | 'kept' = 'replaced'): number | undefined {
    const digest = digestOf(text);
    const slot = this.#slotOf(digest);
    const existing = this.#valueAt(slot);
    if (existing === undefined) this.#insert(slot, digest, value);
    else if (before === 'replaced') this.#slots[slot + 3] = value + 1;
    return existing;
  }

  /** The value in a slot; undefined if it is free. */
  #valueAt(slot: number): number | undefined {
    const value = this.#slots[slot + 3] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  /** Where a digest is, or would be. */
  #slotOf([a, b, c]: Digest): number {
    const slots = this.#slots;
    for (let slot = (slotLength * a) % slots.length; ; slot = (slot + slotLength) % slots.length) {
      const isSame = slots[slot] === a && slots[slot + 1] === b && slots[slot + 2] === c;
      if (isSame || slots[slot + 3] === 0) return slot;
    }
  }

  /** Fills a free slot. The table stays at most three quarters full, so that searches are short. */
  #insert(slot: number, digest: Digest, value: number): void {
    this.#fill(slot, digest, value + 1);
    this.#size += 1;
    if (4 * slotLength * this.#size > 3 * this.#slots.length) this.#grow();
  }

  /** Doubles the table. Entries move, so a slot found before is no longer valid. */
  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (let slot = 0; slot < before.length; slot += slotLength) {
      const digest = [before[slot] ?? 0, before[slot + 1] ?? 0, before[slot + 2] ?? 0] as const;
      const stored = before[slot + 3] ?? 0;
      if (stored !== 0) this.#fill(this.#slotOf(digest), digest, stored);
    }
  }

  /** Number by number, since an array for each entry takes longer than the rest. */
  #fill(slot: number, [a, b, c]: Digest, stored: number): void {
    this.#slots[slot] = a;
    this.#slots[slot + 1] = b;
    this.#slots[slot + 2] = c;
    this.#slots[slot + 3] = stored;
  }
}

type Digest = readonly [number, number, number];

/** The first 96 bits of the salted SHA-256 of a text. */
function digestOf(text: string): Digest {
  salt ??= randomBytes(16).toString('latin1');
  // The fastest form, since no buffer is created.
  const bytes = hash('sha256', salt + text, 'binary');
  return [wordIn(bytes, 0), wordIn(bytes, 4), wordIn(bytes, 8)];
}

/** Four bytes of a text with one character per byte, as a number. */
function wordIn(bytes: string, at: number): number {
  const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16);
  return (low | (bytes.charCodeAt(at + 3) << 24)) >>> 0;
}

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

  /** Makes the list longer if needed. A value beyond the range of its kind is stored wrong, without an error. */
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
