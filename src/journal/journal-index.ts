import {Column, CompactMap} from '../lib/tables.ts';
import {type Content, contentOf, type Variant, variantKey, variantOf} from './identity.ts';
import type {FileState, PathKey, UploadLine} from './line.ts';
import {PathHistory} from './path-history.ts';

const states = ['pending', 'unknown', 'done', 'failed', 'forgotten'] as const;

/** `pending`: may be sent. `unknown`: released without a recorded result. `forgotten`: stored, but no longer counts. */
export type UploadState = (typeof states)[number];

/** The upload of some content, sent in one way and under one idempotency key. */
export interface IndexRow extends Variant {
  /** The row in the index. */
  row: number;
  /** Where the line with its current state begins, in bytes. */
  offset: number;
  state: UploadState;
  size: number;
  /** Whether it was ever released, so that the service may know its key. */
  wasReleased: boolean;
}

/** A journal in memory, without paths unless they are requested. */
export class JournalIndex {
  /** The service that has stored all of this, as far as it said which one it is. */
  serviceId: string | undefined;
  /** Present on request, for commands that look up paths. */
  readonly history: PathHistory | undefined;
  readonly #rows = new CompactMap();
  /** The first upload of each content, and all of those that have several. */
  readonly #firstRows = new CompactMap();
  readonly #rowsWithEqualContent = new Map<number, number[]>();
  readonly #sizes = new Set<number>();
  /** The upload of each state of a file, for each rule that decided its content type. */
  readonly #fileStates = new Map<string, CompactMap>();
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #offset = new Column(Float64Array);
  readonly #size = new Column(Float64Array);
  /** The first half of each SHA-256, in four numbers. */
  readonly #hash = new Column(Uint32Array);
  readonly #state = new Column(Uint8Array);
  readonly #released = new Column(Uint8Array);
  /** How each upload was sent, and its last writer, as numbers of names. */
  readonly #type = new Column(Uint32Array);
  readonly #writer = new Column(Uint32Array);
  #unreleased: {row: number; by: string; offset: number}[] = [];

  constructor(options: {paths?: boolean | undefined} = {}) {
    this.history = options.paths ? new PathHistory() : undefined;
  }

  /** The number of uploads. */
  get size(): number {
    return this.#rows.size;
  }

  /** The row of an idempotency key, or -1. */
  rowOf(key: string): number {
    return this.#rows.get(key) ?? -1;
  }

