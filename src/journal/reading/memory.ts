import type {StopSignal} from '../../host.ts';
import {contentHash, type Hashable} from '../../lib/files/content-hash.ts';
import {contentOf} from '../../lib/tables/content.ts';
import type {FileStat} from '../../sources/open/source.ts';
import {pathKey} from '../file/lines.ts';
import type {Entry} from '../known/journal-index.ts';
import type {JournalReader} from './reader.ts';
import {statText} from './stat.ts';

/** An input, as far as it is known without reading its content. */
export interface JournalInput {
  /** Relative to the root of the input: text, or bytes if it is not UTF-8. */
  path: string | Uint8Array;
  /** Bytes. */
  size: number;
  /** Set for files; other content is always read. */
  stat?: FileStat | undefined;
  /** What decides its content type: a rule of `--types`, or a given type. */
  types: string;
}

/** Which unknown uploads may be sent again: those that were first released at this time or later. */
export interface Resend {
  /** In milliseconds since the Unix epoch; Infinity for none, -Infinity for all. */
  releasedSince: number;
}

const never: Resend = {releasedSince: Number.POSITIVE_INFINITY};

/** What a journal knows about an input. */
export type Known =
  /** Uploaded before, with the same content; the record's JSON is as the service sent it. */
  | {status: 'done'; recordJson: string; entry: Entry}
  /** Released before, without a recorded result. */
  | {status: 'unknown'};

/** What a journal knows about inputs, for runs and dry runs. */
export class JournalMemory {
  readonly reader: JournalReader;

  constructor(reader: JournalReader) {
    this.reader = reader;
  }

  /**
   * What is known about a file that has not changed since it was last read; undefined if it must be read. Uploads that
   * are unknown and must not be sent again come first.
   */
  async recall(input: JournalInput, resend: Resend = never): Promise<Known | undefined> {
    const {index} = this.reader;
    const {path, size, stat, types} = input;
    if (stat === undefined || !index.maySize(size)) return undefined;
    const row = index.shortcuts.rowOf({path: pathKey(path), size, stat: statText(stat), types});
    const content = row === -1 ? undefined : index.contentOf(row);
    if (content === undefined) return undefined;
    if (await this.#isHeld(index.rowsOf(content), resend)) return {status: 'unknown'};
    return index.stateOf(row) === 'done' ? this.#done(index.entry(row)) : undefined;
  }

  /** What is known about hashed content that is sent under a content type. */
  async find(
    {size, contentType}: {size: number; contentType: string},
    sha256: string,
    resend: Resend = never,
  ): Promise<Known | undefined> {
    const {index} = this.reader;
    const rows = index.rowsOf(contentOf(sha256, size));
    if (rows.length === 0) return undefined;
    if (await this.#isHeld(rows, resend)) return {status: 'unknown'};
    const entries = rows.map(row => index.entry(row));
    const done = entries.find(entry => entry.state === 'done' && entry.contentType === contentType);
    return done === undefined ? undefined : this.#done(done);
  }

  /** What is known about an input, which is read only if content of its size is known. */
  async peek(
    input: JournalInput & {contentType: string},
    source: Hashable,
    options: {resend?: Resend; stop?: StopSignal} = {},
  ): Promise<Known | undefined> {
    if (!this.reader.index.maySize(input.size)) return undefined;
    return this.find(input, await contentHash(source, options.stop), options.resend);
  }

  /** Whether one of these uploads is unknown and must not be sent again. */
  async #isHeld(rows: readonly number[], {releasedSince}: Resend): Promise<boolean> {
    const {index} = this.reader;
    for (const row of rows) {
      if (index.stateOf(row) !== 'unknown') continue;
      if (releasedSince === Number.POSITIVE_INFINITY) return true;
      if (releasedSince === Number.NEGATIVE_INFINITY) continue;
      // An unreadable time does not count as recent.
      if (!((await this.reader.timeOf(index.entry(row))) >= releasedSince)) return true;
    }
    return false;
  }

  async #done(entry: Entry): Promise<Known> {
    return {status: 'done', recordJson: await this.reader.recordOf(entry), entry};
  }
}
