// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const sequenceOrCharacter = /\u001b\[\??([\d;]*)([A-Za-z])|[^\u001b]/gsu;

/** The screen of a terminal, as far as `media` makes use of one: text, colours, and moving within what was written. */
export class TerminalScreen {
  /** Rows of cells `{character, style}`. */
  rows = [[]];
  #columns;
  #row = 0;
  #column = 0;
  #style = {};

  constructor(columns) {
    this.#columns = columns;
  }

  write(text) {
    for (const [part, parameters, final] of text.matchAll(sequenceOrCharacter)) {
      if (final === undefined) this.#put(part);
      else this.#control(final, parameters.split(';').map(Number));
    }
  }

  /** Makes it narrower: as most terminals do, it wraps what it shows. */
  narrow(columns) {
    const wrapped = this.rows.map(row =>
      Array.from({length: Math.max(1, Math.ceil(row.length / columns))}, (_, at) =>
        row.slice(at * columns, (at + 1) * columns),
      ),
    );
    const above = wrapped.slice(0, this.#row).flat().length;
    this.#row = above + Math.floor(Math.max(0, this.#column - 1) / columns);
    this.#column -= columns * Math.floor(Math.max(0, this.#column - 1) / columns);
    this.rows = wrapped.flat();
    this.#columns = columns;
  }

  #put(character) {
    if (character === '\n') this.#goTo(this.#row + 1, this.#column);
    else if (character === '\r') this.#column = 0;
    else {
      if (this.#column === this.#columns) this.#goTo(this.#row + 1, 0);
      const row = this.rows[this.#row];
      while (row.length < this.#column) row.push({character: ' ', style: {}});
      row[this.#column] = {character, style: this.#style};
      this.#column += 1;
    }
  }

  #control(final, [first = 0, ...others]) {
    const count = Math.max(first, 1);
    if (final === 'A') this.#goTo(this.#row - count, this.#column);
    else if (final === 'B') this.#goTo(this.#row + count, this.#column);
    else if (final === 'G') this.#column = count - 1;
    else if (final === 'K') this.rows[this.#row].length = first === 0 ? this.#column : 0;
    else if (final === 'm') for (const code of [first, ...others]) this.#style = styled(this.#style, code);
    else if (!'hl'.includes(final)) throw new Error(`The screen does not know CSI ${final}.`);
  }

  #goTo(row, column) {
    this.#row = Math.max(row, 0);
    this.#column = column;
    while (this.rows.length <= this.#row) this.rows.push([]);
  }
}

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function styled(style, code) {
  if (code === 0) return {};
  if (code === 1) return {...style, bold: true};
  if (code === 22) return {...style, bold: false};
  if (code === 39) return {...style, color: undefined};
  if (code === 90) return {...style, color: 'gray'};
  const color = colors[code - 30];
  if (color === undefined) throw new Error(`The screen does not know the style ${code}.`);
  return {...style, color};
}
