import type {StopSignal} from '../host.ts';
import {contentHash} from '../lib/files/content-hash.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

/** Makes the source of a file again, by its name. */
export type SourceNamed = (name: string) => Source;

/** The first file of a size or of a content; about 200 bytes for each of a million. */
interface First {
  position: number;
  name: string;
  /** Kept to read the file again, unless its name is enough to make it. */
  source: Source | undefined;
  /** Resolves once the file is hashed, or could not be: a file that cannot be read has no duplicates. */
  hashed: Promise<void> | undefined;
}

const isHashed = Promise.resolve();

/** Finds files with the same content; only files of equal size are read. */
export class Duplicates {
  readonly #stop: StopSignal<Error>;
  readonly #sourceNamed: SourceNamed | undefined;
  readonly #bySize = new Map<number, First>();
  readonly #byContent = new Map<string, First>();
  /** The first file with the content of each hashed one, by the position of that, until it is looked up. */
  readonly #originals = new Map<number, First>();
  /** The position that is looked up next. */
  #next = 0;

  /** Without `sourceNamed`, the first source of each size is kept. */
  constructor(stop: StopSignal<Error>, sourceNamed?: SourceNamed) {
    this.#stop = stop;
    this.#sourceNamed = sourceNamed;
  }

  /** Adds an open file; files may come in any order. */
  async add(position: number, source: Source, opened: OpenSource): Promise<void> {
    const file: First = {position, name: source.name, source: undefined, hashed: undefined};
    const first = this.#bySize.get(opened.size);
    if (first !== undefined) {
      first.hashed ??= this.#reopenAndHash(first).catch(() => {});
      await first.hashed;
      // One promise for all that are hashed saves about 25 bytes for each size.
      first.hashed = isHashed;
      this.#addContent(file, await contentHash(opened));
      return;
    }
    this.#bySize.set(opened.size, file);
    // It can be read only once, so it is hashed now.
    if (source.isOnce) {
      file.hashed = this.#hash(file, opened).catch(() => {});
      await file.hashed;
    } else if (this.#sourceNamed === undefined || source.nameBytes) file.source = source;
  }

  /**
   * The name of the first file with this content, unless it is this one. Called for one position after the other, each
   * when all earlier files were added.
   */
  originalOf(position: number): string | undefined {
    this.#next = position + 1;
    const original = this.#originals.get(position);
    this.#originals.delete(position);
    return original !== undefined && original.position < position ? original.name : undefined;
  }

  async #reopenAndHash(first: First): Promise<void> {
    const source = first.source ?? this.#sourceNamed?.(first.name);
    first.source = undefined;
    const opened = await source?.open(this.#stop);
    if (opened !== undefined) await this.#hash(first, opened).finally(() => opened.close());
  }

  async #hash(first: First, opened: OpenSource): Promise<void> {
    this.#addContent(first, await contentHash(opened));
  }

  #addContent(file: First, sha256: string): void {
    // Half of the hash is enough to tell files apart.
    const key = Buffer.from(sha256, 'hex').toString('latin1', 0, 16);
    const {position, name} = file;
    const first = this.#byContent.get(key) ?? file;
    if (first === file) this.#byContent.set(key, file);
    else if (position < first.position) Object.assign(first, {position, name});
    if (position >= this.#next) this.#originals.set(position, first);
  }
}
