import type {LeftOut, UploadResult} from '../../../engine/transfer/outcome.ts';
import {isOfRun} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {printable} from '../../../lib/printable.ts';
import {formatBytes} from '../../../lib/units.ts';
import type {Stdout} from '../stdout.ts';
import {isAscii, mayColor, widthOf} from '../terminal.ts';
import {type FormatName, formatOutcome, recordRows, type TableColumn, tableColumns} from './formats.ts';
import {renderOutcome, type Template} from './template.ts';

/** How results are printed: in a format, or by a template that names the paths of files. */
export type OutputFormat = FormatName | {template: Template; pathOf: (name: string) => string};

interface ResultOptions {
  format: OutputFormat;
  /** Whether there are several inputs: then a table has a row for each, otherwise the fields of one record. */
  several: boolean;
  /** Whether it is a dry run, whose table has a row for a single input too, and other columns. */
  dryRun: boolean;
  /** Whether a table has media IDs, and off a terminal, all of many inputs instead of only failures and totals. */
  isVerbose: boolean;
}

/** The most characters that are kept for one table. */
const mostText = 4 * 1024 * 1024;
/** The most rows of a table, since the time to draw one grows faster than its length. */
const longestTable = 1000;
/** With more inputs than this, a brief table shows only totals and the failures that are not those of the run. */
const mostBriefRows = 100;

/** Prints outcomes: ndjson at once, other lines in the order of the inputs, tables at the end or when long enough. */
export class Results {
  readonly #stdout: Stdout;
  readonly #env: Host['env'];
  readonly #options: ResultOptions;
  /** Of a table; undefined if it has the fields of one record. */
  readonly #columns: readonly TableColumn[] | undefined;
  #rows: Row[] = [];
  #rowLength = 0;
  readonly #totals = new Map<UploadResult['status'], {files: number; bytes: number}>();
  #count = 0;
  /** By their positions, which count from 0: those that came before their turn. */
  readonly #early = new Map<number, UploadResult | LeftOut | Row>();
  /** The position whose turn it is. */
  #next = 0;

  constructor(stdout: Stdout, env: Host['env'], options: ResultOptions) {
    this.#stdout = stdout;
    this.#env = env;
    this.#options = options;
    const {several, dryRun, isVerbose} = options;
    this.#columns = several || dryRun ? tableColumns(dryRun, isVerbose) : undefined;
  }

  /** Adds an outcome. A file that was left out only advances the order. */
  async add(outcome: UploadResult | LeftOut): Promise<void> {
    const {format} = this.#options;
    if (format === 'ndjson') return this.#print(outcome);
    // Of what waits for its turn in a table, no more is kept than will be shown.
    const entry =
      format === 'table' && outcome.status !== 'left out' ? rowOf(outcome, this.#columns) : outcome;
    this.#early.set(entry.position, entry);
    for (let due = this.#early.get(this.#next); due !== undefined; due = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#next += 1;
      await this.#print(due);
    }
  }

  /** Prints the outcomes that still wait for their turn, and the table. */
  async end(): Promise<void> {
    for (const [, outcome] of [...this.#early].sort(([one], [other]) => one - other))
      await this.#print(outcome);
    await this.#printTable();
    if (this.#leavesOutSuccesses) await this.#printTotals();
  }

  /** Prints an outcome whose turn it is; the rows of a table are printed by end(), or when there are many. */
  async #print(outcome: UploadResult | LeftOut | Row): Promise<void> {
    if ('cells' in outcome) return this.#addRow(outcome);
    const {format} = this.#options;
    if (outcome.status === 'left out' || format === 'table') return;
    if (typeof format === 'object')
      return this.#stdout.write(renderOutcome(format.template, outcome, format.pathOf));
    await this.#stdout.write(formatOutcome(format, outcome));
  }

  /** Adds a row. From the 101st row on, a brief table keeps only failures, also of the rows before. */
  async #addRow(row: Row): Promise<void> {
    this.#count += 1;
    const total = this.#totals.get(row.status) ?? {files: 0, bytes: 0};
    this.#totals.set(row.status, total);
    total.files += 1;
    total.bytes += row.size;
    if (this.#leavesOutSuccesses) {
      if (this.#count === mostBriefRows + 1) this.#rows = this.#rows.filter(({isOwnFailure}) => isOwnFailure);
      if (!row.isOwnFailure) return;
    }
    this.#rows.push(row);
    this.#rowLength += row.cells.flat().reduce((sum, cell) => sum + cell.length, 0);
    if (this.#rows.length >= longestTable || this.#rowLength > mostText) await this.#printTable();
  }

  /** Whether the table is brief by now: off a terminal, without --verbose, after more than 100 inputs. */
  get #leavesOutSuccesses(): boolean {
    const isBrief = this.#stdout.stream.isTTY !== true && !this.#options.isVerbose;
    return isBrief && this.#count > mostBriefRows;
  }

  async #printTable(): Promise<void> {
    const cells = this.#rows.flatMap(row => row.cells);
    this.#rows = [];
    this.#rowLength = 0;
    if (cells.length === 0) return;
    const headings = this.#columns?.map(([heading]) => heading);
    await this.#writeTable(cells, headings);
  }

  async #printTotals(): Promise<void> {
    const totals = [...this.#totals];
    const rows = totals.map(([status, {files, bytes}]) => [status, String(files), formatBytes(bytes)]);
    await this.#writeTable(rows, ['status', 'files', 'size']);
  }

  async #writeTable(rows: string[][], headings: string[] | undefined): Promise<void> {
    const {renderTable} = await import('./table.ts');
    const {stream} = this.#stdout;
    const looks = {width: widthOf(stream), color: mayColor(stream, this.#env), ascii: isAscii(this.#env)};
    await this.#stdout.write(renderTable(rows, {...looks, headings}));
  }
}

/** A record may have a million fields or characters: a table of all of them helps nobody, and takes hours to draw. */
const mostFields = 200;
const longestCell = 10_000;

/** What a table shows of an outcome: a row, or without columns one row per field of its record. */
function rowOf(outcome: UploadResult, columns: readonly TableColumn[] | undefined) {
  const {position, status, size = 0} = outcome;
  // The error that ended the whole run is reported once, without its rows.
  const isOwnFailure = 'error' in outcome && !isOfRun(outcome.error.code);
  return {position, status, size, isOwnFailure, cells: cellsFor(outcome, columns)};
}

type Row = ReturnType<typeof rowOf>;

/** The rows of an outcome in a table; none for a single input that failed, which standard error reports. */
function cellsFor(outcome: UploadResult, columns: readonly TableColumn[] | undefined): string[][] {
  if (columns !== undefined) return [columns.map(([, text]) => clipText(printable(text(outcome) ?? '')))];
  if (!('record' in outcome)) return [];
  const rows = recordRows(outcome.record, outcome.size);
  const firstRows = rows.slice(0, mostFields).map(row => row.map(clipText));
  if (rows.length > mostFields)
    firstRows.push(['...', `${rows.length - mostFields} more fields; --json shows all`]);
  return firstRows;
}

function clipText(text: string): string {
  return text.length <= longestCell
    ? text
    : `${text.slice(0, longestCell)}... (${text.length} characters; --json shows all)`;
}
