import type {Part} from './part.ts';
import {UnstrippableError} from './unstrippable.ts';

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

/** The bytes of a value by its type (TIFF 6.0, 2). */
const typeSizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];

/** A TIFF structure: its offsets are relative to the part. */
export class Tiff {
  readonly part: Part;
  readonly isLittle: boolean;

  constructor(part: Part, isLittle: boolean) {
    this.part = part;
    this.isLittle = isLittle;
  }

  /** An unsigned number of 2 or 4 bytes. */
  number(at: number, size: number): number {
    return this.#numberIn(this.part.read(at, size), 0, size);
  }

  #numberIn(bytes: Buffer, at: number, size: number): number {
    return this.isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
  }

  /** The values of an entry of whole numbers, such as offsets. */
  numbers({type, count, valueAt, valueSize}: IfdEntry): number[] {
    if (![3, 4, 13].includes(type)) throw new UnstrippableError('an offset of an unknown type');
    const size = typeSizes[type] ?? 0;
    const bytes = this.part.read(valueAt, valueSize);
    return Array.from({length: count}, (_, index) => this.#numberIn(bytes, index * size, size));
  }

  /** The entries of a directory, and its size in bytes without the offset of the next directory. */
  directory(at: number): {entries: IfdEntry[]; size: number} {
    const {part} = this;
    const count = this.number(at, 2);
    // Real directories have less than a hundred.
    if (count > 1_000) throw new UnstrippableError('a directory of very many tags');
    const size = 2 + 12 * count;
    const bytes = part.read(at, size);
    const entries = Array.from({length: count}, (_, index): IfdEntry => {
      const start = 2 + 12 * index;
      const tag = this.#numberIn(bytes, start, 2);
      const type = this.#numberIn(bytes, start + 2, 2);
      const values = this.#numberIn(bytes, start + 4, 4);
      const valueSize = values * (typeSizes[type] ?? 0);
      if ((typeSizes[type] ?? 0) === 0) throw new UnstrippableError('a tag of an unknown type');
      const isOutside = valueSize > 4;
      const valueAt = isOutside ? this.#numberIn(bytes, start + 8, 4) : at + start + 8;
      if (valueAt + valueSize > part.size) throw new UnstrippableError('a tag whose value is missing');
      return {tag, type, count: values, at: at + start, valueAt, valueSize, isOutside};
    });
    return {entries, size};
  }
}
