import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {takeMemory} from '../../../src/lib/memory.ts';
import {Part} from '../../../src/media/location/part.ts';

/** A file that is read into the memory of its reader; `used` has the memory of each read. */
function largeFile() {
  const bytes = randomBytes(300_000);
  const used: ArrayBufferLike[] = [];
  const read = async (position: number, length: number, into?: Uint8Array) => {
    const piece = bytes.subarray(position, position + length);
    if (into === undefined || into.length < piece.length) return Buffer.from(piece);
    used.push(into.buffer);
    into.set(piece);
    return into.subarray(0, piece.length);
  };
  return {bytes, used, read, part: Part.ofFile({size: bytes.length, read}, bytes.subarray(0, 100))};
}

test('a step that reads into the memory of an earlier one takes nothing there for what was read before', async () => {
  const {bytes, part} = largeFile();
  const memory = Buffer.alloc(65_536);
  // One block; then the beginning of the same one and, in one step with it, the end of the file.
  for (const extents of [
    [[1_000, 65_536]],
    [
      [1_000, 100],
      [240_000, 60_000],
    ],
    [[1_000, 200]],
  ]) {
    const pieces = await part.step(
      () => extents.map(([at = 0, length = 0]) => part.read(at, length)),
      memory,
    );
    const expected = extents.map(([at = 0, length = 0]) => bytes.toString('hex', at, at + length));
    expect(pieces.map(piece => piece.toString('hex'))).toEqual(expected);
  }
});

test('blocks are read into memory that the next file gets, and nothing is read from there then', async () => {
  const {bytes, used, part} = largeFile();
  const found: string[] = [];
  for await (const {at, block} of part.blocks(70_001, 1)) found.push(`${at} ${block.toString('hex')}`);
  const starts = [0, 70_000, 140_000, 210_000, 280_000];
  expect(found).toEqual(starts.map(at => `${at} ${bytes.toString('hex', at, at + 70_001)}`));
  part.release();
  const memory = takeMemory(70_001);
  expect(used.map(buffer => buffer === memory.buffer)).toEqual(starts.map(() => true));
  memory.fill(0);
  const end = await part.step(() => part.readUpTo(10, 299_990));
  expect(end.equals(bytes.subarray(299_990))).toBe(true);
});

test('memory into which a stopped read may still write is given to no other file', async () => {
  const {used, read, bytes} = largeFile();
  const stopped = new Error('stopped');
  const readOnce = async (...parameters: Parameters<typeof read>) => {
    const piece = await read(...parameters);
    if (used.length > 1) throw stopped;
    return piece;
  };
  const part = Part.ofFile({size: bytes.length, read: readOnce}, bytes.subarray(0, 100));
  const search = async () => {
    for await (const _ of part.blocks(80_001, 1));
  };
  await expect(search()).rejects.toBe(stopped);
  expect(used).not.toContain(takeMemory(80_001).buffer);
});
