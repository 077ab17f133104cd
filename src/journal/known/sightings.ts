import type {PathKey} from '../file/lines.ts';
import {firstRows, roomFor, Slots} from './columns.ts';
import {Digest} from './digest.ts';

/** One line that tells of a path and its content. */
export interface Sighting {
  /** The upload of that content. */
  row: number;
  /** Where the line stands, in bytes. */
  offset: number;
  length: number;
}

/** Which paths were seen with which content, in the order in which a journal tells of them. */
export class Sightings {
  readonly #digest = new Digest();
  /** The latest sighting of each path. */
  readonly #slots = new Slots();
  #count = 0;
  #a = new Uint32Array(firstRows);
  #b = new Uint32Array(firstRows);
  #row = new Uint32Array(firstRows);
  #offset = new Float64Array(firstRows);
  #length = new Uint32Array(firstRows);
  /** The sighting of the same path before it, plus one. */
  #before = new Uint32Array(firstRows);

  get count(): number {
    return this.#count;
  }

  add(path: PathKey, {row, offset, length}: Sighting): void {
    const at = this.#count;
    this.#count += 1;
    this.#makeRoom(at);
    const {slot, latest} = this.#find(path);
    this.#a[at] = this.#digest.a;
    this.#b[at] = this.#digest.b;
    this.#row[at] = row;
    this.#offset[at] = offset;
    this.#length[at] = length;
    this.#before[at] = latest + 1;
    if (latest === -1) this.#slots.add(this.#digest.a, at, one => this.#a[one] ?? 0);
    else this.#slots.replace(slot, at);
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

  /** The numbers of a path's sightings, the latest first. */
  *of(path: PathKey): Generator<number, void> {
    let number = this.#find(path).latest;
    while (number !== -1) {
      yield number;
      number = (this.#before[number] ?? 0) - 1;
    }
  }

  #find(path: PathKey): {slot: number; latest: number} {
    const {a, b} = this.#digest.of(path);
    for (let slot = this.#slots.start(a); ; slot = this.#slots.next(slot)) {
      const latest = this.#slots.rowAt(slot);
      if (latest === -1 || (this.#a[latest] === a && this.#b[latest] === b)) return {slot, latest};
    }
  }

  #makeRoom(row: number): void {
    this.#a = roomFor(this.#a, row);
    this.#b = roomFor(this.#b, row);
    this.#row = roomFor(this.#row, row);
    this.#offset = roomFor(this.#offset, row);
    this.#length = roomFor(this.#length, row);
    this.#before = roomFor(this.#before, row);
  }
}
