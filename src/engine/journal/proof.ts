import {type Content, contentKey, variantKey} from './journal-identity.ts';
import type {IndexRow} from './journal-index.ts';
import {fileStateOf, type JournalInput} from './journal-memory.ts';
import {type PathKey, pathKey} from './line.ts';
import type {JournalReader} from './reader.ts';

/** Whether the journals have the content of an input exactly once. */
export interface Verdict {
  /** `refused`: no journal has it, and an upload would refuse it before it sends. */
  status: 'once' | 'missing' | 'doubled' | 'unknown' | 'refused';
  path: PathKey;
  /** Why the status is not `once`, as a phrase. */
  reason: string;
  /** The media IDs of its copies, if it is doubled. */
  ids: string[];
  /** Set if another shard has stored the same content under another path. */
  isElsewhere?: true;
}

/** Computes the SHA-256 of an input's content, in hex; called only if no journal has it. */
type ContentHash = () => Promise<string>;

interface Row {
  reader: JournalReader;
  entry: IndexRow;
}

/** Several journals of one service, which were read with `paths`. */
export class JournalSet {
  readonly #readers: readonly JournalReader[];

  constructor(readers: readonly JournalReader[]) {
    this.#readers = readers;
  }

  /** Checks that the content of an input has one stored copy, under any path, and no unknown upload. */
  async checkInput(input: JournalInput, hash: ContentHash): Promise<Verdict> {
    const path = pathKey(input.path);
    const content = this.#recordedContent(input) ?? contentKey(await hash(), input.size);
    const rows = this.#rowsWithContent(content);
    const unknown = await unknownVerdict(path, rows);
    if (unknown !== undefined) return unknown;
    const done = rows.filter(({entry}) => entry.state === 'done');
    if (done.length === 0) return verdict('missing', path, await this.#missingReason(path));
    return this.#judgeCopies(path, done, this.#rowsOfPath(path));
  }

  /** Checks all paths in the journals, in the order of their first lines. */
  async *checkAllPaths(): AsyncGenerator<Verdict> {
    for (const [number, reader] of this.#readers.entries()) {
      const earlier = this.#readers.slice(0, number);
      for await (const path of reader.paths()) {
        const isNew = earlier.every(({index}) => index.entriesOfPath(path).length === 0);
        if (isNew) yield await this.#checkPath(path);
      }
    }
  }

  /** Judges a path without its file: its latest upload in each journal must be stored in a journal, and none twice. */
  async #checkPath(path: PathKey): Promise<Verdict> {
    const ofPath = this.#rowsOfPath(path);
    const rows = ofPath.flatMap(({reader, entry}) => {
      const content = reader.index.contentOf(entry.row);
      return content === undefined ? [] : this.#rowsWithContent(content);
    });
    const unknown = await unknownVerdict(path, rows);
    if (unknown !== undefined) return unknown;
    const stored = rows.filter(({entry}) => entry.state === 'done');
    for (const reader of this.#readers) {
      const [latest] = reader.index.entriesOfPath(path);
      if (latest === undefined || latest.state === 'done') continue;
      if (stored.some(one => isSameContent(one, {reader, entry: latest}))) continue;
      const {key} = await reader.lineOf(latest);
      // Another copy of this journal may have a later upload of the same file.
      const hasLater = ({index}: JournalReader) =>
        index.rowOf(key) !== -1 && index.entriesOfPath(path)[0]?.state === 'done';
      if (!this.#readers.some(hasLater)) return verdict('missing', path, await entryReason(reader, latest));
    }
    let elsewhere: Verdict | undefined;
    for (const {reader, entry} of ofPath) {
      const content = entry.state === 'done' ? reader.index.contentOf(entry.row) : undefined;
      if (content === undefined) continue;
      const done = this.#rowsWithContent(content).filter(one => one.entry.state === 'done');
      const copies = await this.#judgeCopies(path, done, ofPath);
      if (copies.status === 'doubled') return copies;
      if (copies.isElsewhere) elsewhere = copies;
    }
    return elsewhere ?? verdict('once', path, '');
  }

  /** Checks that each variant of a content is stored once. Shards may each have stored it, since they run apart. */
  async #judgeCopies(path: PathKey, done: readonly Row[], ofPath: readonly Row[]): Promise<Verdict> {
    let isElsewhere = false;
    for (const variant of new Set(done.map(({entry}) => variantKey(entry)))) {
      const sameVariant = done.filter(({entry}) => variantKey(entry) === variant);
      const ids = await mediaIdsOf(sameVariant);
      if (ids.length < 2) continue;
      const isOfPath = ({reader, entry: {row}}: Row) =>
        ofPath.some(other => other.reader === reader && other.entry.row === row);
      const groups = [sameVariant.filter(isOfPath)];
      for (const reader of this.#readers) {
        const ofReader = sameVariant.filter(one => one.reader === reader);
        // A merged journal has uploads of several parts; only those of its own runs have a release.
        if (ofReader.some(({entry}) => entry.wasReleased)) groups.push(ofReader);
      }
      for (const group of groups) {
        const groupIds = await mediaIdsOf(group);
        if (groupIds.length > 1) return verdict('doubled', path, `stored ${ids.length} times`, ids);
      }
      isElsewhere = true;
    }
    const once = verdict('once', path, '');
    return isElsewhere ? {...once, isElsewhere} : once;
  }

