import type {StopSignal} from '../host.ts';
import {contentHash} from '../journal/journal.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

/** The first file of its size, to be hashed when a second one turns up. */
interface First {
  position: number;
  source: Source;
  hashing?: Promise<void>;
}

interface Original {
  position: number;
  name: string;
}

/** Finds files of equal content; only those that share their size with another are read. */
export class Duplicates {
  readonly #stop: StopSignal<Error>;
  readonly #firstOfSize = new Map<number, First>();
  /** Of the positions that were hashed and not asked about yet. */
  readonly #hashes = new Map<number, string>();
  /** The first file of each content, by its hash. */
  readonly #originals = new Map<string, Original>();

  constructor(stop: StopSignal<Error>) {
    this.#stop = stop;
  }

  /** Takes in an opened file; files may come in any order. */
  async add(position: number, source: Source, opened: OpenSource): Promise<void> {
    const first = this.#firstOfSize.get(opened.size);
    if (first !== undefined) {
      first.hashing ??= this.#reopenAndHash(first);
      await first.hashing;
    } else if (source.isOnce) {
      // It cannot be gone back to, so it is hashed while it is open.
      this.#firstOfSize.set(opened.size, {position, source, hashing: Promise.resolve()});
    } else {
      this.#firstOfSize.set(opened.size, {position, source});
      return;
    }
    await this.#hash(position, source.name, opened);
  }

  /** The name of the first file with this content, unless it is this one; asked once all earlier ones were added. */
  originalOf(position: number): string | undefined {
    const sha256 = this.#hashes.get(position);
    this.#hashes.delete(position);
    const original = sha256 === undefined ? undefined : this.#originals.get(sha256);
    return original === undefined || original.position >= position ? undefined : original.name;
  }

  async #hash(position: number, name: string, opened: OpenSource): Promise<void> {
    const sha256 = await contentHash(opened);
    this.#hashes.set(position, sha256);
    const original = this.#originals.get(sha256);
    if (original === undefined || position < original.position) this.#originals.set(sha256, {position, name});
  }

  /** A file that can no longer be read is nobody's duplicate. */
  async #reopenAndHash({position, source}: First): Promise<void> {
    const opened = await source.open(this.#stop).catch(() => undefined);
    if (opened === undefined) return;
    await this.#hash(position, source.name, opened)
      .catch(() => {})
      .finally(() => opened.close());
  }
}
