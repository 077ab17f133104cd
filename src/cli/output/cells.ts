/** East Asian wide and fullwidth characters, and those that show as emoji: two cells each. */
const wide =
  /[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}\p{Extended_Pictographic}]/u;

/** Accents that are drawn on the character before them, on every terminal. */
const combining = /[\u0300-\u036f]/;

/**
 * The number of character cells of a line on a terminal; never too few. The package string-width counts joined emoji
 * and text-style symbols as terminals do that join them: on others the line would wrap, and could not be cleared.
 */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) {
    if (character >= ' ' && character <= '~') cells += 1;
    else if (!combining.test(character)) cells += wide.test(character) ? 2 : 1;
  }
  return cells;
}

/** Wraps a text to lines of at most `cells` cells, at spaces if possible, but never within a URL. */
export function wrap(text: string, cells: number): string[] {
  return text.split('\n').flatMap(line => wrapLine(line, cells));
}

/** One line in lines of at most `cells` cells; only a URL may be longer. */
function wrapLine(line: string, cells: number): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const word of line.split(' ')) {
    const longer = last === undefined ? word : `${last} ${word}`;
    if (cellsOf(longer) <= cells) {
      last = longer;
      continue;
    }
    if (last) lines.push(last);
    const pieces = /https?:\/\//.test(word) ? [word] : splitWord(word, cells);
    last = pieces.pop();
    lines.push(...pieces);
  }
  return [...lines, last ?? ''];
}

/** A word in pieces of at most `cells` cells, but of one character at least. */
function splitWord(word: string, cells: number): string[] {
  const characters = [...word];
  const pieces: string[] = [];
  while (characters.length > 0)
    pieces.push(characters.splice(0, Math.max(1, countFitting(characters, cells))).join(''));
  return pieces;
}

/** How many characters fit into the cells. */
function countFitting(characters: readonly string[], cells: number): number {
  let length = 0;
  for (const [at, character] of characters.entries()) {
    length += cellsOf(character);
    if (length > cells) return at;
  }
  return characters.length;
}

/** Shortens a text to at most `cells` cells at its end. */
export function cutEnd(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = [...text];
  return `${characters.slice(0, countFitting(characters, cells - 1)).join('')}…`;
}

/** Shortens a text to at most `cells` cells in its middle, since file names often differ at the end. */
export function cutMiddle(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells < 1) return '';
  const characters = [...text];
  const head = characters.slice(0, countFitting(characters, Math.ceil((cells - 1) / 2)));
  const backwards = characters.slice(head.length).reverse();
  const tail = backwards.slice(0, countFitting(backwards, cells - 1 - cellsOf(head.join(''))));
  return `${head.join('')}…${tail.reverse().join('')}`;
}
