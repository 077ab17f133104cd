import type {PathKey} from '../file/lines.ts';
import type {UploadLine} from '../file/parse.ts';
import {firstRows, Names, roomFor, Slots} from './columns.ts';
import {type Content, contentOf} from './content.ts';
import {Digest} from './digest.ts';
import {Shortcuts} from './shortcuts.ts';
import {Sightings} from './sightings.ts';

/** `pending`: nothing was released, or it is to be sent again. `forgotten`: it is stored, which is to count for nothing. `unknown`: released, and no end is recorded. */
export type EntryState = 'pending' | 'unknown' | 'done' | 'failed' | 'forgotten';

const states: readonly EntryState[] = ['pending', 'unknown', 'done', 'failed', 'forgotten'];
const [pending, unknown, done, failed, forgotten] = [0, 1, 2, 3, 4];

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
  readonly #writers = new Names();
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
  /** Whoever was at work on it last. */
  #writer = new Uint16Array(firstRows);
  #committed: {row: number; by: string; offset: number; length: number}[] = [];

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
    if (line.event === 'intent' && row === -1) row = this.#add(line);
    if (row === -1) return false;
    switch (line.event) {
      case 'intent':
        this.#intend(row, offset, length);
        return this.#see(row, line, offset, length);
      case 'seen':
        return this.#see(row, line, offset, length);
      case 'commit':
        this.#hash(row, line.sha256);
        this.#committed.push({row, by: line.by, offset, length});
        return true;
      case 'forgotten':
        this.#set(row, forgotten, offset, length);
        return true;
      case 'failed':
        // Of a writer that another has followed: what that one released is not what this one was refused.
        if (this.#writer[row] !== this.#writers.numberOf(line.by)) return true;
        break;
      default:
        // It was told when it was committed; a merged journal holds no more than this line.
        if (line.sha256 !== '' && this.#isHashed[row] !== 1) this.#hash(row, line.sha256);
    }
    // A stored record stays true whatever follows it.
    if (this.#state[row] !== done || line.event === 'done') this.#set(row, stateAfter(line), offset, length);
    return true;
  }

  /** What a writer committed is about to be sent: without an end, it is unknown. */
  release(by: string): void {
    for (const {row, offset, length} of this.#committed.filter(commit => commit.by === by)) {
      this.#released[row] = 1;
      this.#writer[row] = this.#writers.numberOf(by);
      // The first commit counts: since then the service has known its key.
      if (this.#state[row] !== done && this.#state[row] !== unknown) this.#set(row, unknown, offset, length);
    }
    this.#committed = this.#committed.filter(commit => commit.by !== by);
  }

  /** What any writer committed and did not release before another came is never sent. */
  withdraw(): void {
    this.#committed = [];
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

  #see(row: number, line: Extract<UploadLine, {event: 'intent' | 'seen'}>, offset: number, length: number) {
    if (line.event === 'intent') this.#writer[row] = this.#writers.numberOf(line.by);
    this.shortcuts.add(line, row);
    this.sightings?.add(line.path, {row, offset, length});
    return this.#size[row] === line.size;
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
    this.#writer = roomFor(this.#writer, row);
  }
}

function bitOf(size: number): number {
  return Math.imul(size % 2 ** 32, 0x9e3779b1) >>> 12;
}

function stateAfter(line: Extract<UploadLine, {event: 'done' | 'failed' | 'resolved'}>): number {
  if (line.event === 'failed') return failed;
  return line.event === 'resolved' && line.as === 'resend' ? pending : done;
}
