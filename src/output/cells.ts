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

/** The text on lines of at most `cells` cells, broken at spaces where there are any; line breaks in it stay. */
export function wrap(text: string, cells: number): string[] {
  return text.split('\n').flatMap(line => wrapLine(line, cells));
}

function wrapLine(line: string, cells: number): string[] {
  const lines: string[] = [];
  const characters = [...line];
  let start = 0;
  for (;;) {
    const fitting = countFitting(characters, cells, start);
    const rest = characters.length - start;
    if (fitting >= rest || rest < 2) break;
    const end = start + Math.max(1, fitting);
    // A space may be the first character that no longer fits: it ends the line, and belongs to neither.
    let space = end;
    while (space > start && characters[space] !== ' ') space -= 1;
    lines.push(characters.slice(start, space > start ? space : end).join(''));
    start = space > start ? space + 1 : end;
  }
  return [...lines, characters.slice(start).join('')];
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
