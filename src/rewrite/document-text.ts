/** An encoding that gives back every byte of a document. */
export type DocumentEncoding = 'utf8' | 'utf16le' | 'latin1';

/** The text of a document, in an encoding that turns it back into exactly these bytes. */
export function decodeDocument(bytes: Buffer): {text: string; encoding: DocumentEncoding} {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe && bytes.length % 2 === 0;
  const encoding = isUtf16 ? 'utf16le' : 'utf8';
  const text = bytes.toString(encoding);
  if (Buffer.from(text, encoding).equals(bytes)) return {text, encoding};
  // Of an unknown encoding, each byte is taken for a character; most of them agree in ASCII.
  return {text: bytes.toString('latin1'), encoding: 'latin1'};
}

/** A replacement of a range of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text with these edits, which must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => b.start - a.start);
  let result = text;
  let limit = text.length;
  for (const {start, end, text: replacement} of ordered) {
    if (end > limit) throw new Error('edits overlap');
    result = `${result.slice(0, start)}${replacement}${result.slice(end)}`;
    limit = start;
  }
  return result;
}

/** Counts lines and columns from 1, as editors and CI systems do. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (const match of text.matchAll(/\r\n|\r|\n/g)) this.#starts.push(match.index + match[0].length);
  }

  at(offset: number): {line: number; column: number} {
    let low = 0;
    for (let high = this.#starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return {line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1};
  }
}
