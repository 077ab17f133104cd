import {InOrder} from '../in-order.ts';
import type {Outcome} from '../transfer/outcome.ts';
import {
  type FormatName,
  formatHead,
  formatOutcome,
  outcomeHeadings,
  outcomeRow,
  recordRows,
} from './formats.ts';
import type {Stdout} from './stdout.ts';

export interface ResultOptions {
  format: FormatName;
  /** Whether the command line named several inputs: a row each, instead of one record's fields. */
  several: boolean;
  width: number;
  color: boolean;
  /** Whether web addresses in tables are links. */
  links?: boolean;
}

/** Rows of one table: drawing one takes time that grows faster than its length. */
const longestTable = 1000;

/**
 * Prints outcomes on standard output in one format: ndjson as they come, the other line formats in the order of the
 * inputs as soon as that order allows, a table at the end, or one each time it has grown long.
 */
export class Results {
  readonly #stdout: Stdout;
  readonly #options: ResultOptions;
  #rows: Outcome[] = [];
  readonly #order = new InOrder<Outcome>();
  #begun = false;

  constructor(stdout: Stdout, options: ResultOptions) {
    this.#stdout = stdout;
    this.#options = options;
  }

  async add(outcome: Outcome): Promise<void> {
    if (this.#options.format === 'ndjson') return this.#print(outcome);
    for (const due of this.#order.take(outcome)) await this.#print(due);
  }

  /** Prints what still waits for an input that never came, and the table. */
  async end(): Promise<void> {
    for (const outcome of this.#order.rest()) await this.#print(outcome);
    await this.#printTable();
  }

  async #print(outcome: Outcome): Promise<void> {
    const {format} = this.#options;
    if (format === 'table') {
      this.#rows.push(outcome);
      return this.#rows.length < longestTable ? undefined : this.#printTable();
    }
    await this.#stdout.write((this.#begun ? '' : formatHead(format)) + formatOutcome(format, outcome));
    this.#begun = true;
  }

  async #printTable(): Promise<void> {
    const text = await this.#table();
    this.#rows = [];
    if (text !== '') await this.#stdout.write(text);
  }

  async #table(): Promise<string> {
    const {several, width, color, links = false} = this.#options;
    const [only] = this.#rows;
    if (only === undefined) return '';
    const {renderTable} = await import('./table.ts');
    if (several || only.status === 'checked')
      return renderTable(this.#rows.map(outcomeRow), {headings: outcomeHeadings, width, color, links});
    return 'received' in only ? renderTable(recordRows(only.received.record), {width, color, links}) : '';
  }
}
