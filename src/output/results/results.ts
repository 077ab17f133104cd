import {InOrder} from '../../lib/in-order.ts';
import type {LeftOut, Outcome} from '../../transfer/outcome.ts';
import type {Stdout} from '../stdout.ts';
import {formatBytes} from '../units.ts';
import {
  checkHeadings,
  checkRow,
  type FormatName,
  formatHead,
  formatOutcome,
  outcomeHeadings,
  outcomeRow,
  recordRows,
} from './formats.ts';
import {statusStyle} from './status-style.ts';

export interface ResultOptions {
  format: FormatName;
  /** Whether there are several inputs: then a table has a row for each, otherwise the fields of one record. */
  several: boolean;
  /** Whether it is a dry run, which has other columns. */
  dryRun: boolean;
  /** The width of the terminal in cells, read when a table is printed. */
  width: () => number;
  /** Whether a table of many inputs shows only failures and totals. */
  isBrief: boolean;
  color: boolean;
  /** Whether URLs in tables are links. */
  links?: boolean;
}

/** The most rows of a table, since the time to draw one grows faster than its length. */
const longestTable = 1000;
/** With more inputs than this, a brief table shows only failures and totals. */
const mostBriefRows = 100;

/**
 * Prints outcomes on standard output in one format: ndjson at once, other line formats in the order of the inputs, tables at
 * the end or whenever a table is long enough.
 */
export class Results {
  readonly #stdout: Stdout;
  readonly #options: ResultOptions;
  #rows: Outcome[] = [];
  readonly #totals = new Map<Outcome['status'], {files: number; bytes: number}>();
  #count = 0;
  readonly #order = new InOrder<Outcome | LeftOut>();
  #begun = false;

  constructor(stdout: Stdout, options: ResultOptions) {
    this.#stdout = stdout;
    this.#options = options;
  }

  /** Adds an outcome. A file that was left out only advances the order. */
  async add(outcome: Outcome | LeftOut): Promise<void> {
    if (this.#options.format === 'ndjson') return this.#print(outcome);
    for (const due of this.#order.take(outcome)) await this.#print(due);
  }

  /** Prints the outcomes that still wait for their turn, and the table. */
  async end(): Promise<void> {
    for (const outcome of this.#order.rest()) await this.#print(outcome);
    await this.#printTable();
    if (this.#leavesOutSuccesses) await this.#printTotals();
  }

  async #print(outcome: Outcome | LeftOut): Promise<void> {
    if (outcome.status === 'left out') return;
    const {format} = this.#options;
    if (format === 'table') return this.#addRow(outcome);
    await this.#stdout.write((this.#begun ? '' : formatHead(format)) + formatOutcome(format, outcome));
    this.#begun = true;
  }

  async #addRow(outcome: Outcome): Promise<void> {
    this.#count += 1;
    const total = this.#totals.get(outcome.status) ?? {files: 0, bytes: 0};
    this.#totals.set(outcome.status, total);
    total.files += 1;
    total.bytes += outcome.size ?? 0;
    if (this.#leavesOutSuccesses) {
      if (this.#count === mostBriefRows + 1) this.#rows = this.#rows.filter(row => 'error' in row);
      if (!('error' in outcome)) return;
    }
    this.#rows.push(outcome);
    if (this.#rows.length >= longestTable) await this.#printTable();
  }

  get #leavesOutSuccesses(): boolean {
    return this.#options.isBrief && this.#count > mostBriefRows;
  }

  async #printTable(): Promise<void> {
    const text = await this.#table();
    this.#rows = [];
    if (text !== '') await this.#stdout.write(text);
  }

  async #table(): Promise<string> {
    const {several, dryRun, links = false} = this.#options;
    const [only] = this.#rows;
    if (only === undefined) return '';
    if (dryRun) return this.#render(this.#rows.map(checkRow), checkHeadings);
    if (several) return this.#render(this.#rows.map(outcomeRow), outcomeHeadings, links);
    return 'received' in only ? this.#render(recordRows(only.received.record), undefined, links) : '';
  }

  async #printTotals(): Promise<void> {
    const rows = [...this.#totals].map(([status, {files, bytes}]) => [
      status,
      String(files),
      formatBytes(bytes),
    ]);
    await this.#stdout.write(await this.#render(rows, ['status', 'files', 'size']));
  }

  async #render(rows: string[][], headings: string[] | undefined, links = false): Promise<string> {
    const {renderTable} = await import('./table.ts');
    const {color} = this.#options;
    const styles = {status: statusStyle};
    return renderTable(rows, {
      headings,
      styles,
      width: this.#options.width(),
      color,
      links,
    });
  }
}
