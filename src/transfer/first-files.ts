import {firstRows, Slots, withRows} from '../lib/tables/columns.ts';
import {contentOf} from '../lib/tables/content.ts';
import {KnownContents} from '../lib/tables/known-contents.ts';
import {NameList} from '../lib/tables/name-list.ts';

/** A file: its position among the inputs, and its name. */
export interface NamedInput {
  position: number;
  name: string;
}

/** The first file of each size, and of each content among files of one size; about 60 bytes for each of a million. */
export class FirstFiles {
  readonly #names = new NameList();
  readonly #contents = new KnownContents();
  readonly #sizes = new Slots(row => sizeHash(this.#contents.sizeOf(row)));
  #count = 0;
  #position = new Uint32Array(firstRows);
  #name = new Uint32Array(firstRows);

  /** The row of the first file of this size, or -1. */
  ofSize(size: number): number {
    for (let slot = this.#sizes.start(sizeHash(size)); ; slot = this.#sizes.next(slot)) {
      const row = this.#sizes.rowAt(slot);
      if (row === -1 || this.#contents.sizeOf(row) === size) return row;
    }
  }

  /** Adds the first file of a size; returns its row. */
  addSize(file: NamedInput, size: number): number {
    const row = this.#add(file, size);
    this.#sizes.add(row);
    return row;
  }

  isHashed(row: number): boolean {
    return this.#contents.isHashed(row);
  }

  /** Sets the content of the first file of a size. */
  hash(row: number, sha256: string): void {
    this.#contents.hash(row, contentOf(sha256, 0).sha);
  }

  /** Adds a file of a known size with this content; returns the row of the first one with it. */
  addContent(file: NamedInput, sha256: string, size: number): number {
    const content = contentOf(sha256, size);
    const [known] = this.#contents.rowsOf(content);
    if (known === undefined) {
      const row = this.#add(file, size);
      this.#contents.hash(row, content.sha);
      return row;
    }
    if (file.position < (this.#position[known] ?? 0)) this.#set(known, file);
    return known;
  }

  /** The file in a row. */
  at(row: number): NamedInput {
    return {position: this.#position[row] ?? 0, name: this.#names.at(this.#name[row] ?? 0)};
  }

  positionAt(row: number): number {
    return this.#position[row] ?? 0;
  }

  #add(file: NamedInput, size: number): number {
    const row = this.#count;
    this.#count += 1;
    if (row === this.#position.length) {
      this.#position = withRows(this.#position, 2 * row);
      this.#name = withRows(this.#name, 2 * row);
    }
    this.#contents.add(row, size);
    this.#set(row, file);
    return row;
  }

  #set(row: number, {position, name}: NamedInput): void {
    this.#position[row] = position;
    this.#name[row] = this.#names.add(name);
  }
}

/** Sizes of a kind may all be multiples of a large number. */
function sizeHash(size: number): number {
  const mix = Math.imul((size ^ (size / 2 ** 32) ^ (size >>> 16)) | 0, 0x9e3779b1);
  return mix ^ (mix >>> 15);
}
