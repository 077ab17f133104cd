import type {PathKey} from '../file/lines.ts';
import {firstRows, Names, roomFor, Slots} from './columns.ts';
import {Digest} from './digest.ts';

/** What spares the reading of a file: where all of this is as it was, so is the content. */
export interface FileState {
  path: PathKey;
  size: number;
  /** Its times, device and inode; undefined where they are not to be trusted. */
  stat?: string | undefined;
  /** What decided its content type. */
  types?: string | undefined;
}

/** Which upload a file in a certain state is known by. */
export class Shortcuts {
  readonly #digest = new Digest();
  readonly #rules = new Names();
  readonly #slots = new Slots();
  #count = 0;
  #a = new Uint32Array(firstRows);
  #b = new Uint32Array(firstRows);
  #row = new Uint32Array(firstRows);
  #rule = new Uint16Array(firstRows);

  /** Notes that a file in this state has the content of an upload. */
  add(seen: FileState, row: number): void {
    const rule = this.#rules.numberOf(seen.types ?? '');
    let at = this.#find(seen);
    if (at === -1) {
      at = this.#count;
      this.#count += 1;
      this.#a = roomFor(this.#a, at);
      this.#b = roomFor(this.#b, at);
      this.#row = roomFor(this.#row, at);
      this.#rule = roomFor(this.#rule, at);
      this.#a[at] = this.#digest.a;
      this.#b[at] = this.#digest.b;
      this.#slots.add(this.#digest.a, at, one => this.#a[one] ?? 0);
    }
    this.#row[at] = row;
    this.#rule[at] = rule;
  }

  /** The upload that a file in this state is known by, or -1; `types` has to be the same where it is asked for. */
  rowOf(seen: FileState): number {
    const at = this.#find(seen);
    if (at === -1) return -1;
    const isSameRule = seen.types === undefined || this.#rules.nameOf(this.#rule[at] ?? 0) === seen.types;
    return isSameRule ? (this.#row[at] ?? -1) : -1;
  }

  #find({path, size, stat = ''}: FileState): number {
    const {a, b} = this.#digest.of(path, String(size), stat);
    for (let slot = this.#slots.start(a); ; slot = this.#slots.next(slot)) {
      const at = this.#slots.rowAt(slot);
      if (at === -1 || (this.#a[at] === a && this.#b[at] === b)) return at;
    }
  }
}
