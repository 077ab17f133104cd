import {firstRows, Names, roomFor, Slots} from './columns.ts';
import {type Content, contentOf} from './content.ts';
import {Digest} from './digest.ts';
import type {PathKey} from './lines.ts';
import type {UploadLine} from './parse.ts';
import {Shortcuts} from './shortcuts.ts';
import {Sightings} from './sightings.ts';

/** `pending`: nothing was released, or it is to be sent again. `unknown`: released, and no end is recorded. */
export type EntryState = 'pending' | 'unknown' | 'done' | 'failed';

const states: readonly EntryState[] = ['pending', 'unknown', 'done', 'failed'];
const [pending, unknown, done, failed] = [0, 1, 2, 3];

/** Some content of some type, under one idempotency key. */
export interface Entry {
  /** Its number in the index. */
  row: number;
  state: EntryState;
  size: number;
  contentType: string;
  /** Where the line stands that tells of the state; its hash, record or reason is read from there when asked for. */
  offset: number;
  length: number;
  /** Whether it was released at some time, so that the service may know its key. */
  released: boolean;
}

/** What an idempotency key is held as. */
export type KeyDigest = readonly [number, number];

/** So many bits tell of a size whether any content has it; a few sizes that none has pass for others. */
const sizeBits = 2 ** 20;

/** What a journal says, as small as it can be held: some 90 bytes for an upload, and no path. */
export class JournalIndex {
  readonly shortcuts = new Shortcuts();
  /** Where it is asked for, as what goes by paths needs it. */
  readonly sightings: Sightings | undefined;
  readonly #digest = new Digest();
  readonly #byKey = new Slots();
  readonly #byContent = new Slots();
  readonly #sizes = new Uint8Array(sizeBits / 8);
  readonly #types = new Names();
  #count = 0;
  #keyA = new Uint32Array(firstRows);
  #keyB = new Uint32Array(firstRows);
  #sha = new Uint32Array(4 * firstRows);
  #size = new Float64Array(firstRows);
  #offset = new Float64Array(firstRows);
  #length = new Uint32Array(firstRows);
  #type = new Uint16Array(firstRows);
  #state = new Uint8Array(firstRows);
  /** Whether it was released, and whether its content is known. */
  #released = new Uint8Array(firstRows);
  #isHashed = new Uint8Array(firstRows);

  constructor(options: {paths?: boolean | undefined} = {}) {
    if (options.paths) this.sightings = new Sightings();
  }

  /** How many uploads there are. */
  get size(): number {
    return this.#count;
  }

  /** The upload of an idempotency key, or -1. */
  rowOf(key: string): number {
    const {a, b} = this.#digest.of(key);
    return this.#rowOf([a, b]);
  }

