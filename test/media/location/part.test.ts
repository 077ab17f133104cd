import {randomBytes} from 'node:crypto';
import {expect, test} from 'vitest';
import {Part} from '../../../src/media/location/part.ts';

test('a step that reads into the memory of an earlier one takes nothing there for what was read before', async () => {
  const bytes = randomBytes(300_000);
  const read = async (position: number, length: number, into?: Uint8Array) => {
    const piece = bytes.subarray(position, position + length);
    if (into === undefined || into.length < piece.length) return Buffer.from(piece);
    into.set(piece);
    return into.subarray(0, piece.length);
  };
  const part = Part.ofFile({size: bytes.length, read}, bytes.subarray(0, 100));
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
