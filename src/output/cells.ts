/** East Asian wide and fullwidth characters, and those that show as emoji: two cells each. */
const wide =
  /[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}\p{Extended_Pictographic}]/u;

/** Accents that are drawn on the character before them, on every terminal. */
const combining = /[\u0300-\u036f]/;

/** How many character cells a line takes on a terminal; never less than it takes. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOfCharacter(character);
  return cells;
}

function cellsOfCharacter(character: string): number {
  if (character >= ' ' && character <= '~') return 1;
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

const url = /https?:\/\/\S+/g;

/** The web addresses in a text, as they stand there. */
export function urlsIn(text: string): string[] {
  return text.match(url) ?? [];
}

/**
 * The text on lines of at most `cells` cells, broken at spaces where there are any; line breaks in it stay. A web address
 * is never broken: a line of its own is as long as it takes.
 */
export function wrap(text: string, cells: number): string[] {
  return text.split('\n').flatMap(line => wrapLine(line, cells));
}

function wrapLine(line: string, cells: number): string[] {
  const lines: string[] = [];
  const characters = [...line];
  const urls = rangesOfUrls(line);
  let start = 0;
  for (;;) {
    const fitting = countFitting(characters, cells, start);
    const rest = characters.length - start;
    if (fitting >= rest || rest < 2) break;
    const end = endOfLine(characters, start, start + Math.max(1, fitting), urls);
    if (end >= characters.length) break;
    lines.push(characters.slice(start, end).join(''));
    // A space that ends a line belongs to neither.
    start = characters[end] === ' ' ? end + 1 : end;
  }
  return [...lines, characters.slice(start).join('')];
}

/** Where a line ends that holds the characters up to `most`: before its last space, or beside a URL, never within one. */
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

/** From which character to before which one each URL of a line is. */
function rangesOfUrls(line: string): [number, number][] {
  return [...line.matchAll(url)].map(({0: found, index}) => {
    const from = [...line.slice(0, index)].length;
    return [from, from + [...found].length];
  });
}

/** How many characters from `start` on fit into the cells; none is torn from the accents that follow it. */
function countFitting(characters: readonly string[], cells: number, start = 0): number {
  let taken = 0;
  for (let at = start; at < characters.length; at += 1) {
    taken += cellsOfCharacter(characters[at] as string);
    if (taken > cells) return at - start;
  }
  return characters.length - start;
}

/** The text in at most `cells` cells, its end left out. */
export function cutEnd(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = [...text];
  return `${characters.slice(0, countFitting(characters, cells - 1)).join('')}…`;
}

/** The text in at most `cells` cells, its middle left out: the ends of names tell files apart. */
export function cutMiddle(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = [...text];
  const head = characters.slice(0, countFitting(characters, Math.ceil((cells - 1) / 2)));
  const backwards = characters.slice(head.length).reverse();
  const tail = backwards.slice(0, countFitting(backwards, cells - 1 - cellsOf(head.join(''))));
  return `${head.join('')}…${tail.reverse().join('')}`;
}
