import {CompactMap} from '../lib/tables.ts';
import type {PathKey} from './line.ts';

/** Which paths had which content. A sighting is a line that links a path to the upload of a content, which is a row of the index. */
export class PathHistory {
  /** Where the first line of each path begins. */
  readonly firsts: number[] = [];
  /** The number of the latest sighting of each path. */
  readonly #latest = new CompactMap();
  readonly #rows: number[] = [];
  /** The previous sighting of the same path; undefined for the first. */
  readonly #before: (number | undefined)[] = [];

  add(path: PathKey, row: number, offset: number): void {
    const before = this.#latest.set(path, this.#rows.length);
    if (before === undefined) this.firsts.push(offset);
    this.#rows.push(row);
    this.#before.push(before);
  }

  /** The rows of a path, latest first, each once. */
  rowsOf(path: PathKey): Set<number> {
    const rows = new Set<number>();
    for (let number = this.#latest.get(path); number !== undefined; number = this.#before[number])
      rows.add(this.#rows[number] as number);
    return rows;
  }
}
