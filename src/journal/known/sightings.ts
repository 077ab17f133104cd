import {firstRows, Numbering, withRows} from '../../lib/tables/columns.ts';
import type {PathKey} from '../file/lines.ts';
import {Digest} from './digest.ts';

/** A line that links a path to a content. */
export interface Sighting {
  /** The row of the upload with that content. */
  row: number;
  /** The offset of the line, in bytes. */
  offset: number;
  length: number;
}

/** Which paths had which content, in the order of the journal's lines. */
export class Sightings {
  readonly #digest = new Digest();
  readonly #paths = new Numbering();
  /** The latest sighting of each path, plus one. */
  #latest = new Uint32Array(firstRows);
  #count = 0;
  #row = new Uint32Array(firstRows);
  #offset = new Float64Array(firstRows);
  #length = new Uint32Array(firstRows);
  /** The previous sighting of the same path, plus one. */
  #before = new Uint32Array(firstRows);

  get count(): number {
    return this.#count;
  }

  add(path: Digest, {row, offset, length}: Sighting): void {
    const at = this.#count;
    this.#count += 1;
    if (at === this.#row.length) this.#grow();
    const known = this.#paths.of(path);
    const number = known === -1 ? this.#paths.add(path) : known;
    this.#row[at] = row;
    this.#offset[at] = offset;
    this.#length[at] = length;
    this.#before[at] = this.#latest[number] ?? 0;
    this.#latest[number] = at + 1;
  }

  at(number: number): Sighting {
    return {
      row: this.#row[number] ?? 0,
      offset: this.#offset[number] ?? 0,
      length: this.#length[number] ?? 0,
    };
  }

  /** Whether a sighting is the first of its path. */
  isFirst(number: number): boolean {
    return this.#before[number] === 0;
  }

  /** The numbers of a path's sightings, latest first. */
  *of(path: PathKey): Generator<number, void> {
    const known = this.#paths.of(this.#digest.of(path));
    let number = known === -1 ? -1 : (this.#latest[known] ?? 0) - 1;
    while (number !== -1) {
      yield number;
      number = (this.#before[number] ?? 0) - 1;
    }
  }

  #grow(): void {
    const rows = 2 * this.#row.length;
    this.#latest = withRows(this.#latest, rows);
    this.#row = withRows(this.#row, rows);
    this.#offset = withRows(this.#offset, rows);
    this.#length = withRows(this.#length, rows);
    this.#before = withRows(this.#before, rows);
  }
}
