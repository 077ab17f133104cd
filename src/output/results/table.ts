import Table from 'cli-table3';
import {defined, own} from '../../lib/object.ts';
import {cellsOf, urlsIn, wrap} from '../cells.ts';
import {paint, type Style} from '../terminal.ts';

export interface TableOptions {
  headings?: string[] | undefined;
  /** The style of a cell depending on its text, by column heading. */
  styles?: Record<string, (text: string) => Style | undefined>;
  /** The available width in cells; infinite for no limit. */
  width: number;
  color: boolean;
}

const narrowestColumn = 6;
const narrowestFirstColumn = 12;
/** A space on each side of a cell. */
const padding = 2;
/** The padding and one border. */
const frame = padding + 1;
const indent = '  ';

/**
 * Renders rows as a table with borders. On a narrow terminal, a table with headings puts each row's last cell on its own
 * line, or prints plain lines; a table without headings wraps its cells. A URL is never broken: if it does not fit into
 * a cell, it is printed below its row, where the terminal may wrap it.
 */
export function renderTable(rows: string[][], options: TableOptions): string {
  const {headings, width} = options;
  const widths = naturalWidths(headings === undefined ? rows : [headings, ...rows]);
  if (totalOf(widths) <= width) return textOf(draw(rows, headings, widths, options));
  if (headings === undefined) return renderNarrow(rows, widths[0] ?? 0, options);
  const folded = shrinkFirst(widths.slice(0, -1), width);
  return folded === undefined ? plainLines(rows, options) : drawFolded(rows, headings, folded, options);
}

/** Renders names and values with wrapped cells, except for URLs that would be broken. */
function renderNarrow(rows: string[][], nameWidth: number, options: TableOptions): string {
  const {width} = options;
  const room = width - nameWidth - 2 * frame - 1;
  const isLong = (row: string[]) => longestUrl(row.at(-1)) > room;
  const boxed = rows.map(row => (isLong(row) ? [...row.slice(0, -1), ''] : row));
  const fitted = shrinkWidest(naturalWidths(boxed), boxed, width);
  if (fitted === undefined) return plainLines(rows, options);
  const belows = rows.map(row => (isLong(row) ? (row.at(-1) ?? '') : ''));
  return drawWithBelow(boxed, belows, undefined, fitted, options);
}

/** Renders each row's last cell below the row: inside the borders if all of them fit, otherwise outside. */
function drawFolded(rows: string[][], headings: string[], widths: number[], options: TableOptions): string {
  const inside = totalOf(widths) - frame - 1;
  const firsts = headings.slice(0, -1);
  if (rows.every(row => longestUrl(row.at(-1)) <= inside))
    return textOf(draw(rows.flatMap(foldLast), firsts, widths, options));
  const boxed = rows.map(row => row.slice(0, -1));
  const belows = rows.map(row => row.at(-1) ?? '');
  return drawWithBelow(boxed, belows, firsts, widths, options);
}

type Row = (string | {content: string; colSpan: number})[];

/** Splits a row into two: all cells but the last, and the last one across all columns. */
function foldLast(row: string[]): Row[] {
  const last = row.at(-1);
  const first = row.slice(0, -1);
  return last === undefined || last === '' ? [first] : [first, [{content: last, colSpan: first.length}]];
}

