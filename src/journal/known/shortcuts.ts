import type {PathKey} from '../file/lines.ts';
import {firstRows, Names, Numbering, withRows} from './columns.ts';
import {Digest} from './digest.ts';
import type {Told} from './told.ts';

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
  readonly #states = new Numbering();
  #row = new Uint32Array(firstRows);
  #rule = new Uint16Array(firstRows);

  /** Notes that a file in this state has the content of an upload. */
  add({state, types}: Pick<Told, 'state' | 'types'>, row: number): void {
    const known = this.#states.of(state);
    const at = known === -1 ? this.#states.add(state) : known;
    if (at === this.#row.length) {
      this.#row = withRows(this.#row, 2 * at);
      this.#rule = withRows(this.#rule, 2 * at);
    }
    this.#row[at] = row;
    this.#rule[at] = this.#rules.numberOf(types);
  }

  /** The upload that a file in this state is known by, or -1; `types` has to be the same where it is asked for. */
  rowOf({path, size, stat = '', types}: FileState): number {
    const at = this.#states.of(this.#digest.of(path, String(size), stat));
    if (at === -1) return -1;
    const isSameRule = types === undefined || this.#rules.nameOf(this.#rule[at] ?? 0) === types;
    return isSameRule ? (this.#row[at] ?? -1) : -1;
  }
}