  entry(row: number): IndexRow {
    return {
      row,
      state: this.stateOf(row),
      size: this.#size.at(row),
      ...variantOf(this.#names[this.#type.at(row)]),
      offset: this.#offset.at(row),
      wasReleased: this.#released.at(row) === 1,
    };
  }

  stateOf(row: number): UploadState {
    return states[this.#state.at(row)] ?? 'pending';
  }

  /** Whether the upload with this key is known, and in one of these states. */
  isIn(key: string, ...states: readonly UploadState[]): boolean {
    const row = this.rowOf(key);
    return row !== -1 && states.includes(this.stateOf(row));
  }

  /** The uploads of a path, latest first; none without `paths`. */
  entriesOf(path: PathKey): IndexRow[] {
    return [...(this.history?.rowsOf(path) ?? [])].map(row => this.entry(row));
  }

  /** The content of an upload that was released; undefined if nobody has hashed it. */
  contentOf(row: number): Content | undefined {
    let sha256 = '';
    for (let at = 4 * row; at < 4 * row + 4; at += 1) {
      const part = this.#hash.at(at);
      // Rows without a hash hold zeros.
      if (part === 0 && at === 4 * row && this.#hash.at(at + 1) === 0) return undefined;
      sha256 += part.toString(16).padStart(8, '0');
    }
    return contentOf(sha256, this.#size.at(row));
  }

  /** All uploads with this content, in the order in which they were hashed. */
  entriesWith(content: Content): IndexRow[] {
    const first = this.#firstRows.get(content);
    if (first === undefined) return [];
    const rows = new Set(this.#rowsWithEqualContent.get(first) ?? [first]);
    return [...rows].filter(row => this.contentOf(row) === content).map(row => this.entry(row));
  }

  /** Whether content of this size is known. */
  hasSize(size: number): boolean {
    return this.#sizes.has(size);
  }

  /** The upload for a file in this state; if `types` is given, it must match too. */
  entryOfFile(file: FileState): IndexRow | undefined {
    const key = keyOf(file);
    const tables =
      file.types === undefined ? [...this.#fileStates.values()] : [this.#fileStates.get(file.types)];
    const row = tables.map(table => table?.get(key)).find(found => found !== undefined);
    return row === undefined ? undefined : this.entry(row);
  }

  /** Adds a line, which begins at an offset; false if it does not fit the earlier ones. */
  apply(line: UploadLine, offset: number): boolean {
    const {event, key, by, sha256} = line;
    const isIntent = line.contentType !== undefined;
    const row = isIntent ? this.#rowForIntent(line) : this.rowOf(key);
    if (row === -1) return false;
    if (isIntent) this.#applyIntent(row, by, offset);
    if (line.path !== undefined && !this.#applySighting(row, line, offset)) return false;
    // Usually the hash was in the commit line.
    if (sha256 && (event !== 'resolved' || this.contentOf(row) === undefined)) this.#setHash(row, sha256);
    switch (event) {
      case 'commit':
        this.#unreleased.push({row, by, offset});
        break;
      case 'forgotten':
        this.#set(row, 'forgotten', offset);
        break;
      case 'done':
        this.serviceId ??= line.serviceId;
        // What another service has stored does not count here.
        this.#set(row, (line.serviceId ?? this.serviceId) === this.serviceId ? 'done' : 'forgotten', offset);
        break;
      case 'failed':
        // What its writer gave up before the release is not sent.
        this.#unreleased = this.#unreleased.filter(commit => commit.row !== row || commit.by !== by);
        // If another writer has released this upload since, the failure of the earlier one says nothing about it.
        if (this.#writer.at(row) === this.#numberOf(by)) this.#settle(row, 'failed', offset);
        break;
      case 'resolved':
        this.#settle(row, line.as === 'resend' ? 'pending' : 'done', offset);
    }
    return true;
  }

  /** Everything that a writer has committed is about to be sent: without a result, it is unknown. */
  release(by: string): void {
    const commits = this.#unreleased;
    this.#unreleased = commits.filter(commit => commit.by !== by);
    for (const {row, offset, by: writer} of commits) {
      if (writer !== by) continue;
      this.#released.set(row, 1);
      this.#writer.set(row, this.#numberOf(by));
      // Only the first commit counts, since the service may have known the key from then on.
      if (this.stateOf(row) !== 'unknown') this.#settle(row, 'unknown', offset);
    }
  }

  /** Commits that were not released when another writer opened the journal are never sent. */
  withdraw(): void {
    this.#unreleased = [];
  }

  /** Counts an upload as forgotten because another journal says so. */
  forget(key: string): void {
    const row = this.rowOf(key);
    if (row !== -1) this.#state.set(row, states.indexOf('forgotten'));
  }

  /** What is forgotten gets no other state: a line that says so is of an older copy in the same file. */
  #set(row: number, state: UploadState, offset: number): void {
    if (this.stateOf(row) === 'forgotten') return;
    this.#state.set(row, states.indexOf(state));
    this.#offset.set(row, offset);
  }

  /** A stored record stays valid whatever follows it. */
  #settle(row: number, state: UploadState, offset: number): void {
    if (this.stateOf(row) !== 'done') this.#set(row, state, offset);
  }

  /** The row of an upload, which it gets with its first intent. */
  #rowForIntent({key, size = 0, contentType = '', transform}: UploadLine): number {
    const next = this.#rows.size;
    const row = this.#rows.set(key, next, 'kept') ?? next;
    if (row === next) this.#size.set(row, size);
    if (row === next) this.#type.set(row, this.#numberOf(variantKey({contentType, transform})));
    return row;
  }

  #applySighting(row: number, {path = '', size = 0, stat, types = ''}: UploadLine, offset: number): boolean {
    const table = this.#fileStates.get(types) ?? new CompactMap();
    this.#fileStates.set(types, table);
    table.set(keyOf({path, size, stat}), row);
    this.history?.add(path, row, offset);
    return this.#size.at(row) === size;
  }

  #setHash(row: number, sha256: string): void {
    const content = contentOf(sha256, this.#size.at(row));
    if (this.contentOf(row) === content) return;
    for (let part = 0; part < 4; part += 1)
      this.#hash.set(4 * row + part, Number.parseInt(sha256.slice(8 * part, 8 * part + 8), 16));
    this.#sizes.add(this.#size.at(row));
    const first = this.#firstRows.set(content, row, 'kept') ?? row;
    const equals = this.#rowsWithEqualContent.get(first);
    if (equals !== undefined) equals.push(row);
    else if (first !== row) this.#rowsWithEqualContent.set(first, [first, row]);
  }

  /** An intent with the same key is another run with the same content. It does not settle an unknown upload. */
  #applyIntent(row: number, by: string, offset: number): void {
    const state = this.stateOf(row);
    // A replaced writer may write this late: its failure must not settle what its successor has released.
    if (state !== 'unknown') this.#writer.set(row, this.#numberOf(by));
    // If it was released, its current line contains the hash.
    if (state === 'failed' || (state === 'pending' && this.#released.at(row) === 0))
      this.#set(row, 'pending', offset);
  }

  #numberOf(name: string): number {
    const existing = this.#numbers.get(name);
    if (existing !== undefined) return existing;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }
}

function keyOf({path, size, stat = ''}: FileState): string {
  return `${path}\0${size}\0${stat}`;
}
