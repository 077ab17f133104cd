import {Column, CompactMap} from '../../lib/compact-map.ts';
import {type Content, contentKey, type Variant, variantKey, variantOf} from './journal-identity.ts';
import type {FileState, PathKey, UploadLine} from './line.ts';
import {PathHistory} from './path-history.ts';

const states = ['pending', 'unknown', 'done', 'failed', 'forgotten'] as const;

/** `pending`: may be sent. `unknown`: sent without a recorded result. `forgotten`: stored, but may be sent again. */
export type UploadState = (typeof states)[number];

/** An entry of the index: the upload of one variant of one content, under one idempotency key. */
export interface IndexRow extends Variant {
  /** Its number in the index. */
  row: number;
  /** The offset in the file, in bytes, of the line with its current state. */
  offset: number;
  state: UploadState;
  size: number;
  /** Whether a run has ever released it, so that the service may know its key. */
  wasReleased: boolean;
}

/** The first half of a SHA-256 in a row without one. */
const noHash = '0'.repeat(32);

/** The uploads of a journal in memory, in columns; paths only on request. */
export class JournalIndex {
  /** The ID of the service that stored these uploads; undefined if it reports none. */
  serviceId: string | undefined;
  /** Present with `paths`, for commands that look up paths. */
  readonly history: PathHistory | undefined;
  readonly #rows = new CompactMap();
  /** The first row of each content, and all rows of a content that has several. */
  readonly #firstRows = new CompactMap();
  readonly #rowsWithEqualContent = new Map<number, number[]>();
  readonly #sizes = new Set<number>();
  /** For each type rule: the row of each state of a file. */
  readonly #fileStates = new Map<string, CompactMap>();
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #offset = new Column(Float64Array);
  readonly #size = new Column(Float64Array);
  /** The first half of each SHA-256, as four numbers; zeros for a row without a hash. */
  readonly #hash = new Column(Uint32Array);
  readonly #state = new Column(Uint8Array);
  readonly #released = new Column(Uint8Array);
  /** The variant of each upload, and its last writer, as numbers of names. */
  readonly #type = new Column(Uint32Array);
  readonly #writer = new Column(Uint32Array);
  #unreleased: {row: number; by: string; offset: number}[] = [];

