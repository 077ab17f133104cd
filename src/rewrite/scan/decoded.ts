/** A text with its escapes resolved, and where each of its UTF-16 units came from. */
export interface Decoded {
  text: string;
  /** For each unit, and for the end, the offset in the original text. */
  offsets: readonly number[] | undefined;
}

/** Resolves the escapes that a pattern finds; text without any keeps its offsets. */
export function decodeEscapes(raw: string, pattern: RegExp, resolve: (found: string) => string): Decoded {
  let text = '';
  const offsets: number[] = [];
  let end = 0;
  const add = (part: string, at: (index: number) => number) => {
    for (let index = 0; index < part.length; index += 1) offsets.push(at(index));
    text += part;
  };
  for (const match of raw.matchAll(pattern)) {
    const {index} = match;
    const from = end;
    add(raw.slice(from, index), each => from + each);
    add(resolve(match[0]), () => index);
    end = index + match[0].length;
  }
  if (end === 0) return {text: raw, offsets: undefined};
  const from = end;
  add(raw.slice(from), each => from + each);
  offsets.push(raw.length);
  return {text, offsets};
}

/** The offset in the original text of an offset in the decoded one. */
export function originalOffset({offsets}: Decoded, at: number): number {
  return offsets === undefined ? at : (offsets[at] ?? 0);
}
