/** East Asian wide and fullwidth characters, and those that show as emoji: two cells each. */
const wide =
  /[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}\p{Extended_Pictographic}]/u;

/** Accents that are drawn on the character before them, on every terminal. */
const combining = /[\u0300-\u036f]/;

/**
 * The number of character cells of a line on a terminal; never too few. The package string-width counts joined emoji and
 * text-style symbols as terminals do that join them: on others the line would wrap, and could not be cleared.
 */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOfCharacter(character);
  return cells;
}

let segmenter: Intl.Segmenter | undefined;

/** The characters as readers see them, such as several emoji joined to one; those wider than `cells` are split. */
function charactersOf(text: string, cells: number): string[] {
  if (/^[ -~]*$/.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter();
  return [...segmenter.segment(text)].flatMap(({segment}) =>
    cellsOf(segment) > cells ? [...segment] : [segment],
  );
}

function cellsOfCharacter(character: string): number {
  if (character >= ' ' && character <= '~') return 1;
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

const url = /https?:\/\/\S+/g;

/** The web URLs in a text. */
export function urlsIn(text: string): string[] {
  return text.match(url) ?? [];
}

/**
 * Wraps a text to lines of at most `cells` cells, at spaces if possible; its own line breaks stay. A URL is never broken:
 * its line is as long as necessary.
 */
export function wrap(text: string, cells: number): string[] {
  return text.split('\n').flatMap(line => wrapLine(line, cells));
}

function wrapLine(line: string, cells: number): string[] {
  const lines: string[] = [];
  const characters = charactersOf(line, cells);
  const urls = rangesOfUrls(line, cells);
  let start = 0;
  for (;;) {
    const fitting = countFitting(characters, cells, start);
    const rest = characters.length - start;
    if (fitting >= rest || rest < 2) break;
    const end = endOfLine(characters, start, start + Math.max(1, fitting), urls);
    if (end >= characters.length) break;
    lines.push(characters.slice(start, end).join(''));
    // A space at the end of a line is dropped.
    start = characters[end] === ' ' ? end + 1 : end;
  }
  return [...lines, characters.slice(start).join('')];
}

/** Where to break a line of at most `most` characters: at its last space, or next to a URL, never within one. */
function endOfLine(
  characters: readonly string[],
  start: number,
  most: number,
  urls: readonly [number, number][],
): number {
  let space = most;
  while (space > start && characters[space] !== ' ') space -= 1;
  const end = space > start ? space : most;
  const [from = 0, to = 0] = urls.find(([from, to]) => from < end && end < to) ?? [];
  if (to === 0) return end;
  if (from <= start) return to;
  return characters[from - 1] === ' ' && from - 1 > start ? from - 1 : from;
}

/** The start (inclusive) and end (exclusive) of each URL in a line, in characters. */
function rangesOfUrls(line: string, cells: number): [number, number][] {
  return [...line.matchAll(url)].map(({0: found, index}) => {
    const from = charactersOf(line.slice(0, index), cells).length;
    return [from, from + charactersOf(found, cells).length];
  });
}

/** How many characters from `start` fit into the cells. */
function countFitting(characters: readonly string[], cells: number, start = 0): number {
  let taken = 0;
  for (let at = start; at < characters.length; at += 1) {
    taken += cellsOf(characters[at] as string);
    if (taken > cells) return at - start;
  }
  return characters.length - start;
}

/** Shortens a text to at most `cells` cells at its end. */
export function cutEnd(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = charactersOf(text, cells);
  return `${characters.slice(0, countFitting(characters, cells - 1)).join('')}…`;
}

/** Shortens a text to at most `cells` cells in its middle, since file names often differ at the end. */
export function cutMiddle(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = charactersOf(text, cells);
  const head = characters.slice(0, countFitting(characters, Math.ceil((cells - 1) / 2)));
  const backwards = characters.slice(head.length).reverse();
  const tail = backwards.slice(0, countFitting(backwards, cells - 1 - cellsOf(head.join(''))));
  return `${head.join('')}…${tail.reverse().join('')}`;
}
