import Table from 'cli-table3';
import {omitUndefined, own} from '../../../lib/object.ts';
import {cellsOf, wrap} from '../cells.ts';
import {paint, type Style} from '../terminal.ts';

interface TableOptions {
  headings?: string[] | undefined;
  /** The available width in cells; infinite for no limit. */
  width: number;
  color: boolean;
  /** Whether only ASCII can be drawn with. */
  ascii?: boolean;
}

/** A space on each side of a cell. */
const padding = 2;
/** Between the columns of a table without borders. */
const gap = '  ';

/** Renders rows as a table with borders, or if it is wider than the terminal, as lines without borders. */
export function renderTable(rows: string[][], options: TableOptions): string {
  const {headings, width} = options;
  const widths = naturalWidths(headings === undefined ? rows : [headings, ...rows]);
  const total = widths.reduce((sum, cells) => sum + cells + padding + 1, 1);
  if (total <= width) return `${box(rows, widths, options)}\n`;
  const bold = headings?.map((): Style => 'bold') ?? [];
  const title = headings === undefined ? [] : plainRow(headings, bold, widths, options);
  const lines = rows.flatMap(row => plainRow(row, stylesOf(row, headings), widths, options));
  return [...title, ...lines].map(line => `${line}\n`).join('');
}

const statusStyles: Record<string, Style> = {
  uploaded: 'green',
  failed: 'red',
  unknown: 'magenta',
  mismatched: 'magenta',
};

/** The style of each cell: a status has a colour, unless it is neither a success nor a failure of this run. */
function stylesOf(row: string[], headings: string[] = []): (Style | undefined)[] {
  return row.map((cell, column) => (headings[column] === 'status' ? own(statusStyles, cell) : undefined));
}

/** The width of each column, in cells, that its longest line needs. */
function naturalWidths(rows: string[][]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, ...cell.split('\n').map(cellsOf));
  return widths;
}

/** The parts of a box in ASCII, by the names of the package. */
const asciiBox = {
  ...{top: '-', bottom: '-', mid: '-', left: '|', right: '|', middle: '|'},
  ...{'top-left': '+', 'top-mid': '+', 'top-right': '+', 'left-mid': '+', 'mid-mid': '+', 'right-mid': '+'},
  ...{'bottom-left': '+', 'bottom-mid': '+', 'bottom-right': '+'},
};

/** The table with borders, by the package; `widths`: of the columns, without padding. */
function box(rows: string[][], widths: number[], {headings, color, ascii}: TableOptions): string {
  const table = new Table({
    ...omitUndefined({head: headings, chars: ascii ? asciiBox : undefined}),
    colWidths: widths.map(width => width + padding),
    // A line below the headings, and none between rows.
    style: {compact: true, head: color ? ['bold'] : [], border: color ? ['gray'] : []},
  });
  for (const row of rows.flatMap(linesOf)) {
    const styles = stylesOf(row, headings);
    table.push(row.map((cell, column) => paint(styles[column], cell, color)));
  }
  return table.toString();
}

/** Splits a row into one row per line of its highest cell: the package takes hours for a cell of thousands of lines. */
function linesOf(row: string[]): string[][] {
  const cells = row.map(cell => cell.split('\n'));
  const height = Math.max(...cells.map(lines => lines.length));
  return Array.from({length: height}, (_, line) => cells.map(lines => lines[line] ?? ''));
}

/** The lines of a row on a narrow terminal: cells that do not fit go below, indented; URLs stay whole. */
function plainRow(
  row: string[],
  styles: (Style | undefined)[],
  widths: number[],
  {width, color}: TableOptions,
): string[] {
  /** The first `count` cells side by side; only without colour can their width be counted. */
  const inLine = (count: number, hasColor: boolean) =>
    row
      .slice(0, count)
      .map((cell, column) => {
        const spaces = column === count - 1 ? 0 : Math.max(0, (widths[column] ?? 0) - cellsOf(cell));
        return paint(styles[column], cell, hasColor) + ' '.repeat(spaces);
      })
      .join(gap)
      .trimEnd();
  const fits = (count: number) => {
    const line = inLine(count, false);
    return !line.includes('\n') && cellsOf(line) <= width;
  };
  const count = [row.length, row.length - 1].find(fits) ?? 1;
  const first = count === 1 ? wrap(row[0] ?? '', width) : [inLine(count, color)];
  const below = row.slice(count).flatMap((cell, index) => {
    const lines = cell === '' ? [] : wrap(cell, width - gap.length);
    return lines.map(line => gap + paint(styles[count + index], line, color));
  });
  return [...first, ...below];
}
