import {randomBytes} from 'node:crypto';

/**
 * Created for the first journal of a process and shared, since journals that are read together are compared with each
 * other.
 */
let seed: Buffer | undefined;

function sharedSeed(): Buffer {
  seed ??= randomBytes(8);
  return seed;
}

/**
 * A digest of 64 bits that distinguishes texts within this process. Its seed is secret, so nobody can construct a
 * collision.
 */
export class Digest {
  /** For the characters of each text, most of which are short: without a buffer of its own, a text takes half the time. */
  readonly #scratch = new Uint8Array(512);
  readonly #seed = [sharedSeed().readInt32LE(0), sharedSeed().readInt32LE(4)] as const;
  a = 0;
  b = 0;

  /** Computes the digest of texts in this order; it is in `a` and `b` until the next call. */
  of(...texts: readonly string[]): this {
    this.begin();
    for (const text of texts) this.#addText(text);
    return this.end();
  }

  /** Starts with an empty text; addBytes() extends it, and end() computes the digest. */
  begin(): void {
    [this.a, this.b] = this.#seed;
  }

  /** Adds the text with these characters, U+0000 to U+00FF. */
  addBytes(bytes: Uint8Array, from: number, to: number): void {
    let {a, b} = this;
    let at = from;
    for (; at + 3 < to; at += 4) {
      const pair = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
      const unit = Math.imul(pair | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24), 0x239b961b);
      a = nextA(a, b, unit);
      b = nextB(a, b, unit);
    }
    let rest = 0;
    for (; at < to; at += 1) rest = (rest << 8) | (bytes[at] ?? 0);
    const unit = Math.imul(rest, 0x239b961b);
    a = nextA(a, b, unit) ^ (to - from);
    this.a = a;
    this.b = nextB(a, b, unit);
  }

  #addText(text: string): void {
    const scratch = this.#scratch;
    const {length} = text;
    let units = length > scratch.length ? 0xffff : 0;
    for (let at = 0; at < length && units <= 0xff; at += 1) {
      const unit = text.charCodeAt(at);
      scratch[at] = unit;
      units |= unit;
    }
    if (units <= 0xff) {
      this.addBytes(scratch, 0, length);
      return;
    }
    const isWide = /[^\0-\xff]/.test(text);
    const bytes = Buffer.from(text, isWide ? 'utf16le' : 'latin1');
    this.addBytes(bytes, 0, bytes.length);
    // Distinguishes it from the text whose characters are these bytes.
    if (isWide) this.addBytes(bytes, 0, 0);
  }

  end(): this {
    this.a = mixed(this.a ^ this.b);
    this.b = mixed(this.b ^ this.a);
    return this;
  }
}

function nextA(a: number, b: number, unit: number): number {
  return (Math.imul(rotated(a ^ Math.imul(rotated(unit, 15), 0xab0e9789), 19) + b, 5) + 0x561ccd1b) | 0;
}

function nextB(a: number, b: number, unit: number): number {
  return (Math.imul(rotated(b ^ Math.imul(rotated(unit, 17), 0x38b34ae5), 13) + a, 5) + 0x32ac3b17) | 0;
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
