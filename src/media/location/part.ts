import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {keepMemory, takeMemory} from '../../lib/memory.ts';
import {applyPatches, type Patch} from './patches.ts';
import {UnstrippableError, wrongLengths} from './unstrippable.ts';

interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** Bytes per read, since values are near each other; up to 16 times as much if a step has to read again. */
const windowBytes = 64 * 1024;

/** What is planned for a file: its changes, and which bytes belong to what. */
interface Draft {
  readonly file: RandomAccess;
  /** What is in memory: what was read first, and what the last steps needed. */
  readonly windows: Patch[];
  readonly changes: (Patch & {owner: object})[];
  readonly claims: (Extent & {owner: object})[];
  /** The owners of what several lists may refer to, by its extents. */
  readonly sharers: Map<string, object>;
  /** Where blocks are read. */
  memory: Uint8Array | undefined;
}

/** Thrown by a step of a walk that needs bytes which are not in memory. */
class MissingError extends Error {
  extent: Extent = {offset: 0, length: 0};
}

/**
 * The bytes of a file, or of something in it that may be stored in several pieces, as they are after the planned
 * changes. Each part belongs to an owner, and the bytes that one owner claims cannot be changed by another. The limits
 * are for files that were made to waste memory or time: real metadata has less.
 */
export class Part {
  readonly size: number;
  readonly #draft: Draft;
  readonly #extents: readonly Extent[];
  /** Identifies who claims bytes: a part and its slices have the same owner. */
  readonly #owner: object;

  /** Without `owner`, the part has an owner of its own; a part that shares claims passes the owner of the other. */
  private constructor(draft: Draft, extents: readonly Extent[], owner: object = {}) {
    this.#draft = draft;
    this.#extents = extents;
    this.#owner = owner;
    this.size = extents.reduce((sum, {length}) => sum + length, 0);
  }

  /** A file of which the first bytes have been read. */
  static ofFile(file: RandomAccess, head: Buffer): Part {
    const draft = {
      file,
      windows: [{offset: 0, bytes: head}],
      changes: [],
      claims: [],
      sharers: new Map(),
      memory: undefined,
    };
    return new Part(draft, [{offset: 0, length: file.size}]);
  }

  static ofBytes(bytes: Buffer): Part {
    return Part.ofFile({size: bytes.length, read: async () => bytes}, bytes);
  }

