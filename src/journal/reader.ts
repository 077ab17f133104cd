import type {MediaError} from '../errors.ts';
import {typedPath} from '../lib/typed-path.ts';
import {journalFailed, unusable} from './errors.ts';
import {openJournalFile, type ReadHandle, readAll, reopening} from './file.ts';
import type {Entry, JournalIndex} from './index.ts';
import {memberIn, type ParsedLine, parseLine, type Scope} from './lines.ts';
import {damagedLine, type Recovery, rawLines, recover} from './recovery.ts';
import {commonScope} from './scope.ts';

/** A journal that was read: its entries, and what their lines tell beyond them. */
export class JournalReader {
  /** The file as the user named it. */
  readonly shown: string;
  readonly index: JournalIndex;
  /** What it is about; undefined while nothing is in it. */
  readonly scope: Scope | undefined;
  readonly #handle: ReadHandle;

  constructor(shown: string, {index, scope}: Pick<Recovery, 'index' | 'scope'>, handle: ReadHandle) {
    this.shown = shown;
    this.index = index;
    this.scope = scope;
    this.#handle = handle;
  }

  /** The service's record of an entry that is done, its JSON as it was received. */
  async recordOf(entry: Entry): Promise<string> {
    return memberIn(await this.#textOf(entry), 'record') ?? this.#changed();
  }

  /** The SHA-256 of an entry's content, in hex; undefined when it was never released. */
  async hashOf(entry: Entry): Promise<string | undefined> {
    const line = await this.#lineOf(entry);
    return line !== undefined && 'sha256' in line ? line.sha256 : undefined;
  }

  /** Why an entry failed. */
  async failureOf(entry: Entry): Promise<{code: string; message: string}> {
    const line = await this.#lineOf(entry);
    return line?.event === 'failed' ? {code: line.code, message: line.message} : {code: '', message: ''};
  }

  /** The error for an entry whose line cannot be relied on; `what` goes on with the sentence that begins with the line. */
  async damage({offset}: Entry, what: string): Promise<MediaError> {
    for await (const batch of rawLines(this.#handle, this.shown)) {
      const line = batch.find(one => one.offset === offset);
      if (line !== undefined) return damagedLine(this.shown, line.number, what);
    }
    return this.#changed();
  }

  /** All lines of the file that tell of an upload. */
  async *lines(): AsyncGenerator<{text: string; key: string}[]> {
    for await (const batch of rawLines(this.#handle, this.shown)) {
      yield batch.flatMap(({bytes}) => {
        const text = bytes.toString();
        const line = parseLine(text);
        return line === undefined || line.event === 'header' ? [] : [{text, key: line.key}];
      });
    }
  }

  /** What tells one file from another, whatever it is called. */
  async identity(): Promise<string> {
    const {dev, ino} = await this.#handle.stat();
    return `${dev}:${ino}`;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #changed(): never {
    throw unusable(`The journal ${this.shown} was changed while it was being read`, 'Try again.');
  }

  async #lineOf(entry: Entry): Promise<ParsedLine | undefined> {
    return parseLine(await this.#textOf(entry));
  }

  async #textOf({offset, length}: Entry): Promise<string> {
    try {
      return (await readAll(this.#handle, offset, length)).toString();
    } catch (error) {
      throw journalFailed(this.shown, 'read', error);
    }
  }
}

/** As many journals are kept open at once, so that hundreds of shards fit under a low limit of open files. */
const keptOpen = 16;

/**
 * Reads journals of one service, without writing to them; runs may be at work on them. The caller closes them. Rejects
 * where they are of different services.
 */
export async function readJournals(paths: readonly string[], cwd: string): Promise<JournalReader[]> {
  const readers: JournalReader[] = [];
  try {
    for (const path of paths) readers.push(await readOne(path, cwd, paths.length <= keptOpen));
    commonScope(readers);
    return readers;
  } catch (error) {
    await closeAll(readers);
    throw error;
  }
}

async function readOne(path: string, cwd: string, staysOpen: boolean): Promise<JournalReader> {
  const absolute = typedPath(cwd, path);
  const handle = await openJournalFile(absolute, path, 'read');
  let isKept = false;
  try {
    const recovery = await recover(handle, path);
    isKept = staysOpen;
    return new JournalReader(path, recovery, staysOpen ? handle : reopening(absolute, path));
  } finally {
    if (!isKept) await handle.close();
  }
}

/** Closes journals that were read. */
export async function closeAll(readers: readonly JournalReader[]): Promise<void> {
  for (const reader of readers) await reader.close();
}
