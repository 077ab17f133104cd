import {Column, CompactMap} from '../lib/tables.ts';
import type {PathKey} from './line.ts';

/** Which paths had which content, in the order of the journal's lines. A sighting is a line that links a path to a content. */
export class PathHistory {
  /** The latest sighting of each path. */
  readonly #latest = new CompactMap();
  #count = 0;
  readonly #row = new Column(Uint32Array);
  readonly #offset = new Column(Float64Array);
  /** The previous sighting of the same path, plus one. */
  readonly #before = new Column(Uint32Array);

  add(path: PathKey, row: number, offset: number): void {
    const number = this.#count;
    this.#count += 1;
    this.#row.set(number, row);
    this.#offset.set(number, offset);
    this.#before.set(number, (this.#latest.set(path, number) ?? -1) + 1);
  }

  /**
   * All sightings: their numbers, whether they are the first of their paths, the rows of the uploads with their contents, and where
   * their lines begin.
   */
  *[Symbol.iterator]() {
    for (let number = 0; number < this.#count; number += 1) {
      const isFirst = this.#before.at(number) === 0;
      yield {number, isFirst, row: this.#row.at(number), offset: this.#offset.at(number)};
    }
  }

  /** The numbers and rows of a path's sightings, latest first. */
  of(path: PathKey): {number: number; row: number}[] {
    const sightings = [];
    for (let number = this.#latest.get(path) ?? -1; number !== -1; number = this.#before.at(number) - 1)
      sightings.push({number, row: this.#row.at(number)});
    return sightings;
  }
}
