import {randomBytes} from 'node:crypto';

/** Drawn for the first journal of a process: those that are read together are held against each other. */
let seed: Buffer | undefined;

function sharedSeed(): Buffer {
  seed ??= randomBytes(8);
  return seed;
}

/** 64 bits that tell texts apart within this process: nobody knows its seed, so nobody can make two texts alike. */
export class Digest {
  readonly #seed = sharedSeed();
  a = 0;
  b = 0;

  /** The digest of texts in this order, in `a` and `b` until the next call. */
  of(...texts: readonly string[]): this {
    let a = this.#seed.readInt32LE(0);
    let b = this.#seed.readInt32LE(4);
    for (const text of texts) {
      for (let at = 0; at < text.length; at += 1) {
        const unit = Math.imul(text.charCodeAt(at) + 1, 0x239b961b);
        a = Math.imul(rotated(a ^ Math.imul(rotated(unit, 15), 0xab0e9789), 19) + b, 5) + 0x561ccd1b;
        b = Math.imul(rotated(b ^ Math.imul(rotated(unit, 17), 0x38b34ae5), 13) + a, 5) + 0x32ac3b17;
      }
      a ^= text.length;
      b += a;
    }
    this.a = mixed(a + b) >>> 0;
    this.b = mixed(b ^ this.a) >>> 0;
    return this;
  }
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function mixed(value: number): number {
  let mix = value ^ (value >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