  /** The content of an input by its path and stat, so that it need not be read; undefined if no journal knows that. */
  #recordedContent(input: JournalInput): Content | undefined {
    if (input.stat === undefined) return undefined;
    for (const {index} of this.#readers) {
      const entry = index.entryOfFile(fileStateOf(input));
      const content = entry && index.contentOf(entry.row);
      if (content !== undefined) return content;
    }
    return undefined;
  }

  #rowsWithContent(content: Content): Row[] {
    return this.#readers.flatMap(reader =>
      reader.index.entriesWithContent(content).map(entry => ({reader, entry})),
    );
  }

  #rowsOfPath(path: PathKey): Row[] {
    return this.#readers.flatMap(reader => reader.index.entriesOfPath(path).map(entry => ({reader, entry})));
  }

  async #missingReason(path: PathKey): Promise<string> {
    const [latest] = this.#rowsOfPath(path);
    if (latest === undefined) return 'not in any of the journals';
    if (latest.entry.state === 'done') return 'only stored with different content';
    return entryReason(latest.reader, latest.entry);
  }
}

function verdict(status: Verdict['status'], path: PathKey, reason: string, ids: string[] = []): Verdict {
  return {status, path, reason, ids};
}

/** Whether two uploads have the same content; without a hash of the second, whether another journal has its size. */
function isSameContent(upload: Row, {reader, entry}: Row): boolean {
  const content = reader.index.contentOf(entry.row);
  if (content === undefined) return upload.reader !== reader && upload.entry.size === entry.size;
  return upload.reader.index.contentOf(upload.entry.row) === content;
}

/** The verdict on a path with an unknown upload, unless another journal has that upload as stored. */
async function unknownVerdict(path: PathKey, rows: readonly Row[]): Promise<Verdict | undefined> {
  for (const {reader, entry} of rows) {
    if (entry.state !== 'unknown') continue;
    const {key} = await reader.lineOf(entry);
    if (rows.some(other => other.reader.index.hasState(key, 'done'))) continue;
    return verdict('unknown', path, `sent, but no result is recorded in ${reader.displayPath}`);
  }
  return undefined;
}

/** Why an upload is not stored, as a phrase. */
export async function entryReason(reader: JournalReader, entry: IndexRow): Promise<string> {
  switch (entry.state) {
    case 'failed': {
      const {code, message} = await reader.failureOf(entry);
      return message || code;
    }
    case 'unknown':
      return 'sent, but no result is recorded';
    case 'pending':
      return entry.wasReleased ? 'to be sent again' : 'not sent completely';
    case 'forgotten':
      return 'forgotten; the next run sends it';
    case 'done':
      return '';
  }
}

/** The media IDs of stored uploads, each once: copies of a journal have the same records. */
async function mediaIdsOf(rows: readonly Row[]): Promise<string[]> {
  const records = await Promise.all(rows.map(({reader, entry}) => reader.recordOf(entry)));
  return [...new Set(records.map(({record}) => record.id))];
}