  constructor(options: {paths?: boolean | undefined} = {}) {
    this.history = options.paths ? new PathHistory() : undefined;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The row of an idempotency key, or -1. */
  rowOf(key: string): number {
    return this.#rows.get(key) ?? -1;
  }

  /** A copy of a row, from 0 to size - 1; later lines do not change it. */
  entry(row: number): IndexRow {
    return {
      row,
      state: this.stateOf(row),
      size: this.#size.at(row),
      offset: this.#offset.at(row),
      wasReleased: this.#released.at(row) === 1,
      ...variantOf(this.#names[this.#type.at(row)]),
    };
  }

  stateOf(row: number): UploadState {
    return states[this.#state.at(row)] ?? 'pending';
  }

  /** Whether the index has an upload with this key in one of these states. */
  hasState(key: string, ...states: readonly UploadState[]): boolean {
    const row = this.rowOf(key);
    return row !== -1 && states.includes(this.stateOf(row));
  }

  /** The uploads of a path, the latest first; none without `paths`. */
  entriesOfPath(path: PathKey): IndexRow[] {
    return [...(this.history?.rowsOf(path) ?? [])].map(row => this.entry(row));
  }

  /** The content of an upload; undefined if no line has its hash. */
  contentOf(row: number): Content | undefined {
    let hash = '';
    for (let part = 4 * row; part < 4 * row + 4; part += 1)
      hash += this.#hash.at(part).toString(16).padStart(8, '0');
    return hash === noHash ? undefined : contentKey(hash, this.#size.at(row));
  }

  /** All uploads of this content, in the order of their hashes in the file. */
  entriesWithContent(content: Content): IndexRow[] {
    const first = this.#firstRows.get(content);
    if (first === undefined) return [];
    // A row that got another hash is still listed under the first one.
    const rows = new Set(this.#rowsWithEqualContent.get(first) ?? [first]);
    return [...rows].filter(row => this.contentOf(row) === content).map(row => this.entry(row));
  }

  /** Whether the journal has content of this size. */
  hasSize(size: number): boolean {
    return this.#sizes.has(size);
  }

  /** The upload of a file that is unchanged since; without `types`, under any type rule. */
  entryOfFile(file: FileState): IndexRow | undefined {
    const key = fileStateKey(file);
    const tables =
      file.types === undefined ? [...this.#fileStates.values()] : [this.#fileStates.get(file.types)];
    const row = tables.map(table => table?.get(key)).find(found => found !== undefined);
    return row === undefined ? undefined : this.entry(row);
  }

  /** Applies a line that begins at an offset; false if it contradicts the earlier lines. */
  apply(line: UploadLine, offset: number): boolean {
    const {event, key, by, sha256} = line;
    const isIntent = line.contentType !== undefined;
    const row = isIntent ? this.#rowForIntent(line) : this.rowOf(key);
    if (row === -1) return false;
    if (isIntent) this.#applyIntent(row, by, offset);
    if (line.path !== undefined && !this.#applySighting(row, line, offset)) return false;
    // A decision of the user repeats the hash of the commit line.
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
        // A record of another service does not count as stored.
        this.#set(row, (line.serviceId ?? this.serviceId) === this.serviceId ? 'done' : 'forgotten', offset);
        break;
      case 'failed':
        // The writer gave this commit up before its release, so it sends nothing.
        this.#unreleased = this.#unreleased.filter(commit => commit.row !== row || commit.by !== by);
        // The failure of an earlier writer does not settle an upload that another writer has released since.
        if (this.#writer.at(row) === this.#numberOf(by)) this.#setUnlessStored(row, 'failed', offset);
        break;
      case 'resolved':
        this.#setUnlessStored(row, line.as === 'resend' ? 'pending' : 'done', offset);
    }
    return true;
  }

  /** Applies a release: the writer is about to send all its commits, so they are unknown until they have a result. */
  release(by: string): void {
    const commits = this.#unreleased;
    this.#unreleased = commits.filter(commit => commit.by !== by);
    for (const {row, offset, by: writer} of commits) {
      if (writer !== by) continue;
      this.#released.set(row, 1);
      this.#writer.set(row, this.#numberOf(by));
      // The first commit stays current, since the service may know the key from then on.
      if (this.stateOf(row) !== 'unknown') this.#setUnlessStored(row, 'unknown', offset);
    }
  }

  /** Drops all commits without a release: another writer has opened the journal, so nobody sends them. */
  dropUnreleased(): void {
    this.#unreleased = [];
  }

  /** Marks an upload as forgotten, if there is one with this key: another journal has a line that forgets it. */
  forget(key: string): void {
    const row = this.rowOf(key);
    if (row !== -1) this.#state.set(row, states.indexOf('forgotten'));
  }

  /** A forgotten upload stays forgotten: later lines about it come from an older copy of the journal. */
  #set(row: number, state: UploadState, offset: number): void {
    if (this.stateOf(row) === 'forgotten') return;
    this.#state.set(row, states.indexOf(state));
    this.#offset.set(row, offset);
  }

  /** A stored upload stays stored: its record is valid whatever lines follow. */
  #setUnlessStored(row: number, state: UploadState, offset: number): void {
    if (this.stateOf(row) !== 'done') this.#set(row, state, offset);
  }

  /** The row of an upload; its first intent adds the row. */
  #rowForIntent({key, size = 0, contentType = '', transform}: UploadLine): number {
    const next = this.#rows.size;
    const row = this.#rows.set(key, next, 'kept') ?? next;
    if (row < next) return row;
    this.#size.set(row, size);
    this.#type.set(row, this.#numberOf(variantKey({contentType, transform})));
    return row;
  }

  /** Notes that a path had the content of a row; false if the line contradicts the size of that row. */
  #applySighting(row: number, {path = '', size = 0, stat, types = ''}: UploadLine, offset: number): boolean {
    const table = this.#fileStates.get(types) ?? new CompactMap();
    this.#fileStates.set(types, table);
    table.set(fileStateKey({path, size, stat}), row);
    this.history?.add(path, row, offset);
    return this.#size.at(row) === size;
  }

  /** Stores the hash of a row, and lists the row under its content. */
  #setHash(row: number, sha256: string): void {
    const content = contentKey(sha256, this.#size.at(row));
    if (this.contentOf(row) === content) return;
    for (let part = 0; part < 4; part += 1)
      this.#hash.set(4 * row + part, Number.parseInt(sha256.slice(8 * part, 8 * part + 8), 16));
    this.#sizes.add(this.#size.at(row));
    const first = this.#firstRows.set(content, row, 'kept') ?? row;
    const equals = this.#rowsWithEqualContent.get(first);
    if (equals !== undefined) equals.push(row);
    else if (first !== row) this.#rowsWithEqualContent.set(first, [first, row]);
  }

  /** A later intent with the same key is another run with the same content; an unknown upload stays unknown. */
  #applyIntent(row: number, by: string, offset: number): void {
    const state = this.stateOf(row);
    // A replaced writer may write its intent late. Its failure must not settle what its successor has released.
    if (state !== 'unknown') this.#writer.set(row, this.#numberOf(by));
    // After a release, the commit line stays current: it contains the hash.
    if (state === 'failed' || (state === 'pending' && this.#released.at(row) === 0))
      this.#set(row, 'pending', offset);
  }

  /** The number of a name, added if it is new; variants and writers share one list of names. */
  #numberOf(name: string): number {
    const existing = this.#numbers.get(name);
    if (existing !== undefined) return existing;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }
}

function fileStateKey({path, size, stat = ''}: FileState): string {
  return `${path}\0${size}\0${stat}`;
}
