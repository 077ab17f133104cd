import type {PathKey} from '../file/lines.ts';
import type {UploadLine} from '../file/parse.ts';
import {firstRows, Names, Numbering, withRows} from './columns.ts';
import type {Content} from './content.ts';
import {Digest} from './digest.ts';
import {KnownContents} from './known-contents.ts';
import {Shortcuts} from './shortcuts.ts';
import {Sightings} from './sightings.ts';
import {Told} from './told.ts';

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
export type KeyDigest = Pick<Digest, 'a' | 'b'>;

interface Commit {
  row: number;
  by: string;
  offset: number;
  length: number;
}

/** What a journal says, as small as it can be held: some 90 bytes for an upload, and no path. */
export class JournalIndex {
  readonly shortcuts = new Shortcuts();
  /** Where it is asked for, as what goes by paths needs it. */
  readonly sightings: Sightings | undefined;
  readonly #digest = new Digest();
  readonly #told = new Told();
  readonly #keys = new Numbering();
  readonly #contents = new KnownContents();
  readonly #types = new Names();
  #offset = new Float64Array(firstRows);
  #length = new Uint32Array(firstRows);
  #type = new Uint16Array(firstRows);
  #state = new Uint8Array(firstRows);
  #released = new Uint8Array(firstRows);
  /** Whoever was at work on it last, as half of a digest. */
  #writer = new Int32Array(firstRows);
  /** The writer that was told of last, and half of its digest. */
  #lastWriter: {by?: string; number: number} = {number: 0};
  #committed: Commit[] = [];

  constructor(options: {paths?: boolean | undefined} = {}) {
    if (options.paths) this.sightings = new Sightings();
  }

  /** How many uploads there are. */
  get size(): number {
    return this.#keys.count;
  }

  /** The upload of an idempotency key, or -1. */
  rowOf(key: string): number {
    return this.#keys.of(this.#digest.of(key));
  }

  entry(row: number): Entry {
    return {
      row,
      state: this.stateOf(row),
      size: this.#contents.sizeOf(row),
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
    return this.#keys.digestOf(row);
  }

  /** Whether the upload of a key is done. */
  hasDone(key: KeyDigest): boolean {
    const row = this.#keys.of(key);
    return row !== -1 && this.#state[row] === done;
  }

  /** The content of an upload that was released; undefined where nobody has hashed it. */
  contentOf(row: number): Content | undefined {
    return this.#contents.of(row);
  }

  /** All uploads of some content, in the order in which they were hashed. */
  rowsOf(content: Content): number[] {
    return this.#contents.rowsOf(content);
  }

  /** Whether content of that size may be known; false is certain. */
  maySize(size: number): boolean {
    return this.#contents.maySize(size);
  }

  /** Takes in a line that stands at `offset`; false when it does not fit what came before it. */
  apply(line: UploadLine, offset: number, length: number): boolean {
    return this.take(this.#told.tell(line), offset, length);
  }

  /** Takes in what a line tells that stands at `offset`; false when it does not fit what came before it. */
  take(told: Told, offset: number, length: number): boolean {
    let row = this.#keys.of(told.key);
    if (told.event === 'intent' && row === -1) row = this.#add(told);
    if (row === -1) return false;
    switch (told.event) {
      case 'intent':
        this.#intend(row, offset, length);
        this.#writer[row] = this.#numberOf(told.by);
        return this.#see(row, told, offset, length);
      case 'seen':
        return this.#see(row, told, offset, length);
      case 'commit':
        this.#contents.hash(row, told.sha);
        this.#committed.push({row, by: told.by, offset, length});
        return true;
      case 'forgotten':
        this.#set(row, forgotten, offset, length);
        return true;
      case 'failed':
        // Of a writer that another has followed: what that one released is not what this one was refused.
        if (this.#writer[row] !== this.#numberOf(told.by)) return true;
        break;
      default:
        // It was told when it was committed; a merged journal holds no more than this line.
        if (told.isHashed && !this.#contents.isHashed(row)) this.#contents.hash(row, told.sha);
    }
    // A stored record stays true whatever follows it.
    if (this.#state[row] !== done || told.event === 'done') this.#set(row, stateAfter(told), offset, length);
    return true;
  }

  /** What a writer committed is about to be sent: without an end, it is unknown. */
  release(by: string): void {
    const committed = this.#committed;
    this.#committed = [];
    for (const commit of committed) {
      if (commit.by === by) this.#release(commit);
      else this.#committed.push(commit);
    }
  }

  /** What any writer committed and did not release before another came is never sent. */
  withdraw(): void {
    this.#committed = [];
  }

  #release({row, by, offset, length}: Commit): void {
    this.#released[row] = 1;
    this.#writer[row] = this.#numberOf(by);
    // The first commit counts: since then the service has known its key.
    if (this.#state[row] !== done && this.#state[row] !== unknown) this.#set(row, unknown, offset, length);
  }

  #set(row: number, state: number, offset: number, length: number): void {
    this.#state[row] = state;
    this.#offset[row] = offset;
    this.#length[row] = length;
  }

  #add({key, size, contentType}: Told): number {
    const row = this.#keys.add(key);
    if (row === this.#state.length) this.#grow();
    this.#contents.add(row, size);
    this.#type[row] = this.#types.numberOf(contentType);
    return row;
  }

  #see(row: number, told: Told, offset: number, length: number): boolean {
    this.shortcuts.add(told, row);
    this.sightings?.add(told.path, {row, offset, length});
    return this.#contents.sizeOf(row) === told.size;
  }

  /** The same key once more is another run at the same content. It settles nothing that is unknown. */
  #intend(row: number, offset: number, length: number): void {
    const state = this.#state[row];
    // The line of one that was released tells its hash.
    const isKept = state === done || state === unknown || (state === pending && this.#released[row] === 1);
    if (!isKept) this.#set(row, pending, offset, length);
  }

  #numberOf(by: string): number {
    if (this.#lastWriter.by !== by) this.#lastWriter = {by, number: this.#digest.of(by).a};
    return this.#lastWriter.number;
  }

  #grow(): void {
    const rows = 2 * this.#state.length;
    this.#offset = withRows(this.#offset, rows);
    this.#length = withRows(this.#length, rows);
    this.#type = withRows(this.#type, rows);
    this.#state = withRows(this.#state, rows);
    this.#released = withRows(this.#released, rows);
    this.#writer = withRows(this.#writer, rows);
  }
}

function stateAfter({event, isResend}: Told): number {
  if (event === 'failed') return failed;
  return isResend ? pending : done;
}
