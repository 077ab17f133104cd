import type {BigIntStats} from 'node:fs';
import {MediaError, sourceChanged, systemError} from '../../../errors.ts';
import {fact, phrase} from '../../../hint.ts';
import {largeHash} from '../../../lib/files/content-hash.ts';
import type {FilePath} from '../../../lib/files/typed-path.ts';
import {keepMemory, takeMemory} from '../../../lib/memory.ts';
import {type DiskFile, smallBytes} from './disk-file.ts';
import type {FileStat, OpenSource, Sameness, SentContent, SmallContent} from './source.ts';

/** A file of up to this many bytes is read only once, and kept until it is closed. */
const wholeBytes = 256 * 1024;

/** How often a file that changes in the meantime is compared with what was read. */
const mostComparisons = 3;

/** An open regular file that detects changes to its content. */
export class OpenFile implements OpenSource {
  readonly size: number;
  readonly path: FilePath | undefined;
  readonly #name: string;
  readonly #file: DiskFile;
  readonly #afterClose: (() => Promise<void>) | undefined;
  /** All of the content, unless that is much. */
  #content: Uint8Array | undefined;
  /** Samples of what was read, for all other files. */
  readonly #samples = new ReadSamples();
  /** The last ctime at which the content was still as it was read. */
  #ctimeNs: bigint;
  #isClosed = false;

  /** `path`: where the file can be opened again, if anywhere; `afterClose` is called when the file has been closed. */
  constructor(name: string, file: DiskFile, path?: FilePath, afterClose?: () => Promise<void>) {
    this.path = path;
    this.#afterClose = afterClose;
    this.size = Number(file.opened.size);
    this.#name = name;
    this.#file = file;
    this.#ctimeNs = file.opened.ctimeNs;
  }

  get stat(): FileStat | undefined {
    return this.path === undefined ? undefined : this.#file.opened;
  }

  /** Reads up to `length` bytes, into `into` if large enough. Without that, a file of up to 256 KiB is read once. */
  async read(position: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const count = Math.max(0, Math.min(length, this.size - position));
    if (into === undefined && this.size <= wholeBytes)
      return (await this.#whole()).subarray(position, position + count);
    const buffer =
      into !== undefined && into.length >= count ? into.subarray(0, count) : Buffer.allocUnsafeSlow(count);
    const bytes = await this.#readAt(position, buffer);
    this.#samples.add(position, bytes);
    return bytes;
  }

  /** All of the content; shorter than the size if the file was cut short meanwhile. */
  async #whole(): Promise<Uint8Array> {
    const bytes = this.size <= smallBytes ? smallBytes : wholeBytes;
    this.#content ??= await this.#readAt(0, takeMemory(bytes).subarray(0, this.size));
    return this.#content;
  }

