import type {BigIntStats} from 'node:fs';
import {MediaError} from '../../errors.ts';
import {systemReason} from '../../lib/system-code.ts';
import {type DiskFile, type InlineFile, smallBytes} from './disk-file.ts';
import type {FileStat, OpenSource, SmallContent} from './source.ts';

/** An open regular file that detects changes to its content. */
export class OpenFile implements OpenSource {
  readonly size: number;
  readonly #name: string;
  readonly #file: DiskFile;
  /** The content of a small file, which is read only once. */
  #content: Uint8Array | undefined;

  constructor(name: string, file: DiskFile) {
    this.size = Number(file.opened.size);
    this.#name = name;
    this.#file = file;
  }

  get stat(): FileStat | undefined {
    return this.#file.opened;
  }

  async read(position: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    if (into === undefined && this.size <= smallBytes)
      return (await this.#whole()).subarray(position, position + wanted);
    const buffer =
      into !== undefined && into.length >= wanted ? into.subarray(0, wanted) : Buffer.allocUnsafeSlow(wanted);
    return this.#readAt(position, buffer);
  }

  async #whole(): Promise<Uint8Array> {
    this.#content ??= await this.#readAt(0, Buffer.allocUnsafeSlow(this.size));
    return this.#content;
  }

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
      throw this.#unreadable(error);
    }
    return buffer.subarray(0, filled);
  }

  small(): Promise<SmallContent> | undefined {
    const {inline} = this.#file;
    if (this.size > smallBytes || inline === undefined) return undefined;
    return this.#whole().then(bytes => ({bytes, verify: () => this.#verifyInline(inline)}));
  }

  #verifyInline(file: InlineFile): void {
    const there = file.statPath();
    try {
      this.#check(there, this.#isOpened(there) ? there : file.stat());
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  async verify(): Promise<void> {
    const there = await this.#file.statPath();
    try {
      this.#check(there, this.#isOpened(there) ? there : await this.#file.stat());
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  #isOpened(there: BigIntStats | undefined): there is BigIntStats {
    const {dev, ino} = this.#file.opened;
    return there !== undefined && there.dev === dev && there.ino === ino;
  }

  /** Throws if the file has changed, judging by its path (`there`) and the open file (`now`). */
  #check(there: BigIntStats | undefined, now: BigIntStats): void {
    const then = this.#file.opened;
    if (now.size !== then.size) throw this.#changed(now.size > then.size ? 'it grew' : 'it shrank');
    if (now.mtimeNs !== then.mtimeNs) throw this.#changed('it was rewritten');
    // A removed path does not change the content; another file in its place does. Symbolic links are followed.
    if (there !== undefined && !this.#isOpened(there)) throw this.#changed('it was replaced by another file');
    // Writing changes mtime and ctime, and ctime cannot be set back. chmod, chown, link and unlink also change ctime but not
    // the content; they show in other fields, and a rename shows in the path.
    const relabelled =
      now.mode !== then.mode || now.uid !== then.uid || now.gid !== then.gid || now.nlink !== then.nlink;
    if (now.ctimeNs !== then.ctimeNs && !relabelled && there !== undefined)
      throw this.#changed('it was rewritten');
  }

  #unreadable(error: unknown): MediaError {
    if (error instanceof MediaError) return error;
    return new MediaError('file_unreadable', `${this.#name} could not be read: ${systemReason(error)}.`, {
      cause: error,
    });
  }

  #changed(how: string): MediaError {
    return new MediaError('source_changed', `${this.#name} changed while it was being uploaded: ${how}.`, {
      hint: 'Nothing was stored. Upload it again when no program is writing to it.',
    });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