  /** Several parts of one file as one, in this order. */
  static join(parts: readonly Part[]): Part {
    const extents = parts.flatMap(part => part.#extents);
    if (parts[0] === undefined || extents.length > 1_000)
      throw new UnstrippableError('metadata in very many pieces');
    return new Part(parts[0].#draft, extents, parts[0].#owner);
  }

  /**
   * Runs a synchronous step of a walk; loads bytes that it lacks, undoes its changes and claims, and runs it again.
   * `memory`: where the bytes may be loaded, in place of those that the last step with it left there.
   */
  async step<Result>(walk: () => Result, memory?: Uint8Array): Promise<Result> {
    const {file, windows, changes, claims} = this.#draft;
    const [changeCount, claimCount] = [changes.length, claims.length];
    // The first bytes of the file, and those that were loaded last, stay in memory.
    windows.splice(1, windows.length - (memory === undefined ? 2 : 1));
    for (let loaded = 0, least = windowBytes; ; least = Math.min(2 * least, 16 * windowBytes)) {
      try {
        return walk();
      } catch (error) {
        if (!(error instanceof MissingError)) throw error;
        const {offset, length} = error.extent;
        const bytes = await readAt(file, offset, Math.max(length, least), loaded === 0 ? memory : undefined);
        if (bytes.length < length) throw new UnstrippableError('a file that became shorter');
        loaded += bytes.length;
        if (loaded > 64 * 2 ** 20) throw new UnstrippableError('metadata in very many places');
        windows.push({offset, bytes});
        changes.length = changeCount;
        claims.length = claimCount;
      }
    }
  }

  /** Blocks of `size` bytes, of which `overlap` are in the next one, too; a block is there until the next is read. */
  async *blocks(size: number, overlap: number): AsyncGenerator<{at: number; block: Buffer}> {
    const draft = this.#draft;
    // A small file was read at once.
    if (this.size > 4 * windowBytes && (draft.memory?.length ?? 0) < size) draft.memory = takeMemory(size);
    for (let at = 0; at < this.size; at += size - overlap)
      yield {at, block: await this.step(() => this.readUpTo(size, at), draft.memory)};
  }

  /** Gives back the memory of the blocks, for the next file; not after a failure, when a read may still go on. */
  release(): void {
    const {memory, windows} = this.#draft;
    windows.splice(1);
    if (memory !== undefined) keepMemory(memory);
    this.#draft.memory = undefined;
  }

  /** A part of this one, with the same owner. */
  slice(at: number, length = this.size - at): Part {
    return new Part(this.#draft, this.#extentsOf(at, length), this.#owner);
  }

  /** The same bytes with an owner of their own, who claims them: nothing else may change them. */
  withOwner(): Part {
    const part = this.withoutClaim();
    part.claim(0, this.size);
    return part;
  }

  /** The same bytes with an owner whom all have in common that share exactly these. */
  withSharedOwner(): Part {
    const {sharers} = this.#draft;
    const key = JSON.stringify(this.#extents);
    const owner = sharers.get(key) ?? {};
    sharers.set(key, owner);
    return new Part(this.#draft, this.#extents, owner);
  }

  /** The same bytes with an owner of their own, whose changes are refused where any other owner has a claim. */
  withoutClaim(): Part {
    return new Part(this.#draft, this.#extents);
  }

  /** Claims bytes for the owner of this part: `patches` throws if another one changes them, as where data overlaps. */
  claim(at: number, length: number): void {
    const {claims} = this.#draft;
    for (const extent of this.#extentsOf(at, length)) claims.push({...extent, owner: this.#owner});
    if (claims.length > 100_000) throw new UnstrippableError('very many values');
  }

  /** All of the bytes asked for, within a step; a file that ends before them is refused. */
  read(at: number, length: number): Buffer {
    if (length > 16 * 2 ** 20) throw new UnstrippableError(`metadata of ${length} bytes`);
    const pieces = this.#extentsOf(at, length).map(extent => bytesAt(this.#draft, extent));
    return pieces[0] !== undefined && pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  readAll(): Buffer {
    return this.read(0, this.size);
  }

  /** Up to this many bytes; fewer only at the end. */
  readUpTo(length: number, at = 0): Buffer {
    return this.read(at, Math.min(length, this.size - at));
  }

  /** Plans a change of the file; keeps a copy of the bytes, which may be in memory that is used again. */
  write(at: number, bytes: Buffer): void {
    const before = this.read(at, bytes.length);
    // Without the bytes at both ends that stay as they are.
    let start = 0;
    let end = bytes.length;
    while (start < end && before[start] === bytes[start]) start += 1;
    while (end > start && before[end - 1] === bytes[end - 1]) end -= 1;
    const {changes} = this.#draft;
    for (const {offset, length} of this.#extentsOf(at + start, end - start)) {
      const copy = Buffer.from(bytes.subarray(start, start + length));
      changes.push({offset, bytes: copy, owner: this.#owner});
      start += length;
    }
    if (changes.length > 1_000) throw new UnstrippableError('very many places');
  }

  zero(at: number, length: number): void {
    this.write(at, Buffer.from(this.read(at, length)).fill(0));
  }

  /** The planned changes: where two overlap, the later one counts. Throws if one changes bytes of another owner. */
  patches(): readonly Patch[] {
    const {changes, claims} = this.#draft;
    for (const {offset, bytes, owner} of changes) {
      const end = offset + bytes.length;
      if (claims.some(one => one.owner !== owner && one.offset < end && offset < one.offset + one.length))
        throw new UnstrippableError('metadata that overlaps other data');
    }
    return changes;
  }

  /** The extents of some of the bytes; refused if there are not as many. */
  #extentsOf(at: number, length: number): Extent[] {
    if (!(at >= 0 && length >= 0 && at + length <= this.size)) throw wrongLengths();
    const extents: Extent[] = [];
    let start = 0;
    for (const extent of this.#extents) {
      const from = Math.max(at, start);
      const to = Math.min(at + length, start + extent.length);
      if (from < to) extents.push({offset: extent.offset + from - start, length: to - from});
      start += extent.length;
    }
    return extents;
  }
}

/** The bytes of an extent with the changes planned so far; throws a MissingError if they are not in memory. */
function bytesAt({windows, changes}: Draft, {offset, length}: Extent): Buffer {
  const window = windows.find(
    one => one.offset <= offset && offset + length <= one.offset + one.bytes.length,
  );
  if (window === undefined) throw Object.assign(new MissingError(), {extent: {offset, length}});
  const start = offset - window.offset;
  return applyPatches(window.bytes.subarray(start, start + length), offset, changes);
}
