import type {FileSystem} from '../../lib/files/file-system.ts';
import {lostJournalError} from './journal-errors.ts';
import type {JournalHandle} from './journal-file.ts';
import {openLinesIn, type WriterLine} from './line.ts';

interface JournalFile {
  files: FileSystem;
  handle: Pick<JournalHandle, 'fd'>;
  path: string;
  displayPath: string;
}

/**
 * Detects a second writer by its lines in the file. All writers append, so each sees the others; the last one to open
 * the journal owns it. The calls are synchronous, since they read only the page cache.
 */
export class WriterCheck {
  readonly #file: JournalFile;
  readonly #token: string;
  /** All lines before this offset are checked. */
  #end: number;

  /** `end`: the offset up to which the journal was read before the first line of this writer. */
  constructor(file: JournalFile, token: string, end: number) {
    this.#file = file;
    this.#token = token;
    this.#end = end;
  }

  /** The offset of these new bytes, and the writer that has opened the journal since; throws if they are lost. */
  verifyAppend(bytes: Buffer): {start: number; other: WriterLine | undefined} {
    const {files, handle, path, displayPath} = this.#file;
    const openStats = files.fstatSync(handle.fd, {bigint: true});
    const pathStats = files.lstatSync(path, {bigint: true, throwIfNoEntry: false});
    if (pathStats === undefined) throw lostJournalError(displayPath, 'was removed');
    if (pathStats.dev !== openStats.dev || pathStats.ino !== openStats.ino)
      throw lostJournalError(displayPath, 'was replaced by another file');
    const size = Number(openStats.size);
    if (size < this.#end + bytes.length) throw lostJournalError(displayPath, 'was cut short');
    const tail = this.#read(this.#end, size - this.#end);
    const at = tail.indexOf(bytes);
    if (at === -1 || (at > 0 && tail[at - 1] !== 10)) throw lostJournalError(displayPath, 'was written over');
    const start = this.#end + at;
    const completeLength = tail.lastIndexOf(10) + 1;
    this.#end += completeLength;
    const opens = tail.length === bytes.length ? [] : openLinesIn(tail.toString('utf8', 0, completeLength));
    return {start, other: opens.find(({by}) => by !== this.#token)};
  }

  /** Bytes of the file; fewer than `length` only at its end. */
  #read(from: number, length: number): Buffer {
    const {files, handle} = this.#file;
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = files.readSync(handle.fd, buffer, filled, length - filled, from + filled);
      if (count === 0) break;
      filled += count;
    }
    return buffer.subarray(0, filled);
  }
}
