import {type Digest64, firstRows, Names, Numbering, withRows} from '../../lib/tables/columns.ts';
import type {Content} from '../../lib/tables/content.ts';
import {KnownContents} from '../../lib/tables/known-contents.ts';
import type {PathKey} from '../file/lines.ts';
import type {UploadFacts} from '../file/parse.ts';
import {Digest} from './digest.ts';
import {LineFacts} from './line-facts.ts';
import {Shortcuts} from './shortcuts.ts';
import {Sightings} from './sightings.ts';

/**
 * `pending`: nothing was released, or it may be sent again. `unknown`: released, without a recorded result.
 * `forgotten`: it was stored, but no longer counts.
 */
export type EntryState = 'pending' | 'unknown' | 'done' | 'failed' | 'forgotten';

const states: readonly EntryState[] = ['pending', 'unknown', 'done', 'failed', 'forgotten'];
const [pending, unknown, done, failed, forgotten] = [0, 1, 2, 3, 4];

/** The upload of some content under one content type and idempotency key. */
export interface Entry {
  /** The row in the index. */
  row: number;
  state: EntryState;
  size: number;
  contentType: string;
  /** The offset of the line with the current state; its hash, record or failure is read from there on demand. */
  offset: number;
  length: number;
  /** Whether it was ever released, so that the service may know its key. */
  released: boolean;
}

/** An idempotency key in the index. */
export type KeyDigest = Digest64;

interface Commit {
  row: number;
  by: string;
  offset: number;
  length: number;
}

/** A journal in memory, in about 90 bytes per upload and without paths. */
export class JournalIndex {
  readonly shortcuts = new Shortcuts();
  /** Present on request, for commands that look up paths. */
  readonly sightings: Sightings | undefined;
  /** The service that has stored all of this, as far as it said which one it is. */
  serviceId: string | undefined;
  readonly #digest = new Digest();
  readonly #facts = new LineFacts();
  readonly #keys = new Numbering();
  readonly #contents = new KnownContents();
  readonly #types = new Names();
  #offset = new Float64Array(firstRows);
  #length = new Uint32Array(firstRows);
  #type = new Uint16Array(firstRows);
  #state = new Uint8Array(firstRows);
  #released = new Uint8Array(firstRows);
  /** The last writer of each upload, as half of a digest. */
  #writer = new Int32Array(firstRows);
  /** The writer of the last line, and half of its digest. */
  #lastWriter: {by?: string; number: number} = {number: 0};
  #committed: Commit[] = [];

  constructor(options: {paths?: boolean | undefined} = {}) {
    if (options.paths) this.sightings = new Sightings();
  }

  /** The number of uploads. */
  get size(): number {
    return this.#keys.count;
  }

  /** The row of an idempotency key, or -1. */
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

  /** The latest upload of a path; always undefined without `paths`. */
  latestOf(path: PathKey): Entry | undefined {
    for (const number of this.sightings?.of(path) ?? [])
      return this.entry(this.sightings?.at(number).row ?? 0);
    return undefined;
  }

  stateOf(row: number): EntryState {
    return states[this.#state[row] ?? 0] ?? 'pending';
  }

  /** Identifies the upload's key, also in other journals of this process. */
  keyOf(row: number): KeyDigest {
    return this.#keys.digestOf(row);
  }

  /** Whether the upload with this key is done. */
  hasDone(key: KeyDigest): boolean {
    const row = this.#keys.of(key);
    return row !== -1 && this.#state[row] === done;
  }

  /** The content of an upload that was released; undefined if nobody has hashed it. */
  contentOf(row: number): Content | undefined {
    return this.#contents.of(row);
  }

  /** The rows of all uploads with this content, in the order in which they were hashed. */
  rowsOf(content: Content): number[] {
    return this.#contents.rowsOf(content);
  }

  /** Whether content of this size may be known; false is certain. */
  maySize(size: number): boolean {
    return this.#contents.maySize(size);
  }

  /** Adds a line by this writer at `offset`; false if it does not fit the earlier ones. */
  apply(line: UploadFacts, by: string, offset: number, length: number): boolean {
    const facts = this.#facts.set(line, by);
    if (line.event === 'done') this.serviceId ??= line.serviceId;
    // What another service has stored does not count here.
    if (line.event === 'done' && (line.serviceId ?? this.serviceId) !== this.serviceId)
      facts.event = 'forgotten';
    return this.take(facts, offset, length);
  }

  /** Adds the facts of a line at `offset`; false if they do not fit the earlier ones. */
  take(facts: LineFacts, offset: number, length: number): boolean {
    let row = this.#keys.of(facts.key);
    const isIntent = facts.hasPlace && facts.event !== 'seen';
    if (isIntent && row === -1) row = this.#add(facts);
    if (row === -1) return false;
    if (isIntent) {
      this.#intend(row, offset, length);
      this.#writer[row] = this.#numberOf(facts.by);
    }
    if (facts.hasPlace && !this.#see(row, facts, offset, length)) return false;
    switch (facts.event) {
      case 'intent':
      case 'seen':
        return true;
      case 'hashed':
        this.#contents.hash(row, facts.sha);
        return true;
      case 'commit':
        this.#contents.hash(row, facts.sha);
        this.#committed.push({row, by: facts.by, offset, length});
        return true;
      case 'forgotten':
        this.#set(row, forgotten, offset, length);
        return true;
      case 'failed':
        // Another writer has released this upload since: the failure of the earlier one says nothing about it.
        if (this.#writer[row] !== this.#numberOf(facts.by)) return true;
        break;
      default:
        // Usually the hash was in the commit line.
        if (facts.isHashed && !this.#contents.isHashed(row)) this.#contents.hash(row, facts.sha);
    }
    // A stored record stays valid whatever follows it.
    if (this.#state[row] !== done || facts.event === 'done')
      this.#set(row, stateAfter(facts), offset, length);
    return true;
  }

  /** Everything that a writer has committed is about to be sent: without a result, it is unknown. */
  release(by: string): void {
    const committed = this.#committed;
    this.#committed = [];
    for (const commit of committed) {
      if (commit.by === by) this.#release(commit);
      else this.#committed.push(commit);
    }
  }

  /** Commits that were not released when another writer opened the journal are never sent. */
  withdraw(): void {
    this.#committed = [];
  }

  #release({row, by, offset, length}: Commit): void {
    this.#released[row] = 1;
    this.#writer[row] = this.#numberOf(by);
    // Only the first commit counts, since the service may have known the key from then on.
    if (this.#state[row] !== done && this.#state[row] !== unknown) this.#set(row, unknown, offset, length);
  }

  #set(row: number, state: number, offset: number, length: number): void {
    this.#state[row] = state;
    this.#offset[row] = offset;
    this.#length[row] = length;
  }

  #add({key, size, contentType}: LineFacts): number {
    const row = this.#keys.add(key);
    if (row === this.#state.length) this.#grow();
    this.#contents.add(row, size);
    this.#type[row] = this.#types.numberOf(contentType);
    return row;
  }

  #see(row: number, facts: LineFacts, offset: number, length: number): boolean {
    this.shortcuts.add(facts, row);
    this.sightings?.add(facts.path, {row, offset, length});
    return this.#contents.sizeOf(row) === facts.size;
  }

  /** An intent with the same key is another run with the same content. It does not settle an unknown upload. */
  #intend(row: number, offset: number, length: number): void {
    const state = this.#state[row];
    // If it was released, its current line contains the hash.
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

function stateAfter({event, isResend}: LineFacts): number {
  if (event === 'failed') return failed;
  return isResend ? pending : done;
}