  /** Fills the buffer from the file; returns the part that was filled, all of it unless the file ends before. */
  async #readAt(position: number, buffer: Uint8Array): Promise<Uint8Array> {
    let filled = 0;
    try {
      while (filled < buffer.length) {
        const rest = buffer.subarray(filled);
        const bytes = await this.#file.read(rest, position + filled);
        if (bytes === 0) break;
        filled += bytes;
      }
    } catch (error) {
      throw this.#readError(error);
    }
    return buffer.subarray(0, filled);
  }

  /** All of a file of up to 64 KiB that is local and under a path without links; undefined for any other. */
  small(): Promise<SmallContent> | undefined {
    const {inline} = this.#file;
    if (this.size > smallBytes || inline === undefined) return undefined;
    return this.#whole().then(bytes => ({bytes, verify: () => this.#verifyInline(inline)}));
  }

  /** As verify(), for a small file in memory; synchronous, so that nothing runs between this call and the release. */
  #verifyInline(file: NonNullable<DiskFile['inline']>): void {
    try {
      for (let ctimeNs = this.#ctimeNs, tries = mostComparisons; ; tries -= 1) {
        const there = file.statPathHere();
        const now = this.#isOpenedFile(there) ? there : file.statHere();
        if (this.#isUntouched(there, now, ctimeNs)) return;
        if (tries === 0 || !isEqual(this.#content, file.readHere(this.size))) throw this.#rewrittenError();
        ctimeNs = now.ctimeNs;
      }
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /** Rejects if the content has changed since it was opened, or if the file is touched during each of 3 comparisons. */
  async verify(sent: SentContent = {}): Promise<Sameness> {
    try {
      for (let ctimeNs = this.#ctimeNs, tries = mostComparisons; ; tries -= 1) {
        const there = await this.#file.statPath();
        const now = this.#isOpenedFile(there) ? there : await this.#file.stat();
        if (this.#isUntouched(there, now, ctimeNs)) return 'unchanged';
        if (tries === 0 || !(await this.#isAsRead())) throw this.#rewrittenError();
        if (this.#content === undefined) {
          if (sent.sha256 === undefined) return 'only its hash can tell';
          if ((await this.#hash(sent.onRead)) !== sent.sha256) throw this.#rewrittenError();
        }
        ctimeNs = now.ctimeNs;
      }
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /** Whether the file that is now at the path is the one that was opened. */
  #isOpenedFile(there: BigIntStats | undefined): there is BigIntStats {
    const {dev, ino} = this.#file.opened;
    return there !== undefined && there.dev === dev && there.ino === ino;
  }

  /**
   * Whether the file has not been touched since `ctimeNs`, when its content was as it was read. Writing changes ctime,
   * which cannot be set back as mtime can; so do chmod, link and unlink, which do not change the content. Throws if the
   * file has changed, judging by its path (`there`) and the open file (`now`). A removed path does not change the
   * content; another file in its place does.
   */
  #isUntouched(there: BigIntStats | undefined, now: BigIntStats, ctimeNs: bigint): boolean {
    const then = this.#file.opened;
    if (now.size !== then.size)
      throw sourceChanged(this.#name, now.size > then.size ? 'it grew' : 'it shrank');
    if (now.mtimeNs !== then.mtimeNs) throw this.#rewrittenError();
    if (there !== undefined && !this.#isOpenedFile(there))
      throw sourceChanged(this.#name, 'it was replaced by another file');
    if (now.ctimeNs !== ctimeNs) return false;
    this.#ctimeNs = ctimeNs;
    return true;
  }

  /** Whether the content is as it was read; for a large file, only its samples are compared. */
  async #isAsRead(): Promise<boolean> {
    const content = this.#content;
    if (content !== undefined && !isEqual(content, await this.#readAgain(0, this.size))) return false;
    return this.#samples.areIn((position, length) => this.#readAgain(position, length));
  }

  /** The SHA-256 of the content as it is now, in hex. */
  #hash(onRead: () => void = () => {}): Promise<string> {
    const read = (position: number, length: number) => {
      onRead();
      return this.#readAgain(position, Math.min(length, this.size - position));
    };
    return largeHash({size: this.size, read}, undefined);
  }

  /** Reads from the disk for a comparison. Throws once the file is closed: another file may have its descriptor. */
  #readAgain(position: number, length: number): Promise<Uint8Array> {
    if (this.#isClosed) throw new Error('The file was closed.');
    return this.#readAt(position, Buffer.allocUnsafeSlow(length));
  }

  /** The error for what failed while the file was read or compared. */
  #readError(error: unknown): MediaError {
    if (error instanceof MediaError) return error;
    return systemError('file_unreadable', phrase`${fact('subject', this.#name, 'could')} not be read`, error);
  }

  #rewrittenError(): MediaError {
    return sourceChanged(this.#name, 'it was rewritten');
  }

  /** Closes the file; a comparison that still goes on then fails. */
  async close(isUnused = false): Promise<void> {
    // Memory that is kept twice would be given to two files.
    const content = this.#isClosed ? undefined : this.#content;
    this.#isClosed = true;
    if (isUnused && content !== undefined) keepMemory(new Uint8Array(content.buffer));
    await this.#file.close();
    await this.#afterClose?.();
  }
}

function isEqual(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0;
}

/** Consecutive reads of the same length, with the checksum of their samples. */
type Run = {readonly start: number; readonly length: number; count: number; checksum: number};

/** A sample is all of a short read, and the start of a longer one: checksums of everything would slow down uploads. */
const wholeRead = 16 * 1024;
const sampleBytes = 1024;

/** Samples of what was read from a file, in little memory: they reveal most changes of the content, but not all. */
export class ReadSamples {
  readonly #runs: Run[] = [];

  /** Adds a read: to the run before if it follows that at the same length, so that a run needs no more memory. */
  add(position: number, bytes: Uint8Array): void {
    const {length} = bytes;
    const sample = bytes.subarray(0, sampleLength(length));
    const last = this.#runs.at(-1);
    if (last?.length === length && last.start + last.count * length === position) {
      last.checksum = checksumOf(sample, last.checksum);
      last.count += 1;
    } else this.#runs.push({start: position, length, count: 1, checksum: checksumOf(sample, 0)});
  }

  /** Whether reading the samples again gives the same bytes. */
  async areIn(read: OpenSource['read']): Promise<boolean> {
    for (const {start, length, count, checksum} of [...this.#runs]) {
      let found = 0;
      for (let index = 0; index < count; index += 1)
        found = checksumOf(await read(start + index * length, sampleLength(length)), found);
      if (found !== checksum) return false;
    }
    return true;
  }
}

function sampleLength(length: number): number {
  return length <= wholeRead ? length : sampleBytes;
}

/** FNV-1a: a different content of the same length rarely has the same checksum. */
function checksumOf(bytes: Uint8Array, start: number): number {
  let sum = start;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x0100_0193);
  return sum;
}
