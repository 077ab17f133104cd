import {CompactMap} from '../../lib/compact-map.ts';
import type {PathKey} from './line.ts';

/** Which paths had which content. A sighting is a line that links a path to a row of the index. */
export class PathHistory {
  /** The offset of the first line of each path. */
  readonly firstOffsets: number[] = [];
  /** The number of the latest sighting of each path. */
  readonly #latest = new CompactMap();
  readonly #rows: number[] = [];
  /** The previous sighting of the same path; undefined for the first. */
  readonly #previous: (number | undefined)[] = [];

  /** Records that a path had the content of a row; `offset`: of the line that says so. */
  add(path: PathKey, row: number, offset: number): void {
    const previous = this.#latest.set(path, this.#rows.length);
    if (previous === undefined) this.firstOffsets.push(offset);
    this.#rows.push(row);
    this.#previous.push(previous);
  }

  /** The rows of a path, the latest first, each once. */
  rowsOf(path: PathKey): Set<number> {
    const rows = new Set<number>();
    for (let number = this.#latest.get(path); number !== undefined; number = this.#previous[number])
      rows.add(this.#rows[number] as number);
    return rows;
  }
}
