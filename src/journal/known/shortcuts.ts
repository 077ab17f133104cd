import {firstRows, Names, Numbering, withRows} from '../../lib/tables/columns.ts';
import type {PathKey} from '../file/lines.ts';
import {Digest} from './digest.ts';
import type {LineFacts} from './line-facts.ts';

/** The state of a file. If all of it is unchanged, the content is unchanged too, and need not be read. */
export interface FileState {
  path: PathKey;
  size: number;
  /** The times, device and inode; undefined if they cannot be trusted. */
  stat?: string | undefined;
  /** What decided the content type. */
  types?: string | undefined;
}

/** Finds the upload of a file by the file's state. */
export class Shortcuts {
  readonly #digest = new Digest();
  readonly #rules = new Names();
  readonly #states = new Numbering();
  #row = new Uint32Array(firstRows);
  #rule = new Uint16Array(firstRows);

  /** Records that a file in this state has the content of an upload. */
  add({state, types}: Pick<LineFacts, 'state' | 'types'>, row: number): void {
    const known = this.#states.of(state);
    const at = known === -1 ? this.#states.add(state) : known;
    if (at === this.#row.length) {
      this.#row = withRows(this.#row, 2 * at);
      this.#rule = withRows(this.#rule, 2 * at);
    }
    this.#row[at] = row;
    this.#rule[at] = this.#rules.numberOf(types);
  }

  /** The row of the upload for a file in this state, or -1; if `types` is given, it must match too. */
  rowOf({path, size, stat = '', types}: FileState): number {
    const at = this.#states.of(this.#digest.of(path, String(size), stat));
    if (at === -1) return -1;
    const isSameRule = types === undefined || this.#rules.nameOf(this.#rule[at] ?? 0) === types;
    return isSameRule ? (this.#row[at] ?? -1) : -1;
  }
}
