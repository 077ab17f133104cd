import type {StopSignal} from '../host.ts';
import {contentHash} from '../lib/files/content-hash.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {FirstFiles} from './first-files.ts';

/** Makes the source of a file again, by its name. */
export type SourceNamed = (name: string) => Source;

/** Finds files with the same content; only files of equal size are read. */
export class Duplicates {
  readonly #stop: StopSignal<Error>;
  readonly #sourceNamed: SourceNamed | undefined;
  readonly #firsts = new FirstFiles();
  /** The first source of each size, unless its name is enough to make it again. */
  readonly #kept = new Map<number, Source>();
  /** The first files of a size that are being hashed, or could not be. */
  readonly #hashing = new Map<number, Promise<void>>();
  /** The row of the content of each hashed file, by its position, until it is looked up. */
  readonly #rows = new Map<number, number>();
  /** The position that is looked up next. */
  #next = 0;

  /** Without `sourceNamed`, the first source of each size is kept. */
  constructor(stop: StopSignal<Error>, sourceNamed?: SourceNamed) {
    this.#stop = stop;
    this.#sourceNamed = sourceNamed;
  }

  /** Adds an open file; files may come in any order. */
  async add(position: number, source: Source, opened: OpenSource): Promise<void> {
    const {size} = opened;
    const file = {position, name: source.name};
    const first = this.#firsts.ofSize(size);
    if (first !== -1) {
      await this.#onceHashed(first, () => this.#reopenAndHash(first));
      this.#found(position, this.#firsts.addContent(file, await contentHash(opened), size));
      return;
    }
    const row = this.#firsts.addSize(file, size);
    // It can be read only once, so it is hashed now.
    if (source.isOnce) await this.#onceHashed(row, () => this.#hash(row, opened));
    else if (this.#sourceNamed === undefined || source.nameBytes) this.#kept.set(row, source);
  }

  /**
   * The name of the first file with this content, unless it is this one. Called for one position after the other, each
   * when all earlier files were added.
   */
  originalOf(position: number): string | undefined {
    this.#next = position + 1;
    const row = this.#rows.get(position);
    if (row === undefined) return undefined;
    this.#rows.delete(position);
    return this.#firsts.positionAt(row) < position ? this.#firsts.at(row).name : undefined;
  }

  #found(position: number, row: number): void {
    if (position >= this.#next) this.#rows.set(position, row);
  }

  /** Hashes the first file of a size if that was not tried before; a file that cannot be read has no duplicates. */
  async #onceHashed(row: number, hash: () => Promise<void>): Promise<void> {
    if (this.#firsts.isHashed(row)) return;
    const hashing = this.#hashing.get(row) ?? hash().catch(() => {});
    this.#hashing.set(row, hashing);
    await hashing;
    if (this.#firsts.isHashed(row)) this.#hashing.delete(row);
  }

  async #reopenAndHash(row: number): Promise<void> {
    const source = this.#kept.get(row) ?? this.#sourceNamed?.(this.#firsts.at(row).name);
    this.#kept.delete(row);
    const opened = await source?.open(this.#stop);
    if (opened !== undefined) await this.#hash(row, opened).finally(() => opened.close());
  }

  async #hash(row: number, opened: OpenSource): Promise<void> {
    this.#firsts.hash(row, await contentHash(opened));
    this.#found(this.#firsts.positionAt(row), row);
  }
}
