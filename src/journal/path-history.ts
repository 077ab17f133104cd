import {Column, CompactMap} from '../lib/tables.ts';
import type {PathKey} from './line.ts';

/** A place in a file, in bytes. */
export interface Place {
  offset: number;
  length: number;
}

/** Which paths had which content, in the order of the journal's lines. A sighting is a line that links a path to a content. */
export class PathHistory {
  /** The latest sighting of each path. */
  readonly #latest = new CompactMap();
  count = 0;
  readonly #row = new Column(Uint32Array);
  readonly #offset = new Column(Float64Array);
  readonly #length = new Column(Uint32Array);
  /** The previous sighting of the same path, plus one. */
  readonly #before = new Column(Uint32Array);

  add(path: PathKey, row: number, {offset, length}: Place): void {
    const number = this.count;
    this.count += 1;
    this.#row.set(number, row);
    this.#offset.set(number, offset);
    this.#length.set(number, length);
    this.#before.set(number, (this.#latest.set(path, number) ?? -1) + 1);
  }

  /** The place of a sighting, and the row of the upload with its content. */
  at(number: number): Place & {row: number} {
    return {row: this.#row.at(number), offset: this.#offset.at(number), length: this.#length.at(number)};
  }

  /** Whether a sighting is the first of its path. */
  isFirst(number: number): boolean {
    return this.#before.at(number) === 0;
  }

  /** The numbers of a path's sightings, latest first. */
  of(path: PathKey): number[] {
    const numbers: number[] = [];
    for (let number = this.#latest.get(path) ?? -1; number !== -1; number = this.#before.at(number) - 1)
      numbers.push(number);
    return numbers;
  }
}
