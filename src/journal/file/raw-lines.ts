import type {MediaError} from '../../errors.ts';
import {journalFailed, unusable} from './errors.ts';
import type {ReadHandle} from './file.ts';

/** One line of a file, without its line break. */
export interface RawLine {
  bytes: Buffer;
  offset: number;
  /** From 1. */
  number: number;
  /** Whether its line break is there: the last line may have been cut off. */
  ended: boolean;
}

const blockBytes = 256 * 1024;
const longestLine = 8 * 1024 * 1024;

/** The lines of a file from a line on, in batches of one block each; at most a block and a line are held. */
export async function* rawLines(
  handle: ReadHandle,
  shown: string,
  from: {offset: number; number: number} = {offset: 0, number: 1},
): AsyncGenerator<RawLine[]> {
  let position = from.offset;
  let rest: Buffer = Buffer.alloc(0);
  let {number} = from;
  for (;;) {
    const block = await readBlock(handle, position, shown);
    const start = position - rest.length;
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
    const lines: RawLine[] = [];
    let begin = 0;
    for (let end = bytes.indexOf(10, rest.length); end !== -1; end = bytes.indexOf(10, begin)) {
      lines.push({bytes: bytes.subarray(begin, end), offset: start + begin, number, ended: true});
      begin = end + 1;
      number += 1;
    }
    rest = bytes.subarray(begin);
    position += block.length;
    if (block.length === 0 && rest.length > 0) lines.push({bytes: rest, offset: start, number, ended: false});
    if (lines.length > 0) yield lines;
    if (block.length === 0) return;
    if (rest.length > longestLine) throw damagedLine(shown, number, 'is longer than any journal line');
  }
}

async function readBlock(handle: ReadHandle, position: number, shown: string): Promise<Buffer> {
  const block = Buffer.allocUnsafeSlow(blockBytes);
  try {
    return block.subarray(0, (await handle.read(block, 0, blockBytes, position)).bytesRead);
  } catch (error) {
    throw journalFailed(shown, 'read', error);
  }
}

/** The error for a line that cannot be relied on; `what` goes on with the sentence that begins with the line. */
export function damagedLine(shown: string, number: number, what: string): MediaError {
  return unusable(
    `The journal ${shown} is damaged: line ${number} ${what}`,
    `Nothing was changed. Check line ${number}: fix it, or delete it if you know the result of that upload.`,
  );
}