  #rowOf([a, b]: KeyDigest): number {
    for (let slot = this.#byKey.start(a); ; slot = this.#byKey.next(slot)) {
      const row = this.#byKey.rowAt(slot);
      if (row === -1 || (this.#keyA[row] === a && this.#keyB[row] === b)) return row;
    }
  }

  entry(row: number): Entry {
    return {
      row,
      state: this.stateOf(row),
      size: this.#size[row] ?? 0,
      contentType: this.#types.nameOf(this.#type[row] ?? 0),
      offset: this.#offset[row] ?? 0,
      length: this.#length[row] ?? 0,
      released: this.#released[row] === 1,
    };
  }

  /** The latest upload of a path, where the journal was read to know paths. */
  latestOf(path: PathKey): Entry | undefined {
    for (const number of this.sightings?.of(path) ?? [])
      return this.entry(this.sightings?.at(number).row ?? 0);
    return undefined;
  }

  stateOf(row: number): EntryState {
    return states[this.#state[row] ?? 0] ?? 'pending';
  }

  /** What tells an upload's key from others, also in other journals. */
  keyOf(row: number): KeyDigest {
    return [this.#keyA[row] ?? 0, this.#keyB[row] ?? 0];
  }

  /** Whether the upload of a key is done. */
  hasDone(key: KeyDigest): boolean {
    const row = this.#rowOf(key);
    return row !== -1 && this.#state[row] === done;
  }

  /** The content of an upload that was released; undefined where nobody has hashed it. */
  contentOf(row: number): Content | undefined {
    if (this.#isHashed[row] !== 1) return undefined;
    const part = (at: number) => this.#sha[4 * row + at] ?? 0;
    return {size: this.#size[row] ?? 0, sha: [part(0), part(1), part(2), part(3)]};
  }

  /** All uploads of some content, in the order in which they were hashed. */
  rowsOf({size, sha}: Content): number[] {
    const rows: number[] = [];
    for (let slot = this.#byContent.start(sha[0]); ; slot = this.#byContent.next(slot)) {
      const row = this.#byContent.rowAt(slot);
      if (row === -1) return rows;
      const isSame = sha.every((part, at) => this.#sha[4 * row + at] === part) && this.#size[row] === size;
      if (isSame && !rows.includes(row)) rows.push(row);
    }
  }

  /** Whether content of that size may be known; false is certain. */
  maySize(size: number): boolean {
    const bit = bitOf(size);
    return ((this.#sizes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** Takes in a line that stands at `offset`; false when it does not fit what came before it. */
  apply(line: UploadLine, offset: number, length: number): boolean {
    let row = this.rowOf(line.key);
    if (line.event === 'intent') {
      if (row === -1) row = this.#add(line);
      else if (this.#size[row] !== line.size) return false;
      this.#intend(row, offset, length);
    }
    if (row === -1) return false;
    if (line.event === 'intent' || line.event === 'seen') {
      this.shortcuts.add(line, row);
      this.sightings?.add(line.path, {row, offset, length});
      return line.event === 'intent' || this.#size[row] === line.size;
    }
    if ('sha256' in line && line.sha256 !== '') this.#hash(row, line.sha256);
    if (line.event === 'commit') this.#released[row] = 1;
    // A stored record stays true whatever follows it.
    if (this.#state[row] !== done || line.event === 'done') this.#set(row, stateAfter(line), offset, length);
    return true;
  }

  #set(row: number, state: number, offset: number, length: number): void {
    this.#state[row] = state;
    this.#offset[row] = offset;
    this.#length[row] = length;
  }

  #add({key, size, contentType}: Extract<UploadLine, {event: 'intent'}>): number {
    const row = this.#count;
    this.#count += 1;
    this.#makeRoom(row);
    const {a, b} = this.#digest.of(key);
    this.#keyA[row] = a;
    this.#keyB[row] = b;
    this.#size[row] = size;
    this.#type[row] = this.#types.numberOf(contentType);
    this.#byKey.add(a, row, one => this.#keyA[one] ?? 0);
    return row;
  }

  /** The same key once more is another run at the same content. It settles nothing that is unknown. */
  #intend(row: number, offset: number, length: number): void {
    const state = this.#state[row];
    // The line of one that was released tells its hash.
    const isKept = state === done || state === unknown || (state === pending && this.#released[row] === 1);
    if (!isKept) this.#set(row, pending, offset, length);
  }

  #hash(row: number, sha256: string): void {
    const {sha} = contentOf(sha256, 0);
    if (this.#isHashed[row] === 1 && sha.every((part, at) => this.#sha[4 * row + at] === part)) return;
    for (const [at, part] of sha.entries()) this.#sha[4 * row + at] = part;
    this.#isHashed[row] = 1;
    const bit = bitOf(this.#size[row] ?? 0);
    this.#sizes[bit >> 3] = (this.#sizes[bit >> 3] ?? 0) | (1 << (bit & 7));
    this.#byContent.add(sha[0], row, one => this.#sha[4 * one] ?? 0);
  }

  #makeRoom(row: number): void {
    this.#keyA = roomFor(this.#keyA, row);
    this.#keyB = roomFor(this.#keyB, row);
    this.#sha = roomFor(this.#sha, 4 * row + 3);
    this.#size = roomFor(this.#size, row);
    this.#offset = roomFor(this.#offset, row);
    this.#length = roomFor(this.#length, row);
    this.#type = roomFor(this.#type, row);
    this.#state = roomFor(this.#state, row);
    this.#released = roomFor(this.#released, row);
    this.#isHashed = roomFor(this.#isHashed, row);
  }
}

function bitOf(size: number): number {
  return Math.imul(size % 2 ** 32, 0x9e3779b1) >>> 12;
}

function stateAfter(line: Exclude<UploadLine, {event: 'intent' | 'seen'}>): number {
  switch (line.event) {
    case 'commit':
      return unknown;
    case 'done':
      return done;
    case 'failed':
      return failed;
    case 'resolved':
      return line.as === 'uploaded' ? done : pending;
  }
}
