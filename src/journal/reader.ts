import type {Host} from '../host.ts';
import type {User} from '../lib/files/ownership.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {parseRecord, type ReceivedRecord} from '../service/record.ts';
import {journalFailed, unusable} from './errors.ts';
import {blocksOf, openJournalFile, type ReadHandle, readAll, reopening} from './file.ts';
import type {IndexRow, JournalIndex, UploadState} from './journal-index.ts';
import {type PathKey, parseLine, recordIn, type Scope, type UploadLine} from './line.ts';
import {type Recovery, recover} from './recovery.ts';
import {commonScope} from './scope.ts';

/** The least number of bytes per read. */
const readAhead = 64 * 1024;
/** The results of a path are in the parts of the file that several runs wrote: for three runs, this is 3 times as fast as one block. */
const mostBlocks = 4;

/** A journal that was read: its entries, and the details in their lines. */
export class JournalReader {
  /** The file as the user named it. */
  readonly shown: string;
  readonly index: JournalIndex;
  /** The service and part that it belongs to; undefined for an empty journal. */
  scope: Scope | undefined;
  readonly #handle: ReadHandle;
  /** The blocks that were read last. */
  readonly #blocks: {start: number; bytes: Buffer}[] = [];

  constructor(shown: string, {index, scope}: Pick<Recovery, 'index' | 'scope'>, handle: ReadHandle) {
    this.shown = shown;
    this.index = index;
    this.scope = scope;
    this.#handle = handle;
  }

  /** The record of an entry that is done, as the service sent it. */
  async recordOf(entry: IndexRow): Promise<ReceivedRecord> {
    const received = parseRecord(recordIn(await this.#textAt(entry.offset)) ?? '');
    return 'problem' in received ? this.#changed() : received;
  }

  /** The line of an entry, without its record. */
  async lineOf({offset}: Pick<IndexRow, 'offset'>): Promise<UploadLine> {
    const line = parseLine(await this.#textAt(offset));
    return line !== undefined && 'key' in line ? line : this.#changed();
  }

  /** When an unknown upload was released, in milliseconds since the Unix epoch; NaN if that cannot be told. */
  async timeOf(entry: IndexRow): Promise<number> {
    const {by} = await this.lineOf(entry);
    for await (const lines of blocksOf(this.#handle, this.shown, entry.offset)) {
      for (const {bytes} of lines) {
        const line = parseLine(bytes.toString());
        if (line?.event === 'release' && line.by === by) return Date.parse(line.at ?? '');
      }
    }
    return Number.NaN;
  }

  /** Why an entry failed. */
  async failureOf(entry: IndexRow): Promise<{code: string; message: string}> {
    const {error} = await this.lineOf(entry);
    return {code: String(error?.code ?? ''), message: String(error?.message ?? '')};
  }

  /** All paths, in the order of their first lines. Needs `paths`. */
  async *paths(): AsyncGenerator<PathKey> {
    for (const offset of this.index.history?.firsts ?? []) {
      const {path} = await this.lineOf({offset});
      yield path ?? this.#changed();
    }
  }

  /** The entries of a path in a state, latest first. Needs `paths`. */
  entriesOf(path: PathKey, state: UploadState): IndexRow[] {
    return this.index.entriesOf(path).filter(entry => entry.state === state);
  }

  /** All entries in a state, each with one of its paths. Needs `paths`. */
  async *entriesIn(state: UploadState): AsyncGenerator<{path: PathKey; entry: IndexRow}> {
    const seen = new Set<number>();
    for await (const path of this.paths()) {
      for (const entry of this.entriesOf(path, state)) {
        if (!seen.has(entry.row)) yield {path, entry};
        seen.add(entry.row);
      }
    }
  }

  /** All lines about uploads, each with its text. */
  async *lines(): AsyncGenerator<(UploadLine & {text: string})[]> {
    for await (const lines of blocksOf(this.#handle, this.shown, 0)) {
      yield [...lines].flatMap(({bytes}) => {
        const text = bytes.toString();
        const line = parseLine(text);
        return line !== undefined && 'key' in line ? [{...line, text}] : [];
      });
    }
  }

  #changed(): never {
    throw unusable(`The journal ${this.shown} was changed while it was being read`, 'Try again.');
  }

  /** The line that begins at an offset. Lines are usually read in order, or in that of several runs, and written lines never change. */
  async #textAt(offset: number): Promise<string> {
    for (let length = readAhead; ; length *= 2) {
      for (const {start, bytes} of this.#blocks) {
        const end = offset < start ? -1 : bytes.indexOf(10, offset - start);
        if (end !== -1) return bytes.toString('utf8', offset - start, end);
      }
      const block = await readAll(this.#handle, offset, length).catch(error => {
        throw journalFailed(this.shown, 'read', error);
      });
      if (this.#blocks.push({start: offset, bytes: block}) > mostBlocks) this.#blocks.shift();
      // The last line of a file may have no line break.
      if (block.length < length && !block.includes(10)) return block.toString();
    }
  }
}

/** Reads a journal, which a run may use meanwhile; it does not stay open, since there may be hundreds. `user`: as in openJournalFile(). */
export async function readJournal(
  path: string,
  {cwd, files}: Pick<Host, 'cwd' | 'files'>,
  {user, ...options}: {paths?: boolean; user?: User} = {},
): Promise<JournalReader> {
  const absolute = typedPath(cwd(), path);
  const handle = await openJournalFile(files, absolute, path, 'read', {user});
  const recovery = await recover(handle, path, options).finally(() => handle.close());
  recovery.takeRest();
  return new JournalReader(path, recovery, reopening(files, absolute, path, user));
}

/** Reads journals of one service; rejects if they are of several. What one has forgotten is forgotten in its copies, too. */
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
