import type {ParsedLine, PathKey} from './lines.ts';

/** `pending`: nothing was released, or it is to be sent again. `unknown`: released, and no end is recorded. */
export type EntryState = 'pending' | 'unknown' | 'done' | 'failed';

/** One content of one input, under one idempotency key. */
export interface Entry {
  readonly key: string;
  readonly path: PathKey;
  size: number;
  mtimeNs: bigint;
  state: EntryState;
  /** Where the line stands that tells of the state; its hash, record or reason is read from there when asked for. */
  offset: number;
  length: number;
  /** Whether it was released at some time, so that the service may know its key. */
  released: boolean;
  /** Whether its outcome was unknown when a run sent other content of its path: it may be stored all the same. */
  inDoubt: boolean;
  /** Whether this run is at work on it. */
  live: boolean;
  /** Whether this run has met its path. */
  met: boolean;
  /** The entry of the same path before it. */
  readonly before: Entry | undefined;
}

/** What a journal says of its inputs, as small as it can be held. */
export class JournalIndex {
  readonly #byKey = new Map<string, Entry>();
  readonly #lastOfPath = new Map<PathKey, Entry>();

  get size(): number {
    return this.#byKey.size;
  }

  /** All entries of a path, the latest first. */
  *entriesOf(path: PathKey): Generator<Entry, undefined> {
    for (let entry = this.#lastOfPath.get(path); entry !== undefined; entry = entry.before) yield entry;
  }

  /** The latest entry of a path. */
  lastOf(path: PathKey): Entry | undefined {
    return this.#lastOfPath.get(path);
  }

  get(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  /** All paths, in the order in which they came first. */
  paths(): IterableIterator<PathKey> {
    return this.#lastOfPath.keys();
  }

  /** Takes in a line that stands at `offset`; false when it does not fit what came before it. */
  apply(line: Exclude<ParsedLine, {event: 'header'}>, offset: number, length: number): boolean {
    const known = this.#byKey.get(line.key);
    if (line.event === 'intent') {
      if (known === undefined) this.#add(line, offset, length);
      return known === undefined || this.#repeat(known, line, offset, length);
    }
    if (known === undefined) return false;
    if (line.event === 'commit') known.released = true;
    // A stored record stays true whatever follows it.
    if (known.state !== 'done' || line.event === 'done') {
      known.state = stateAfter(line);
      if (line.event === 'resolved') known.inDoubt = line.byRun === true;
      known.offset = offset;
      known.length = length;
    }
    return true;
  }

  #add(
    {key, path, size, mtimeNs}: Extract<ParsedLine, {event: 'intent'}>,
    offset: number,
    length: number,
  ): void {
    const before = this.#lastOfPath.get(path);
    const entry: Entry = {
      key,
      // One string a path, however many entries it has.
      path: before?.path ?? path,
      size,
      mtimeNs,
      state: 'pending',
      offset,
      length,
      released: false,
      inDoubt: false,
      live: false,
      met: false,
      before,
    };
    this.#byKey.set(key, entry);
    this.#lastOfPath.set(entry.path, entry);
  }

  /** The same key once more: another run at the same content. It settles nothing that is unknown. */
  #repeat(
    known: Entry,
    line: Extract<ParsedLine, {event: 'intent'}>,
    offset: number,
    length: number,
  ): boolean {
    if (known.path !== line.path) return false;
    if (known.state === 'done' || known.state === 'unknown') return true;
    known.size = line.size;
    known.mtimeNs = line.mtimeNs;
    // The line of one that was released tells its hash.
    if (known.state === 'pending' && known.released) return true;
    known.state = 'pending';
    known.offset = offset;
    known.length = length;
    return true;
  }
}

function stateAfter(line: Exclude<ParsedLine, {event: 'header' | 'intent'}>): EntryState {
  switch (line.event) {
    case 'commit':
      return 'unknown';
    case 'done':
      return 'done';
    case 'failed':
      return 'failed';
    case 'resolved':
      return line.as === 'uploaded' ? 'done' : 'pending';
  }
}
