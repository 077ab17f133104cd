import {hash} from 'node:crypto';

/** Words of a slot: 94 bits of a SHA-256, whether the slot is used, and the value. */
const words = 3;
const used = 1;
const yes = 2;

/**
 * A yes or no for each of many paths. It keeps digests instead of the paths, in 16 to 24 bytes each, whatever their length; two
 * of a million paths have the same digest once in 10^16 times.
 */
export class SeenPaths {
  #slots = new Uint32Array(words * 256);
  #count = 0;

  get(path: string): boolean | undefined {
    const value = this.#slots[this.#slotOf(digestOf(path)) + 2] ?? 0;
    return value === 0 ? undefined : (value & yes) !== 0;
  }

  set(path: string, value: boolean): void {
    const digest = digestOf(path);
    const slot = this.#slotOf(digest);
    if (this.#slots[slot + 2] === 0) this.#count += 1;
    this.#slots.set([digest[0], digest[1], digest[2] | used | (value ? yes : 0)], slot);
    if (4 * words * this.#count > 3 * this.#slots.length) this.#grow();
  }

  /** Where a digest is, or would be. */
  #slotOf([a, b, c]: readonly [number, number, number]): number {
    const slots = this.#slots;
    for (let slot = words * (a % (slots.length / words)); ; slot = (slot + words) % slots.length) {
      const last = slots[slot + 2] ?? 0;
      if (last === 0 || (slots[slot] === a && slots[slot + 1] === b && (last & ~(used | yes)) >>> 0 === c))
        return slot;
    }
  }

  /** By half, so that the old and the new slots together take at most 40 bytes for each path. */
  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(words * Math.ceil((1.5 * before.length) / words));
    for (let slot = 0; slot < before.length; slot += words) {
      const [a = 0, b = 0, last = 0] = before.subarray(slot, slot + words);
      if (last !== 0) this.#slots.set([a, b, last], this.#slotOf([a, b, (last & ~(used | yes)) >>> 0]));
    }
  }
}

/** In three words; the lowest two bits of the last one are 0. */
function digestOf(path: string): readonly [number, number, number] {
  const hex = hash('sha256', path);
  const word = (at: number) => Number.parseInt(hex.slice(at, at + 8), 16);
  return [word(0), word(8), (word(16) & ~(used | yes)) >>> 0];
}
