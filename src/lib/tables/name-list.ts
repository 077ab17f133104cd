/** Each name of so many is kept whole, so that reading one decodes at most as many. */
const group = 16;
const firstBytes = 64 * 1024;

/**
 * A long list of texts, usually paths in the order of a walk: each keeps only what differs from the one before, in about
 * 10 to 30 bytes for a path.
 */
export class NameList {
  #bytes = Buffer.alloc(firstBytes);
  #end = 0;
  /** Where each group begins. */
  readonly #groups: number[] = [];
  #count = 0;
  #last = Buffer.alloc(0);

  /** Adds a text, and returns its number: 0 for the first. */
  add(text: string): number {
    const name = Buffer.from(text);
    const isWhole = this.#count % group === 0;
    if (isWhole) this.#groups.push(this.#end);
    const shared = isWhole ? 0 : sharedLength(this.#last, name);
    this.#reserve(name.length - shared + 8);
    this.#writeLength(shared);
    this.#writeLength(name.length - shared);
    this.#end += name.copy(this.#bytes, this.#end, shared);
    this.#last = name;
    this.#count += 1;
    return this.#count - 1;
  }

  /** The text with this number. */
  at(number: number): string {
    const reader = {at: this.#groups[Math.floor(number / group)] ?? 0};
    let name = Buffer.alloc(0);
    for (let left = number % group; left >= 0; left -= 1) {
      const shared = this.#readLength(reader);
      const rest = this.#readLength(reader);
      name = Buffer.concat([name.subarray(0, shared), this.#bytes.subarray(reader.at, reader.at + rest)]);
      reader.at += rest;
    }
    return name.toString();
  }

  /** In groups of seven bits, lowest first. */
  #writeLength(length: number): void {
    let rest = length;
    for (; rest > 0x7f; rest >>>= 7) this.#end = this.#bytes.writeUInt8((rest & 0x7f) | 0x80, this.#end);
    this.#end = this.#bytes.writeUInt8(rest, this.#end);
  }

  #readLength(reader: {at: number}): number {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[reader.at] ?? 0;
      reader.at += 1;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) return length;
    }
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const longer = Buffer.alloc(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(longer, 0, 0, this.#end);
    this.#bytes = longer;
  }
}

function sharedLength(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}
