/** Which characters of a text stand between quotes. */
export function quotedIn(text: string): Uint8Array {
  const isQuoted = new Uint8Array(text.length);
  for (const {0: part, index} of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs))
    isQuoted.fill(1, index, index + part.length);
  return isQuoted;
}

/** Replaces each range of a text, from a start to an end, by a placeholder; ranges that touch get one. */
export function replaceRanges(text: string, ranges: [number, number][], placeholder: string): string {
  let result = '';
  let at = 0;
  for (const [start, end] of ranges.sort(([one], [other]) => one - other)) {
    if (end <= at) continue;
    if (start > at || at === 0) result += `${text.slice(at, start)}${placeholder}`;
    at = end;
  }
  return result + text.slice(at);
}
