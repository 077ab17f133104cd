import {type Content, contentOf, variantKey} from './identity.ts';
import type {IndexRow} from './journal-index.ts';
import {type PathKey, pathKey} from './line.ts';
import {fileStateOf, type JournalInput} from './memory.ts';
import type {JournalReader} from './reader.ts';

/** Whether the content of an input is recorded exactly once, and if not, why. */
export interface Verdict {
  /** `refused`: it is not recorded, and an upload refuses it before it is sent. */
  status: 'once' | 'missing' | 'doubled' | 'unknown' | 'refused';
  path: PathKey;
  /** What was found instead, for people. */
  reason: string;
  /** The media IDs of the stored copies. */
  ids: string[];
  /** Set if the same content is also stored under other paths, since parts of a run do not know of each other. */
  isElsewhere?: true;
}

/** Returns the SHA-256 of an input's content, in hex; called only if the journals do not know it. */
type ContentHash = () => Promise<string>;

interface Found {
  reader: JournalReader;
  entry: IndexRow;
}

/** Several journals of one service; they must have been read with `paths`. */
export class JournalSet {
  readonly #readers: readonly JournalReader[];

  constructor(readers: readonly JournalReader[]) {
    this.#readers = readers;
  }

  /** Checks an input by its content: it needs one stored copy, under any path, and no unknown upload. */
  async prove(input: JournalInput, hash: ContentHash): Promise<Verdict> {
    const path = pathKey(input.path);
    const content = this.#recalled(input) ?? contentOf(await hash(), input.size);
    const found = this.#withContent(content);
    const unknown = await unknownVerdict(path, found);
    if (unknown !== undefined) return unknown;
    const done = found.filter(({entry}) => entry.state === 'done');
    if (done.length === 0) return verdict('missing', path, await this.#missingReason(path));
    return this.#judge(path, done, this.#ofPath(path));
  }

  /** Checks all paths in the journals, in the order of their first line. */
  async *proveAll(): AsyncGenerator<Verdict> {
    for (const [number, reader] of this.#readers.entries()) {
      const earlier = this.#readers.slice(0, number);
      for await (const path of reader.paths()) {
        const isNew = earlier.every(({index}) => index.entriesOf(path).length === 0);
        if (isNew) yield await this.#provePath(path);
      }
    }
  }

  async #provePath(path: PathKey): Promise<Verdict> {
    const seen = this.#ofPath(path);
    const found = seen.flatMap(({reader, entry}) => {
      const content = reader.index.contentOf(entry.row);
      return content === undefined ? [] : this.#withContent(content);
    });
    const unknown = await unknownVerdict(path, found);
    if (unknown !== undefined) return unknown;
    const stored = found.filter(({entry}) => entry.state === 'done');
    for (const reader of this.#readers) {
      const [latest] = reader.index.entriesOf(path);
      if (latest === undefined || latest.state === 'done') continue;
      if (stored.some(one => isSameContent(one, {reader, entry: latest}))) continue;
      const {key} = await reader.lineOf(latest);
      // A continued copy of the journal may have a later upload of the same file.
      const hasLater = ({index}: JournalReader) =>
        index.rowOf(key) !== -1 && index.entriesOf(path)[0]?.state === 'done';
      if (!this.#readers.some(hasLater)) return verdict('missing', path, await entryReason(reader, latest));
    }
    let elsewhere: Verdict | undefined;
    for (const {reader, entry} of seen) {
      const content = entry.state === 'done' ? reader.index.contentOf(entry.row) : undefined;
      if (content === undefined) continue;
      const done = this.#withContent(content).filter(one => one.entry.state === 'done');
      const judged = await this.#judge(path, done, seen);
      if (judged.status === 'doubled') return judged;
      if (judged.isElsewhere) elsewhere = judged;
    }
    return elsewhere ?? verdict('once', path, '');
  }

  /** Content that is sent in one way needs one record; parts that divide paths cannot know of each other's. */
  async #judge(path: PathKey, done: readonly Found[], ofPath: readonly Found[]): Promise<Verdict> {
    if (done.length === 1) return verdict('once', path, '', await idsOf(done));
    let isElsewhere = false;
    for (const way of new Set(done.map(({entry}) => variantKey(entry)))) {
      const sent = done.filter(({entry}) => variantKey(entry) === way);
      const ids = await idsOf(sent);
      if (ids.length < 2) continue;
      const isOfPath = ({reader, entry: {row}}: Found) =>
        ofPath.some(other => other.reader === reader && other.entry.row === row);
      const groups = [sent.filter(isOfPath)];
      for (const reader of this.#readers) groups.push(sent.filter(one => one.reader === reader));
      for (const group of groups) {
        const doubled = await idsOf(group);
        if (doubled.length > 1) return verdict('doubled', path, `stored ${ids.length} times`, ids);
      }
      isElsewhere = true;
    }
    const once = verdict('once', path, '', await idsOf(done.slice(0, 1)));
    return isElsewhere ? {...once, isElsewhere} : once;
  }

  #recalled(input: JournalInput): Content | undefined {
    if (input.stat === undefined) return undefined;
    for (const {index} of this.#readers) {
      const entry = index.entryOfFile(fileStateOf(input));
      const content = entry && index.contentOf(entry.row);
      if (content !== undefined) return content;
    }
    return undefined;
  }

  #withContent(content: Content): Found[] {
    return this.#readers.flatMap(reader => reader.index.entriesWith(content).map(entry => ({reader, entry})));
  }

  #ofPath(path: PathKey): Found[] {
    return this.#readers.flatMap(reader => reader.index.entriesOf(path).map(entry => ({reader, entry})));
  }

  async #missingReason(path: PathKey): Promise<string> {
    const [latest] = this.#ofPath(path);
    if (latest === undefined) return 'not in any of the journals';
    if (latest.entry.state === 'done') return 'only stored with different content';
    return entryReason(latest.reader, latest.entry);
  }
}

function verdict(status: Verdict['status'], path: PathKey, reason: string, ids: string[] = []): Verdict {
  return {status, path, reason, ids};
}

/** Whether a stored upload has the content of another one; if nobody has hashed that, its size in another journal is all that shows it. */
function isSameContent(stored: Found, {reader, entry}: Found): boolean {
  const content = reader.index.contentOf(entry.row);
  if (content === undefined) return stored.reader !== reader && stored.entry.size === entry.size;
  return stored.reader.index.contentOf(stored.entry.row) === content;
}

/** The verdict on a path with an unknown upload that no other journal knows to be done. */
async function unknownVerdict(path: PathKey, found: readonly Found[]): Promise<Verdict | undefined> {
  for (const {reader, entry} of found) {
    if (entry.state !== 'unknown') continue;
    const {key} = await reader.lineOf(entry);
    if (found.some(other => other.reader.index.isIn(key, 'done'))) continue;
    return verdict('unknown', path, `sent, but no result is recorded in ${reader.shown}`);
  }
  return undefined;
}

/** Why an entry is not stored, as a phrase. */
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

/** The same record in two journals, as in a copy, counts once. */
async function idsOf(found: readonly Found[]): Promise<string[]> {
  const records = await Promise.all(found.map(({reader, entry}) => reader.recordOf(entry)));
  return [...new Set(records.map(({record}) => record.id))];
}
