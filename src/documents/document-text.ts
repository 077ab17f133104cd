import {isUtf8} from 'node:buffer';
import {MediaError} from '../errors.ts';
import type {Reference} from './scan/reference.ts';

/** The text of a document, and an encoding that gives back every byte of it. */
interface DecodedDocument {
  text: string;
  encoding: 'utf8' | 'utf16le' | 'utf16be' | 'latin1';
}

/** Reads a document; throws for UTF-32 and for UTF-16 without a byte order mark. `name`: as messages show it. */
export function decodeDocument(bytes: Buffer, name: string): DecodedDocument {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark === '\xff\xfe\0\0' || mark === '\0\0\xfe\xff')
    throw notTextError(`${name} is in UTF-32, which is not supported.`);
  if (bytes.length % 2 === 0 && mark.startsWith('\xff\xfe'))
    return {text: bytes.toString('utf16le'), encoding: 'utf16le'};
  if (bytes.length % 2 === 0 && mark.startsWith('\xfe\xff'))
    return {text: Buffer.from(bytes).swap16().toString('utf16le'), encoding: 'utf16be'};
  if (bytes.includes(0))
    throw notTextError(`${name} contains zero bytes, as UTF-16 and UTF-32 without a byte order mark do.`);
  if (isUtf8(bytes)) return {text: bytes.toString(), encoding: 'utf8'};
  // Of an unknown encoding, each byte is taken for a character; most of them agree in ASCII.
  return {text: bytes.toString('latin1'), encoding: 'latin1'};
}

/** The error for a document in an encoding that is not supported. */
function notTextError(sentence: string): MediaError {
  return new MediaError('file_unreadable', sentence, {
    hint: 'Save it in UTF-8, or in UTF-16 with a byte order mark.',
  });
}

export function encodeDocument({text, encoding}: DecodedDocument): Buffer {
  return encoding === 'utf16be' ? Buffer.from(text, 'utf16le').swap16() : Buffer.from(text, encoding);
}

/** The text with each edit in place of what is between its `start` and its `end`; edits must not overlap. */
export function applyEdits(
  text: string,
  edits: readonly (Pick<Reference, 'start' | 'end'> & {text: string})[],
): string {
  const parts: string[] = [];
  let at = 0;
  for (const {start, end, text: replacement} of [...edits].sort((a, b) => a.start - b.start)) {
    if (start < at) throw new Error('edits overlap');
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  return [...parts, text.slice(at)].join('');
}

/** Returns a function from offset to line and column, each from 1; ask it for offsets in ascending order. */
export function placesIn(text: string): (offset: number) => {line: number; column: number} {
  const breaks = text.matchAll(/\r\n|\r|\n/g);
  let [line, start, end] = [0, 0, 0];
  return offset => {
    for (; end <= offset; line += 1) {
      start = end;
      const next = breaks.next().value;
      end = next === undefined ? Number.POSITIVE_INFINITY : next.index + next[0].length;
    }
    return {line, column: offset - start + 1};
  };
}
