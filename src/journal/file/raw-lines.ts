import type {MediaError} from '../../errors.ts';
import {journalFailed, unusable} from './errors.ts';
import type {ReadHandle} from './file.ts';

/** One line of a file, without its line break. */
export interface RawLine {
  bytes: Buffer;
  offset: number;
  /** Starting at 1. */
  number: number;
  /** Whether its line break is present: the last line may have been cut off. */
  ended: boolean;
}

/** Consecutive lines of a file, all with their line breaks, or a part of the last line. */
export interface Piece {
  bytes: Buffer;
  offset: number;
  ended: boolean;
}

/** Most journals are small; for a large one, larger blocks take fewer reads. */
const firstBytes = 64 * 1024;
const blockBytes = 1024 * 1024;
const longestLine = 8 * 1024 * 1024;
/** Each block has room in front for the beginning of its first line. */
const roomBytes = 16 * 1024;

/** The lines of a file from an offset on, one block at a time; the bytes of a block stay unchanged until the next one. */
export async function* pieces(handle: ReadHandle, shown: string, from: number): AsyncGenerator<Piece> {
  let [block, other] = [newBlock(firstBytes), newBlock(firstBytes)];
  let position = from;
  let rest: Buffer = Buffer.alloc(0);
  let reading = readBlock(block, handle, position, shown);
  try {
    for (;;) {
      const length = await reading;
      const offset = position - rest.length;
      if (length === 0 || rest.length > longestLine) {
        if (rest.length > 0) yield {bytes: rest, offset, ended: false};
        return;
      }
      position += length;
      const bytes = behind(rest, block, length);
      if (length >= firstBytes && other.length < blockBytes) other = newBlock(blockBytes);
      // The next block is read while this one is processed.
      reading = readBlock(other, handle, position, shown);
      // If it fails meanwhile, the next turn throws that.
      reading.catch(() => {});
      [block, other] = [other, block];
      const whole = bytes.lastIndexOf(10) + 1;
      if (whole > 0) yield {bytes: bytes.subarray(0, whole), offset, ended: true};
      rest = bytes.subarray(whole);
    }
  } finally {
    await reading.catch(() => {});
  }
}

function newBlock(length: number): Buffer {
  return Buffer.allocUnsafeSlow(roomBytes + length);
}

/** The content of a block, preceded by the beginning of its first line. */
function behind(rest: Buffer, block: Buffer, length: number): Buffer {
  const end = roomBytes + length;
  if (rest.length > roomBytes) return Buffer.concat([rest, block.subarray(roomBytes, end)]);
  rest.copy(block, roomBytes - rest.length);
  return block.subarray(roomBytes - rest.length, end);
}

async function readBlock(
  block: Buffer,
  handle: ReadHandle,
  position: number,
  shown: string,
): Promise<number> {
  try {
    return (await handle.read(block, roomBytes, block.length - roomBytes, position)).bytesRead;
  } catch (error) {
    throw journalFailed(shown, 'read', error);
  }
}

/** The lines of a file from its beginning, in batches. */
export async function* rawLines(handle: ReadHandle, shown: string): AsyncGenerator<RawLine[]> {
  let number = 1;
  for await (const piece of pieces(handle, shown, 0)) {
    const lines: RawLine[] = [];
    for (let begin = 0; begin < piece.bytes.length; number += 1) {
      const line = lineAt(piece, begin, number, shown);
      lines.push(line);
      begin += line.bytes.length + 1;
    }
    yield lines;
  }
}

/** The line of a piece that begins at `begin`, with this number. */
export function lineAt({bytes, offset, ended}: Piece, begin: number, number: number, shown: string): RawLine {
  if (!ended && bytes.length > longestLine)
    throw damagedLine(shown, number, 'is longer than any journal line');
  const end = ended ? bytes.indexOf(10, begin) : bytes.length;
  return {bytes: bytes.subarray(begin, end), offset: offset + begin, number, ended};
}

/** The error for an unusable line; `what` completes the sentence "Line N ...". */
export function damagedLine(shown: string, number: number, what: string): MediaError {
  return unusable(
    `The journal ${shown} is damaged: line ${number} ${what}`,
    `Nothing was changed. Check line ${number}: fix it, or delete it if you know the result of that upload.`,
  );
}