/** Renders a table with texts outside the borders below rows. */
function drawWithBelow(
  rows: string[][],
  belows: readonly string[],
  headings: string[] | undefined,
  widths: number[],
  options: TableOptions,
): string {
  let bottom = '';
  const lines = rows.flatMap((row, index) => {
    // Each row is drawn as its own table, without the borders between them.
    const drawn = draw([row], index === 0 ? headings : undefined, widths, options, headings);
    bottom = drawn.pop() ?? '';
    return [...drawn.slice(index === 0 ? 0 : 1), ...below(belows[index] ?? '', options)];
  });
  return textOf([...lines, bottom]);
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/** A text that does not fit inside the borders; URLs stay whole, for the terminal to wrap. */
function below(text: string, {width}: TableOptions): string[] {
  return text === '' ? [] : wrap(text, width - indent.length).map(line => indent + line);
}

function draw(
  rows: Row[],
  headings: string[] | undefined,
  widths: number[],
  {color, styles = {}}: TableOptions,
  allHeadings = headings,
): string[] {
  const lines = (text: string, width: number, column: number) => {
    const wrapped = wrap(text, width);
    const style = own(styles, allHeadings?.[column] ?? '')?.(text);
    return style === undefined ? wrapped : wrapped.map(line => paint(style, line, color));
  };
  const table = new Table({
    ...defined({head: headings}),
    colWidths: widths.map(width => width + padding),
    // A line below the headings, and none between rows.
    style: {compact: true, head: color ? ['bold'] : [], border: color ? ['gray'] : []},
  });
  table.push(...rows.flatMap(row => linesOf(row, widths, lines)));
  return table.toString().split('\n');
}

/** Splits a row into one row per line of its highest cell: the package takes hours for a cell of thousands of lines. */
function linesOf(
  row: Row,
  widths: number[],
  split: (text: string, cells: number, column: number) => string[],
): Row[] {
  const whole = totalOf(widths) - frame - 1;
  const cells = row.map((cell, index) =>
    typeof cell === 'string' ? split(cell, widths[index] ?? 0, index) : split(cell.content, whole, -1),
  );
  const height = Math.max(1, ...cells.map(lines => lines.length));
  return Array.from({length: height}, (_, line) =>
    row.map((cell, index) => {
      const content = cells[index]?.[line] ?? '';
      return typeof cell === 'string' ? content : {...cell, content};
    }),
  );
}

/** Renders one field per line, with its heading; rows with headings are separated by empty lines. */
function plainLines(rows: string[][], {headings, styles = {}, color, width}: TableOptions): string {
  const fields = (row: string[]): [string, string][] =>
    headings === undefined
      ? [[row[0] ?? '', row[1] ?? '']]
      : row.map((cell, index) => [headings[index] ?? '', cell]);
  const blocks = rows.map(row =>
    fields(row)
      .filter(([, value]) => value !== '')
      .flatMap(([name, value]) => {
        const style = own(styles, name)?.(value);
        return style === undefined
          ? wrap(`${name}: ${value}`, width)
          : `${name}: ${paint(style, value, color)}`;
      })
      .map(line => `${line}\n`)
      .join(''),
  );
  return blocks.join(headings === undefined ? '' : '\n');
}

function naturalWidths(rows: string[][]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, ...cell.split('\n').map(cellsOf));
    }
  }
  return widths;
}

function totalOf(widths: number[]): number {
  return widths.reduce((sum, width) => sum + width + frame, 1);
}

/** Shrinks the widest columns until the table fits; undefined if it cannot without breaking a URL. */
function shrinkWidest(natural: number[], rows: string[][], available: number): number[] | undefined {
  // The names of a record's fields are kept whole if they leave room for the values.
  const narrowest = (column: number) => (column === 0 ? Math.floor(available / 2) : narrowestColumn);
  const least = natural.map((width, column) =>
    Math.max(Math.min(width, narrowest(column)), ...rows.map(row => longestUrl(row[column]))),
  );
  if (natural.length * (narrowestColumn + frame) + 1 > available) return undefined;
  const widths = [...natural];
  for (let excess = totalOf(widths) - available; excess > 0; excess -= 1) {
    const spare = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if (!spare[widest]) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function longestUrl(cell = ''): number {
  return Math.max(0, ...urlsIn(cell).map(cellsOf));
}

/** Shrinks the first column, the name; undefined if too little of it would be left. */
function shrinkFirst(natural: number[], available: number): number[] | undefined {
  const [first = 0, ...others] = natural;
  const left = first - Math.max(0, totalOf(natural) - available);
  return left < Math.min(first, narrowestFirstColumn) ? undefined : [left, ...others];
}
