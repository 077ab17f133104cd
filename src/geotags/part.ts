import {type RandomAccess, readAt} from '../lib/files/random-access.ts';
import {UnstrippableError} from './unstrippable.ts';

/** Bytes that replace those of a file. */
export interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** Bounds for files that were made to waste memory or time; real metadata has less. */
const longestRead = 16 * 2 ** 20;
const mostChanges = 1_000;
const mostClaims = 100_000;
const mostExtents = 1_000;

/** What is planned for a file: its changes, and which bytes belong to what. */
interface Draft {
  readonly file: RandomAccess;
  readonly changes: (Patch & {owner: number})[];
  readonly claims: (Extent & {owner: number})[];
  owners: number;
}

/**
 * The bytes of a file, or of something in it that may be stored in several pieces, as they are after the planned changes.
 * Each part belongs to an owner, and the bytes that one owner claims cannot be changed by another.
 */
export class Part {
  readonly size: number;
  readonly #draft: Draft;
  readonly #extents: readonly Extent[];
  readonly #owner: number;

  private constructor(draft: Draft, extents: readonly Extent[], owner: number) {
    this.#draft = draft;
    this.#extents = extents;
    this.#owner = owner;
    this.size = extents.reduce((sum, {length}) => sum + length, 0);
  }

  static ofFile(file: RandomAccess): Part {
    return new Part({file, changes: [], claims: [], owners: 1}, [{offset: 0, length: file.size}], 0);
  }

  static ofBytes(bytes: Buffer): Part {
    const read = async (position: number, length: number) => bytes.subarray(position, position + length);
    return Part.ofFile({size: bytes.length, read});
  }

