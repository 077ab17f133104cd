import type {Part} from './part.ts';
import {UnstrippableError, wrongLengths} from './unstrippable.ts';

export interface IfdEntry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  /** Where the entry itself is. */
  readonly at: number;
  /** Where its value is, which may be within the entry. */
  readonly valueAt: number;
  readonly valueSize: number;
  readonly isOutside: boolean;
}

/** Real directories have less than a hundred entries. */
const mostEntries = 1_000;

/** The bytes of a value by its type (TIFF 6.0, 2; BigTIFF has 16 to 18). */
const typeSizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/** A TIFF structure: its offsets are relative to the part, and in BigTIFF they have 8 bytes. */
export class Tiff {
  readonly part: Part;
  readonly isLittle: boolean;
  readonly word: 4 | 8;

  constructor(part: Part, isLittle: boolean, word: 4 | 8) {
    this.part = part;
    this.isLittle = isLittle;
    this.word = word;
  }

  /** An unsigned number of 2, 4 or 8 bytes. */
  number(at: number, size: number): number {
    return this.#numberIn(this.part.read(at, size), 0, size);
  }

  #numberIn(bytes: Buffer, at: number, size: number): number {
    if (size < 8) return this.isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
    const number = Number(this.isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
    if (!Number.isSafeInteger(number)) throw wrongLengths();
    return number;
  }

  /** The values of an entry of whole numbers, such as offsets. */
  numbers({type, count, valueAt, valueSize}: IfdEntry): number[] {
    if (![3, 4, 13, 16, 18].includes(type)) throw new UnstrippableError('an offset of an unknown type');
    const size = typeSizes[type] ?? 0;
    const bytes = this.part.read(valueAt, valueSize);
    return Array.from({length: count}, (_, index) => this.#numberIn(bytes, index * size, size));
  }

  /** The entries of a directory, and its bytes without the offset of the next one. */
  directory(at: number): {entries: IfdEntry[]; size: number} {
    const {part, word} = this;
    const countSize = word === 8 ? 8 : 2;
    const count = this.number(at, countSize);
    if (count > mostEntries) throw new UnstrippableError('a directory of very many tags');
    const entrySize = 4 + 2 * word;
    const size = countSize + count * entrySize;
    const bytes = part.read(at, size);
    const entries = Array.from({length: count}, (_, index): IfdEntry => {
      const start = countSize + index * entrySize;
      const tag = this.#numberIn(bytes, start, 2);
      const type = this.#numberIn(bytes, start + 2, 2);
      const values = this.#numberIn(bytes, start + 4, word);
      const valueSize = values * (typeSizes[type] ?? 0);
      if ((typeSizes[type] ?? 0) === 0) throw new UnstrippableError('a tag of an unknown type');
      const isOutside = valueSize > word;
      const inside = start + 4 + word;
      const valueAt = isOutside ? this.#numberIn(bytes, inside, word) : at + inside;
      if (valueAt + valueSize > part.size) throw new UnstrippableError('a tag whose value is missing');
      return {tag, type, count: values, at: at + start, valueAt, valueSize, isOutside};
    });
    return {entries, size};
  }
}
