import Table from 'cli-table3';
import {cellsOf, wrap} from './cells.ts';

export interface TableOptions {
  headings?: string[];
  /** Cells to fit into; infinite for as wide as the content. */
  width: number;
  color: boolean;
}

const narrowestColumn = 6;
const narrowestFirstColumn = 12;
/** A space on both sides of a column's content. */
const padding = 2;
/** Those spaces and one border. */
const frame = padding + 1;

/**
 * Rows as a table with borders. Where the terminal is too narrow for that, a table with headings shows each row's last
 * cell on a line of its own, then everything as plain lines; a table without headings wraps its cells.
 */
export function renderTable(rows: string[][], options: TableOptions): string {
  const {headings, width} = options;
  const widths = naturalWidths(headings === undefined ? rows : [headings, ...rows]);
  if (totalOf(widths) <= width) return draw(rows, headings, widths, options);
  if (headings === undefined) {
    const fitted = shrinkWidest(widths, width);
    return fitted === undefined ? plainLines(rows, headings, width) : draw(rows, headings, fitted, options);
  }
  const folded = shrinkFirst(widths.slice(0, -1), width);
  return folded === undefined
    ? plainLines(rows, headings, width)
    : draw(rows.flatMap(foldLast), headings.slice(0, -1), folded, options);
}

type Row = (string | {content: string; colSpan: number})[];

/** A row as two: its cells but the last, and the last one across all columns. */
function foldLast(row: string[]): Row[] {
  const last = row.at(-1);
  const first = row.slice(0, -1);
  return last === undefined || last === '' ? [first] : [first, [{content: last, colSpan: first.length}]];
}

function draw(rows: Row[], headings: string[] | undefined, widths: number[], {color}: TableOptions): string {
  const table = new Table({
    ...(headings === undefined ? {} : {head: headings}),
    colWidths: widths.map(width => width + padding),
    // No line between rows, one beneath the headings.
    style: {compact: true, ...(color ? {head: ['bold'], border: ['gray']} : {head: [], border: []})},
  });
  const whole = totalOf(widths) - frame - 1;
  table.push(
    ...rows.map(row =>
      row.map((cell, index) =>
        typeof cell === 'string'
          ? wrap(cell, widths[index] ?? 0).join('\n')
          : {...cell, content: wrap(cell.content, whole).join('\n')},
      ),
    ),
  );
  return `${table.toString()}\n`;
}

/** A field a line, named by its heading; rows with headings are set apart by an empty line. */
function plainLines(rows: string[][], headings: string[] | undefined, width: number): string {
  const fields = (row: string[]): [string, string][] =>
    headings === undefined
      ? [[row[0] ?? '', row[1] ?? '']]
      : row.map((cell, index) => [headings[index] ?? '', cell]);
  const blocks = rows.map(row =>
    fields(row)
      .filter(([, value]) => value !== '')
      .flatMap(([name, value]) => wrap(`${name}: ${value}`, width))
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

/** Takes cells from the widest columns until all fit, or undefined when they cannot. */
function shrinkWidest(natural: number[], available: number): number[] | undefined {
  if (natural.length * (narrowestColumn + frame) + 1 > available) return undefined;
  const widths = [...natural];
  for (let excess = totalOf(widths) - available; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Takes from the first column, a name, what the others need, or undefined when too little of it would be left. */
function shrinkFirst(natural: number[], available: number): number[] | undefined {
  const [first = 0, ...others] = natural;
  const left = first - Math.max(0, totalOf(natural) - available);
  return left < Math.min(first, narrowestFirstColumn) ? undefined : [left, ...others];
}
