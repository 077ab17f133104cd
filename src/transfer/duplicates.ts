import type {StopSignal} from '../host.ts';
import {contentHash} from '../lib/files/content-hash.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

/** The first file of its size; it is hashed when a second one is found. */
interface First {
  position: number;
  source: Source;
  hashing?: Promise<void>;
}

interface Original {
  position: number;
  name: string;
}

/** Finds files with the same content; only files of equal size are read. */
export class Duplicates {
  readonly #stop: StopSignal<Error>;
  readonly #firstOfSize = new Map<number, First>();
  /** The hashes by position, until they are looked up. */
  readonly #hashes = new Map<number, string>();
  /** The first file of each content, by its hash. */
  readonly #originals = new Map<string, Original>();

  constructor(stop: StopSignal<Error>) {
    this.#stop = stop;
  }

  /** Adds an open file; files may come in any order. */
  async add(position: number, source: Source, opened: OpenSource): Promise<void> {
    const first = this.#firstOfSize.get(opened.size);
    if (first !== undefined) {
      first.hashing ??= this.#reopenAndHash(first);
      await first.hashing;
    } else if (source.isOnce) {
      // It can be read only once, so it is hashed now.
      this.#firstOfSize.set(opened.size, {position, source, hashing: Promise.resolve()});
    } else {
      this.#firstOfSize.set(opened.size, {position, source});
      return;
    }
    await this.#hash(position, source.name, opened);
  }

  /** The name of the first file with this content, unless it is this one; call it after all earlier files were added. */
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

  /** A file that can no longer be read has no duplicates. */
  async #reopenAndHash({position, source}: First): Promise<void> {
    const opened = await source.open(this.#stop).catch(() => undefined);
    if (opened === undefined) return;
    await this.#hash(position, source.name, opened)
      .catch(() => {})
      .finally(() => opened.close());
  }
}
