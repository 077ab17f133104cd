import Table from 'cli-table3';
import {defined} from '../../lib/defined.ts';
import {cellsOf, urlsIn, wrap} from '../cells.ts';
import {paint, type Style} from '../terminal.ts';
import {hyperlink, linkLines} from './links.ts';

export interface TableOptions {
  headings?: string[] | undefined;
  /** The style of a cell by its text, for columns of these headings. */
  styles?: Record<string, (text: string) => Style | undefined>;
  /** Cells to fit into; infinite for as wide as the content. */
  width: number;
  color: boolean;
  /** Whether web addresses are links. */
  links?: boolean;
}

const narrowestColumn = 6;
const narrowestFirstColumn = 12;
/** A space on both sides of a column's content. */
const padding = 2;
/** Those spaces and one border. */
const frame = padding + 1;
const indent = '  ';

/**
 * Rows as a table with borders. Where the terminal is too narrow for that, a table with headings shows each row's last
 * cell on a line of its own, then everything as plain lines; a table without headings wraps its cells. A URL is never
 * broken: one that fits into no cell stands below its row, where the terminal may wrap it.
 */
export function renderTable(rows: string[][], options: TableOptions): string {
  const {headings, width} = options;
  const widths = naturalWidths(headings === undefined ? rows : [headings, ...rows]);
  if (totalOf(widths) <= width) return textOf(draw(rows, headings, widths, options));
  if (headings === undefined) return renderNarrow(rows, widths[0] ?? 0, options);
  const folded = shrinkFirst(widths.slice(0, -1), width);
  return folded === undefined ? plainLines(rows, options) : drawFolded(rows, headings, folded, options);
}

/** Names and values of which some are too wide: wrapped, but for a URL that would be broken by that. */
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

/** Each row's last cell below it: in the box where all of them fit, else without borders. */
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

/** A row as two: its cells but the last, and the last one across all columns. */
function foldLast(row: string[]): Row[] {
  const last = row.at(-1);
  const first = row.slice(0, -1);
  return last === undefined || last === '' ? [first] : [first, [{content: last, colSpan: first.length}]];
}

/** A table with a text without borders below each row that has one. */
function drawWithBelow(
  rows: string[][],
  belows: readonly string[],
  headings: string[] | undefined,
  widths: number[],
  options: TableOptions,
): string {
  let bottom = '';
  const lines = rows.flatMap((row, index) => {
    // Each row is drawn as a table of its own, of which the borders between rows are left out.
    const drawn = draw([row], index === 0 ? headings : undefined, widths, options, headings);
    bottom = drawn.pop() ?? '';
    return [...drawn.slice(index === 0 ? 0 : 1), ...below(belows[index] ?? '', index, options)];
  });
  return textOf([...lines, bottom]);
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/** What did not fit into the box; a URL whole, for the terminal to wrap. */
function below(text: string, index: number, {width, links}: TableOptions): string[] {
  if (text === '') return [];
  const wrapped = wrap(text, width - indent.length);
  return (links ? linkLines(text, wrapped, linkNumbered(index)) : wrapped).map(line => indent + line);
}

function linkNumbered(number: number): (part: string, href: string, start: number) => string {
  return (part, href, start) => hyperlink(part, href, `media-${number}-${start}`);
}

function draw(
  rows: Row[],
  headings: string[] | undefined,
  widths: number[],
  {color, links, styles}: TableOptions,
  allHeadings = headings,
): string[] {
  const marks = new LinkMarks();
  const lines = (text: string, width: number, column: number) => {
    const wrapped = wrap(text, width);
    const style = styles?.[allHeadings?.[column] ?? '']?.(text);
    if (style !== undefined) return wrapped.map(line => paint(style, line, color));
    return links ? marks.mark(text, wrapped) : wrapped;
  };
  const table = new Table({
    ...defined({head: headings}),
    colWidths: widths.map(width => width + padding),
    // No line between rows, one beneath the headings.
    style: {compact: true, head: color ? ['bold'] : [], border: color ? ['gray'] : []},
  });
  table.push(...rows.flatMap(row => linesOf(row, widths, lines)));
  return marks.resolve(table.toString()).split('\n');
}

/**
 * Links in a table: cli-table3 does not see that a target takes no room when it has certain characters in it, so it
 * gets numbers for targets.
 */
class LinkMarks {
  readonly #targets: string[] = [];

  mark(text: string, lines: string[]): string[] {
    const numbers = new Map<number, number>();
    return linkLines(text, lines, (part, href, start) => {
      const number = numbers.get(start) ?? this.#targets.push(href) - 1;
      numbers.set(start, number);
      return `\u001b]8;;${number}\u0007${part}\u001b]8;;\u0007`;
    });
  }

  resolve(table: string): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences are made of them
    return table.replace(/\u001b\]8;;(\d+)\u0007(.*?)\u001b\]8;;\u0007/g, (_, number, part) =>
      hyperlink(part, this.#targets[Number(number)] ?? '', `media-${number}`),
    );
  }
}

/** A row as one row for each line of its highest cell: the package takes hours over a cell of thousands of lines. */
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

/** A field a line, named by its heading; rows with headings are set apart by an empty line. */
function plainLines(rows: string[][], {headings, styles, color, width, links}: TableOptions): string {
  let count = 0;
  const lines = (text: string) => {
    const wrapped = wrap(text, width);
    if (!links) return wrapped;
    count += 1;
    return linkLines(text, wrapped, linkNumbered(count));
  };
  const fields = (row: string[]): [string, string][] =>
    headings === undefined
      ? [[row[0] ?? '', row[1] ?? '']]
      : row.map((cell, index) => [headings[index] ?? '', cell]);
  const blocks = rows.map(row =>
    fields(row)
      .filter(([, value]) => value !== '')
      .flatMap(([name, value]) => {
        const style = styles?.[name]?.(value);
        return style === undefined ? lines(`${name}: ${value}`) : `${name}: ${paint(style, value, color)}`;
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

/** Takes cells from the widest columns until all fit, or undefined when they cannot without breaking a URL. */
function shrinkWidest(natural: number[], rows: string[][], available: number): number[] | undefined {
  // The names of a record's fields stay whole where they leave room for the rest.
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

/** Takes from the first column, a name, what the others need, or undefined when too little of it would be left. */
function shrinkFirst(natural: number[], available: number): number[] | undefined {
  const [first = 0, ...others] = natural;
  const left = first - Math.max(0, totalOf(natural) - available);
  return left < Math.min(first, narrowestFirstColumn) ? undefined : [left, ...others];
}
