import type {Host} from '../../host.ts';
import type {User} from '../../lib/files/ownership.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {parseRecord, type ReceivedRecord} from '../service/record.ts';
import {journalAccessError, unusableJournalError} from './journal-errors.ts';
import {
  blocksOf,
  emptyHandle,
  lazyHandle,
  openJournalFile,
  type ReadHandle,
  readAll,
  undefinedIfMissing,
} from './journal-file.ts';
import type {IndexRow, JournalIndex, UploadState} from './journal-index.ts';
import {type PathKey, parseLine, recordIn, type Scope, type Seed, type UploadLine} from './line.ts';
import {type Recovery, recover} from './recovery.ts';
import {commonScope} from './scope.ts';

/** How many bytes a read takes at least. */
const readAhead = 64 * 1024;
/** Each run adds lines for the same paths at the end. With three runs, four blocks are 3 times as fast as one. */
const mostBlocks = 4;

/** A journal for reading: its index, and from the file the details that the index lacks. */
export class JournalReader {
  /** The path of the file as the user wrote it. */
  readonly displayPath: string;
  readonly index: JournalIndex;
  /** The scope in the header; undefined for an empty journal. */
  scope: Scope | undefined;
  /** Where the lines of the file are read. */
  handle: ReadHandle;
  readonly #seed: Seed['lines'];
  readonly #blocks: {start: number; bytes: Buffer}[] = [];

  constructor(
    displayPath: string,
    {index, scope, seed}: Pick<Recovery, 'index' | 'scope' | 'seed'>,
    handle: ReadHandle,
  ) {
    this.displayPath = displayPath;
    this.index = index;
    this.scope = scope;
    this.#seed = seed;
    this.handle = handle;
  }

  /** The service's record of a stored upload. */
  async recordOf({offset}: IndexRow): Promise<ReceivedRecord> {
    const received =
      this.#seedLine(offset)?.received ?? parseRecord(recordIn(await this.#textAt(offset)) ?? '');
    return 'problem' in received ? this.#throwChanged() : received;
  }

  /** The line of an entry, without its record. */
  async lineOf({offset}: Pick<IndexRow, 'offset'>): Promise<UploadLine> {
    const line = this.#seedLine(offset) ?? parseLine(await this.#textAt(offset));
    return line !== undefined && 'key' in line ? line : this.#throwChanged();
  }

  /** When an unknown upload was released, in milliseconds since the Unix epoch; NaN if no line has the time. */
  async releaseTimeOf(entry: IndexRow): Promise<number> {
    // A manifest has no times.
    if (entry.offset < 0) return Number.NaN;
    const {by} = await this.lineOf(entry);
    for await (const lines of blocksOf(this.handle, this.displayPath, entry.offset)) {
      for (const {bytes} of lines) {
        const line = parseLine(bytes.toString());
        if (line?.event === 'release' && line.by === by) return Date.parse(line.at ?? '');
      }
    }
    return Number.NaN;
  }

  /** The error of a failed upload. */
  async failureOf(entry: IndexRow): Promise<{code: string; message: string}> {
    const {error} = await this.lineOf(entry);
    return {code: String(error?.code ?? ''), message: String(error?.message ?? '')};
  }

  /** All paths, in the order of their first lines; only with `paths`. */
  async *paths(): AsyncGenerator<PathKey> {
    for (const offset of this.index.history?.firstOffsets ?? []) {
      const {path} = await this.lineOf({offset});
      yield path ?? this.#throwChanged();
    }
  }

  /** The uploads of a path in a state, the latest first; only with `paths`. */
  entriesOf(path: PathKey, state: UploadState): IndexRow[] {
    return this.index.entriesOfPath(path).filter(entry => entry.state === state);
  }

  /** All uploads in a state, each with one of its paths; only with `paths`. */
  async *entriesIn(state: UploadState): AsyncGenerator<{path: PathKey; entry: IndexRow}> {
    const rowsSoFar = new Set<number>();
    for await (const path of this.paths()) {
      for (const entry of this.entriesOf(path, state)) {
        if (!rowsSoFar.has(entry.row)) yield {path, entry};
        rowsSoFar.add(entry.row);
      }
    }
  }

  /** All lines about uploads, each with its text. */
  async *lines(): AsyncGenerator<(UploadLine & {text: string})[]> {
    for await (const lines of blocksOf(this.handle, this.displayPath, 0)) {
      yield [...lines].flatMap(({bytes}) => {
        const text = bytes.toString();
        const line = parseLine(text);
        // V8 of Node 20 keeps copies made by spreading until its next full collection: 90 MiB of a million lines.
        return line !== undefined && 'key' in line ? [Object.assign(line, {text})] : [];
      });
    }
  }

  #seedLine(offset: number): Seed['lines'][number] | undefined {
    return this.#seed[this.#seed.length + offset];
  }

  #throwChanged(): never {
    throw unusableJournalError(
      `The journal ${this.displayPath} was changed while it was being read`,
      'Try again.',
    );
  }

  /** The line at an offset. Keeps a few blocks, since callers read lines in order, and lines never change. */
  async #textAt(offset: number): Promise<string> {
    for (let length = readAhead; ; length *= 2) {
      for (const {start, bytes} of this.#blocks) {
        const end = offset < start ? -1 : bytes.indexOf(10, offset - start);
        if (end !== -1) return bytes.toString('utf8', offset - start, end);
      }
      const block = await readAll(this.handle, offset, length).catch(error => {
        throw journalAccessError(this.displayPath, 'read', error);
      });
      if (this.#blocks.push({start: offset, bytes: block}) > mostBlocks) this.#blocks.shift();
      // The last line of a file may have no line break.
      if (block.length < length && !block.includes(10)) return block.toString();
    }
  }
}

/**
 * Reads a journal and closes it, since a command may read hundreds. `user`: as in openJournalFile(). `seed`: the lines
 * before those of the file, which may be missing then. `displayPath`: the path for messages.
 */
export async function readJournal(
  path: string,
  {cwd, files}: Pick<Host, 'cwd' | 'files'>,
  {
    user,
    displayPath = path,
    ...options
  }: {paths?: boolean; user?: User | undefined; seed?: Seed | undefined; displayPath?: string} = {},
): Promise<JournalReader> {
  const absolute = resolveUserPath(cwd(), path);
  const opening = openJournalFile(files, absolute, displayPath, 'read', {user});
  const handle = await (options.seed === undefined ? opening : opening.catch(undefinedIfMissing));
  const recovery = await recover(handle ?? emptyHandle, displayPath, options).finally(() => handle?.close());
  recovery.processUnfinishedLine();
  const reading = handle === undefined ? emptyHandle : lazyHandle(files, absolute, displayPath, user);
  return new JournalReader(displayPath, recovery, reading);
}

/** Reads journals; rejects unless all belong to one service. An upload that one has forgotten is forgotten in all. */
export async function readJournals(
  paths: readonly string[],
  host: Pick<Host, 'cwd' | 'files'>,
  options?: {paths?: boolean},
): Promise<JournalReader[]> {
  const readers: JournalReader[] = [];
  for (const path of paths) readers.push(await readJournal(path, host, options));
  commonScope(readers);
  for (const reader of readers) {
    for (let row = 0; row < reader.index.size; row += 1) {
      if (reader.index.stateOf(row) !== 'forgotten') continue;
      const {key} = await reader.lineOf(reader.index.entry(row));
      for (const {index} of readers) index.forget(key);
    }
  }
  return readers;
}