  /** Several parts of one file as one, in this order. */
  static joined(parts: readonly Part[]): Part {
    const extents = parts.flatMap(part => part.#extents);
    if (parts[0] === undefined || extents.length > mostExtents)
      throw new UnstrippableError('metadata in very many pieces');
    return new Part(parts[0].#draft, extents, parts[0].#owner);
  }

  /** A part of this one, with the same owner. */
  slice(at: number, length = this.size - at): Part {
    return new Part(this.#draft, this.#within(at, length), this.#owner);
  }

  /** The same bytes with an owner of their own, who claims them. */
  owned(): Part {
    const part = this.unclaimed();
    part.claim(0, this.size);
    return part;
  }

  /** The same bytes with an owner of their own, who claims none. */
  unclaimed(): Part {
    this.#draft.owners += 1;
    return new Part(this.#draft, this.#extents, this.#draft.owners);
  }

  /** Claims bytes: a change to them by another owner is refused. */
  claim(at: number, length: number): void {
    const {claims} = this.#draft;
    for (const extent of this.#within(at, length)) claims.push({...extent, owner: this.#owner});
    if (claims.length > mostClaims) throw new UnstrippableError('very many values');
  }

  /** All of the bytes asked for; a file that ends before them is refused. */
  async read(at: number, length: number): Promise<Buffer> {
    if (length > longestRead) throw new UnstrippableError(`metadata of ${length} bytes`);
    const extents = this.#within(at, length);
    if (extents[0] !== undefined && extents.length === 1) return this.#readExtent(extents[0]);
    const pieces = [];
    for (const extent of extents) pieces.push(await this.#readExtent(extent));
    return Buffer.concat(pieces);
  }

  /** Replaces bytes, of which those at both ends that stay equal are no change. */
  async write(at: number, bytes: Buffer): Promise<void> {
    const before = await this.read(at, bytes.length);
    let start = 0;
    let end = bytes.length;
    while (start < end && before[start] === bytes[start]) start += 1;
    while (end > start && before[end - 1] === bytes[end - 1]) end -= 1;
    const {changes} = this.#draft;
    let done = start;
    for (const {offset, length} of this.#within(at + start, end - start)) {
      changes.push({offset, bytes: Buffer.from(bytes.subarray(done, done + length)), owner: this.#owner});
      done += length;
    }
    if (changes.length > mostChanges) throw new UnstrippableError('very many places');
  }

  async zero(at: number, length: number): Promise<void> {
    this.#within(at, length);
    if (length > longestRead) throw new UnstrippableError(`metadata of ${length} bytes`);
    await this.write(at, Buffer.alloc(length));
  }

  /** The changes to the whole file, in order and without overlaps; refused if one changes what belongs to another owner. */
  async patches(): Promise<Patch[]> {
    const {file, changes, claims} = this.#draft;
    // Most of a file's claims are nowhere near its changes.
    const start = Math.min(...changes.map(({offset}) => offset));
    const end = Math.max(...changes.map(({offset, bytes}) => offset + bytes.length));
    const near = claims.filter(({offset, length}) => offset < end && start < offset + length);
    for (const change of changes) {
      const isForeign = (claim: Extent & {owner: number}) =>
        claim.owner !== change.owner &&
        claim.offset < change.offset + change.bytes.length &&
        change.offset < claim.offset + claim.length;
      if (near.some(isForeign)) throw new UnstrippableError('metadata that overlaps other data');
    }
    const whole = Part.#unowned(this.#draft, file.size);
    const patches: Patch[] = [];
    for (const {offset, length} of united(changes)) {
      patches.push({offset, bytes: await whole.read(offset, length)});
    }
    return patches;
  }

  static #unowned(draft: Draft, length: number): Part {
    return new Part(draft, [{offset: 0, length}], 0);
  }

  async #readExtent({offset, length}: Extent): Promise<Buffer> {
    const {file, changes} = this.#draft;
    const read = await readAt(file, offset, length);
    if (read.length < length) throw new UnstrippableError('a file that became shorter');
    const isTouching = (change: Patch) =>
      change.offset < offset + length && offset < change.offset + change.bytes.length;
    const touching = changes.length === 0 ? changes : changes.filter(isTouching);
    if (touching.length === 0) return read;
    const changed = Buffer.from(read);
    for (const change of touching) {
      const start = Math.max(change.offset, offset);
      change.bytes.copy(changed, start - offset, start - change.offset, offset + length - change.offset);
    }
    return changed;
  }

  /** The extents of some of the bytes; refused if there are not as many. */
  #within(at: number, length: number): Extent[] {
    if (!(at >= 0 && length >= 0 && at + length <= this.size))
      throw new UnstrippableError('a file that is cut off, or whose lengths are wrong');
    if (length === 0) return [];
    const [first] = this.#extents;
    if (first !== undefined && this.#extents.length === 1) return [{offset: first.offset + at, length}];
    const found: Extent[] = [];
    let start = 0;
    for (const extent of this.#extents) {
      const from = Math.max(at, start);
      const to = Math.min(at + length, start + extent.length);
      if (from < to) found.push({offset: extent.offset + from - start, length: to - from});
      start += extent.length;
    }
    return found;
  }
}

/** The ranges of the changes, those that touch joined. */
function united(changes: readonly Patch[]): Extent[] {
  const ranges: {offset: number; length: number}[] = [];
  for (const {offset, bytes} of [...changes].sort((one, other) => one.offset - other.offset)) {
    const last = ranges.at(-1);
    if (last === undefined || last.offset + last.length < offset) ranges.push({offset, length: bytes.length});
    else last.length = Math.max(last.length, offset + bytes.length - last.offset);
  }
  return ranges;
}

/** The bytes at a position with the patches there; only those up to the last patch are copied, since new memory takes time. */
export function patched(bytes: Uint8Array, position: number, patches: readonly Patch[]): Uint8Array[] {
  const near = patches.filter(
    patch => patch.offset < position + bytes.length && position < patch.offset + patch.bytes.length,
  );
  const last = near.at(-1);
  if (last === undefined) return [bytes];
  const end = Math.min(bytes.length, last.offset + last.bytes.length - position);
  const copy = Buffer.from(bytes.subarray(0, end));
  for (const patch of near) {
    const skipped = Math.max(0, position - patch.offset);
    const start = patch.offset + skipped - position;
    copy.set(patch.bytes.subarray(skipped, skipped + end - start), start);
  }
  return end === bytes.length ? [copy] : [copy, bytes.subarray(end)];
}
