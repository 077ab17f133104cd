import type {MediaError} from '../errors.ts';
import {journalFailed, unusable} from './errors.ts';
import type {ReadHandle} from './file.ts';
import {JournalIndex} from './index.ts';
import {headerStart, type Scope} from './lines.ts';
import {type ParsedLine, parseLine} from './parse.ts';
import {joinedScope, scopeOf} from './scope.ts';

/** One line of a file, without its line break. */
export interface RawLine {
  bytes: Buffer;
  offset: number;
  /** From 1. */
  number: number;
  /** Whether its line break is there: the last line may have been cut off. */
  ended: boolean;
}

export interface Recovery {
  index: JournalIndex;
  /** What its headers say; undefined while it has none. */
  scope: Scope | undefined;
  /** How many bytes of the file are sound lines. */
  soundLength: number;
  /** What is still to be written before the next line can be. */
  needs: 'header' | 'line-break' | 'nothing';
  /** Whether a line that was cut off follows the sound ones. */
  torn: boolean;
}

const blockBytes = 256 * 1024;
const longestLine = 8 * 1024 * 1024;

/** The lines of a file, in batches of one block each; at most a block and a line are held. */
export async function* rawLines(handle: ReadHandle, shown: string): AsyncGenerator<RawLine[]> {
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  let number = 1;
  for (;;) {
    const block = await readBlock(handle, position, shown);
    const start = position - rest.length;
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
    const lines: RawLine[] = [];
    let from = 0;
    for (let to = bytes.indexOf(10, rest.length); to !== -1; to = bytes.indexOf(10, from)) {
      lines.push({bytes: bytes.subarray(from, to), offset: start + from, number, ended: true});
      from = to + 1;
      number += 1;
    }
    rest = bytes.subarray(from);
    position += block.length;
    if (block.length === 0 && rest.length > 0) lines.push({bytes: rest, offset: start, number, ended: false});
    if (lines.length > 0) yield lines;
    if (block.length === 0) return;
    if (rest.length > longestLine) throw damagedLine(shown, number, 'is longer than any line of a journal');
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

/**
 * Reads a journal through. A last line that was cut off is left out; a file that is no journal, one of an unknown
 * version and damage anywhere else reject, and nothing is ever written. `paths`: whether it is to be known by paths.
 */
export async function recover(
  handle: ReadHandle,
  shown: string,
  options: {paths?: boolean | undefined} = {},
): Promise<Recovery> {
  const recovery: Recovery = {
    index: new JournalIndex(options),
    scope: undefined,
    soundLength: 0,
    needs: 'header',
    torn: false,
  };
  for await (const lines of rawLines(handle, shown)) {
    for (const line of lines) take(line, recovery, shown);
  }
  return recovery;
}

function take(line: RawLine, recovery: Recovery, shown: string): void {
  const parsed = parseBytes(line.bytes);
  if (line.number === 1) {
    if (!line.ended && parsed === undefined && mayBeginHeader(line.bytes.toString('latin1'))) {
      recovery.torn = true;
      return;
    }
    recovery.scope = scopeOf(parsed, shown);
  } else if (parsed === undefined || !fits(parsed, line, recovery, shown)) {
    if (line.ended)
      throw damagedLine(
        shown,
        line.number,
        parsed === undefined
          ? 'is not a line of a journal'
          : 'belongs to an upload that no earlier line began',
      );
    recovery.torn = true;
    return;
  }
  recovery.soundLength = line.offset + line.bytes.length + (line.ended ? 1 : 0);
  recovery.needs = line.ended ? 'nothing' : 'line-break';
}

/** Journals that were joined end to end have headers in the middle. */
function fits(parsed: ParsedLine, line: RawLine, recovery: Recovery, shown: string): boolean {
  if (parsed.event !== 'header') return recovery.index.apply(parsed, line.offset, line.bytes.length);
  recovery.scope = joinedScope(recovery.scope, scopeOf(parsed, shown), shown);
  return true;
}

const utf8 = new TextDecoder('utf-8', {fatal: true});

function parseBytes(bytes: Uint8Array): ParsedLine | undefined {
  try {
    return parseLine(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether a text is what a header that was cut off looks like. */
function mayBeginHeader(text: string): boolean {
  return text.startsWith(headerStart) || headerStart.startsWith(text);
}

/** The error for a line that cannot be relied on; `what` goes on with the sentence that begins with the line. */
export function damagedLine(shown: string, number: number, what: string): MediaError {
  return unusable(
    `The journal ${shown} is damaged: line ${number} ${what}`,
    `Nothing was changed. Look at line ${number}: fix it, or delete it if you know the result of that upload.`,
  );
}
