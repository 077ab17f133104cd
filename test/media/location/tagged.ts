import {readFile} from 'node:fs/promises';
import {
  applyPatches,
  type GeotagPlan,
  planGeotags,
  UnstrippableError,
} from '../../../src/media/location/location.ts';
import {fixture} from '../../support/media.ts';

/** What the door plans for bytes in memory. */
export function planFor(bytes: Buffer): Promise<GeotagPlan> {
  return planGeotags({
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
  });
}

/** The bytes with a plan's patches, which must be within them. */
export function patched(bytes: Buffer, plan: GeotagPlan): Buffer {
  if (plan.geotags === 'none') return bytes;
  for (const patch of plan.patches)
    if (patch.bytes.length === 0 || patch.offset + patch.bytes.length > bytes.length)
      throw new Error(`a patch at ${patch.offset} is not within the file`);
  return applyPatches(bytes, 0, plan.patches);
}

/** What is sent of bytes: the same without their location, or the place because of which they are refused. */
export async function stripped(bytes: Buffer): Promise<Buffer | string> {
  try {
    return patched(bytes, await planFor(bytes));
  } catch (error) {
    if (error instanceof UnstrippableError) return error.place;
    throw error;
  }
}

/** A JPEG picture with further segments at its start. */
export async function jpegWith(...segments: readonly (readonly [number: number, data: Buffer | string])[]) {
  const picture = await readFile(fixture('photo.jpg'));
  const written = segments.map(([number, data]) => {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
    const head = Buffer.from([0xff, 0xe0 + number, 0, 0]);
    head.writeUInt16BE(bytes.length + 2, 2);
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([picture.subarray(0, 2), ...written, picture.subarray(2)]);
}

/** A tag: its number, its type, and its values, or the bytes of its value. */
export type Tag = readonly [tag: number, type: number, values: readonly number[] | Buffer];

/** Directories of tags, the first of them at offset 8; -1 as a value is the offset of the second one. */
export function tiffOf(isLittle: boolean, directories: readonly (readonly Tag[])[]): Buffer {
  const sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
  const starts: number[] = [];
  let end = 8;
  for (const tags of directories) {
    starts.push(end);
    end += 6 + 12 * tags.length;
  }
  const longest = directories.flat().reduce((sum, [, , {length}]) => sum + 8 * length, 0);
  const bytes = Buffer.alloc(end + 4_096 + longest);
  const put = (value: number, at: number, size: number) =>
    isLittle ? bytes.writeUIntLE(value, at, size) : bytes.writeUIntBE(value, at, size);
  bytes.write(isLittle ? 'II' : 'MM', 'latin1');
  put(42, 2, 2);
  put(8, 4, 4);
  for (const [index, tags] of directories.entries()) {
    const start = starts[index] as number;
    put(tags.length, start, 2);
    for (const [place, [tag, type, values]] of tags.entries()) {
      const at = start + 2 + 12 * place;
      const size = sizes[type] ?? 1;
      // A rational number is written as two.
      const width = type === 5 ? 4 : size;
      const length = Buffer.isBuffer(values) ? values.length : values.length * width;
      put(tag, at, 2);
      put(type, at + 2, 2);
      put(length / size, at + 4, 4);
      const valueAt = length > 4 ? end : at + 8;
      if (length > 4) {
        put(end, at + 8, 4);
        end += length + (length & 1);
      }
      if (Buffer.isBuffer(values)) values.copy(bytes, valueAt);
      // A negative number is the offset of a directory.
      else
        for (const [one, value] of values.entries())
          put(value < 0 ? (starts[-value] ?? 0) : value, valueAt + one * width, width);
    }
  }
  return bytes.subarray(0, end);
}

/** The tags of a position. */
export const position: readonly Tag[] = [
  [0, 1, [2, 3, 0, 0]],
  [1, 2, Buffer.from('N\0')],
  [3, 5, [52, 1, 31, 1, 12, 1]],
  [4, 2, Buffer.from('SECRET-PLACE\0')],
];
