import type {Part} from './part.ts';
import {UnstrippableError} from './unstrippable.ts';

/** How the numbers of a TIFF structure are stored: BigTIFF has offsets of 8 bytes. */
export interface Layout {
  readonly isLittle: boolean;
  readonly isBig: boolean;
}

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

export interface Ifd {
  readonly entries: readonly IfdEntry[];
  /** The bytes of the directory, without the offset of the next one. */
  readonly size: number;
}

/** Real directories have less than a hundred entries. */
const mostEntries = 1_000;

/** The bytes of a value by its type (TIFF 6.0, 2; BigTIFF has 16 to 18). */
const typeSizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/** An unsigned number of 2, 4 or 8 bytes. */
export function numberAt(bytes: Buffer, at: number, size: number, isLittle: boolean): number {
  if (size === 2) return isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
  if (size === 4) return isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
  const number = Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  if (!Number.isSafeInteger(number)) throw new UnstrippableError('a file whose lengths are wrong');
  return number;
}

/** Reads a directory; offsets are relative to the part. */
export async function readIfd(part: Part, at: number, {isLittle, isBig}: Layout): Promise<Ifd> {
  const word = isBig ? 8 : 4;
  const countSize = isBig ? 8 : 2;
  const count = numberAt(await part.read(at, countSize), 0, countSize, isLittle);
  if (count > mostEntries) throw new UnstrippableError('a directory of very many tags');
  const entrySize = 4 + 2 * word;
  const table = await part.read(at + countSize, count * entrySize);
  const entries = Array.from({length: count}, (_, index): IfdEntry => {
    const start = index * entrySize;
    const type = numberAt(table, start + 2, 2, isLittle);
    const values = numberAt(table, start + 4, word, isLittle);
    const valueSize = values * (typeSizes[type] ?? 0);
    if ((typeSizes[type] ?? 0) === 0) throw new UnstrippableError('a tag of an unknown type');
    const entryAt = at + countSize + start;
    const isOutside = valueSize > word;
    const valueAt = isOutside ? numberAt(table, start + 4 + word, word, isLittle) : entryAt + 4 + word;
    if (valueAt + valueSize > part.size) throw new UnstrippableError('a tag whose value is missing');
    const tag = numberAt(table, start, 2, isLittle);
    return {tag, type, count: values, at: entryAt, valueAt, valueSize, isOutside};
  });
  return {entries, size: countSize + table.length};
}

/** The values of an entry of whole numbers, such as offsets. */
export async function numbersOf(part: Part, entry: IfdEntry, isLittle: boolean): Promise<number[]> {
  const size = typeSizes[entry.type] ?? 0;
  if (![3, 4, 13, 16, 18].includes(entry.type)) throw new UnstrippableError('an offset of an unknown type');
  const bytes = await part.read(entry.valueAt, entry.valueSize);
  return Array.from({length: entry.count}, (_, index) => numberAt(bytes, index * size, size, isLittle));
}
