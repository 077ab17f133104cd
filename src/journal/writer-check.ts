import type {FileSystem} from '../lib/files/file-system.ts';
import {gone} from './errors.ts';
import type {JournalHandle} from './file.ts';
import {openLinesIn, type WriterLine} from './line.ts';

interface CheckedFile {
  files: FileSystem;
  handle: Pick<JournalHandle, 'fd'>;
  path: string;
  shown: string;
}

/**
 * Detects a second writer from the file itself. Both writers append, so each sees the other, and the one that opened
 * the journal last owns it. The calls are synchronous, since they only touch the page cache.
 */
export class WriterCheck {
  readonly #file: CheckedFile;
  readonly #token: string;
  /** Everything before this offset was checked; after it are incomplete lines or lines of other writers. */
  #end: number;

  /** `end`: the offset up to which the file was read before our first line. */
  constructor(file: CheckedFile, token: string, end: number) {
    this.#file = file;
    this.#token = token;
    this.#end = end;
  }

  /**
   * Checks the bytes that were appended last: where they start, and which other writer has opened the journal since the last check.
   * Throws if they are not in the file that is at the path now.
   */
  look(bytes: Buffer): {start: number; other: WriterLine | undefined} {
    const {files, handle, path, shown} = this.#file;
    const own = files.fstatSync(handle.fd, {bigint: true});
    const there = files.lstatSync(path, {bigint: true, throwIfNoEntry: false});
    if (there === undefined) throw gone(shown, 'was removed');
    if (there.dev !== own.dev || there.ino !== own.ino) throw gone(shown, 'was replaced by another file');
    const size = Number(own.size);
    if (size < this.#end + bytes.length) throw gone(shown, 'was cut short');
    const tail = this.#read(this.#end, size - this.#end);
    const at = tail.indexOf(bytes);
    if (at === -1 || (at > 0 && tail[at - 1] !== 10)) throw gone(shown, 'was written over');
    const start = this.#end + at;
    const whole = tail.lastIndexOf(10) + 1;
    this.#end += whole;
    const opens = tail.length === bytes.length ? [] : openLinesIn(tail.toString('utf8', 0, whole));
    return {start, other: opens.find(({by}) => by !== this.#token)};
  }

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
