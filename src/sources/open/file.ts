import type {BigIntStats} from 'node:fs';
import {stat} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {MediaError, systemCode} from '../../errors.ts';
import {shellQuoted} from '../../lib/shell.ts';
import type {FilePath} from '../../lib/typed-path.ts';
import {typedPath} from '../../lib/typed-path.ts';
import {Disk, type DiskFile, type FileAtHand, smallBytes} from './disk.ts';
import type {OpenSource, SmallContent, Source} from './source.ts';

/** Files by their names as typed in a directory; they share what is learnt about their disk. */
export function filesIn(cwd: string): (name: string) => Source {
  const disk = new Disk();
  return name => sourceAt(disk, name, typedPath(cwd, name), false);
}

/**
 * The file at a path as the system takes it, shown under a name; nothing is touched before it is opened. `isRegular`: it has
 * just been seen to be a regular file.
 */
export function sourceAt(disk: Disk, name: string, path: FilePath, isRegular: boolean): Source {
  const measure = () =>
    stat(path).then(
      stats => stats.size,
      () => 0,
    );
  return {name, typeName: name, measure, open: () => openFile(disk, name, path, isRegular)};
}

async function openFile(disk: Disk, name: string, path: FilePath, isRegular: boolean): Promise<OpenSource> {
  if (!isRegular) await refuseWhatBlocks(name, path);
  let file: DiskFile;
  try {
    file = await disk.open(path);
  } catch (error) {
    throw await describeOpenError(name, error);
  }
  try {
    refuseUnsuitable(name, file.opened);
    return new OpenFile(name, file);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opening a device or FIFO can have effects of its own, so those are refused by name first, then again once open. */
async function refuseWhatBlocks(name: string, path: FilePath): Promise<void> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw notAFile(name, stats);
  } catch (error) {
    throw await describeOpenError(name, error);
  }
}

function refuseUnsuitable(name: string, stats: BigIntStats): void {
  if (!stats.isFile()) throw notAFile(name, stats);
  if (stats.size === 0n) {
    throw new MediaError('empty_file', `${name} is empty: there is nothing to upload.`);
  }
}

interface FileKind {
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

function notAFile(name: string, stats: FileKind): MediaError {
  const kind = stats.isDirectory()
    ? 'a directory'
    : stats.isFIFO()
      ? 'a FIFO'
      : stats.isSocket()
        ? 'a socket'
        : 'a device';
  return new MediaError('not_a_file', `${name} is ${kind}, not a regular file.`, {
    hint: stats.isDirectory()
      ? 'Name the files in it.'
      : `Pipe its content in: media upload - --name FILE < ${kind === 'a FIFO' ? 'FIFO' : 'DEVICE'}`,
  });
}

async function describeOpenError(name: string, error: unknown): Promise<MediaError> {
  if (error instanceof MediaError) return error;
  const details = {cause: error};
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MediaError('file_missing', `${name} does not exist.`, {
        ...details,
        ...(await pathHint(name)),
      });
    case 'EACCES':
    case 'EPERM':
      return new MediaError('file_unreadable', `${name} may not be read: permission denied.`, details);
    case 'EMFILE':
    case 'ENFILE':
      return new MediaError('too_many_open_files', `${name} could not be opened: too many files are open.`, {
        ...details,
        hint: 'Raise the limit with ulimit -n.',
      });
    case 'ELOOP':
      return new MediaError('file_unreadable', `${name} is a symbolic link that leads to itself.`, details);
    case 'ENAMETOOLONG':
      return new MediaError(
        'file_missing',
        `${name.slice(0, 60)}... is too long to be the name of a file.`,
        details,
      );
    default:
      return new MediaError('file_unreadable', `${name} could not be opened: ${reason(error)}.`, details);
  }
}

/** What is dragged onto a terminal may arrive as a URL; where that names a file that exists, its path is told. */
async function pathHint(name: string): Promise<{hint?: string}> {
  if (!/^file:\/\//i.test(name)) return {};
  try {
    const path = fileURLToPath(name);
    await stat(path);
    return {hint: `Name the file by its path instead of its URL: ${shellQuoted(path)}`};
  } catch {
    return {};
  }
}

function reason(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error));
}

/** An opened regular file, watched for changes of its content. */
export class OpenFile implements OpenSource {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly #name: string;
  readonly #file: DiskFile;
  /** Of a small file, which is read once, at first sight. */
  #content: Uint8Array | undefined;

  constructor(name: string, file: DiskFile) {
    this.size = Number(file.opened.size);
    this.mtimeNs = file.opened.mtimeNs;
    this.#name = name;
    this.#file = file;
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
    const {atHand} = this.#file;
    if (this.size > smallBytes || atHand === undefined) return undefined;
    return this.#whole().then(bytes => ({bytes, verify: () => this.#verifyAtHand(atHand)}));
  }

  #verifyAtHand(file: FileAtHand): void {
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

  /** Throws when the file is not what it was, by what is at its path and what is open. */
  #check(there: BigIntStats | undefined, now: BigIntStats): void {
    const then = this.#file.opened;
    if (now.size !== then.size) throw this.#changed(now.size > then.size ? 'it grew' : 'it shrank');
    if (now.mtimeNs !== then.mtimeNs) throw this.#changed('it was rewritten');
    // A path that is gone is no change of content; another file in its place is. Symbolic links are followed.
    if (there !== undefined && !this.#isOpened(there)) throw this.#changed('another file took its place');
    // Writing moves mtime and ctime; putting mtime back leaves ctime moved. chmod, chown, link and unlink move ctime
    // too but show in the other fields, as a rename shows in the path, and change no content.
    const relabelled =
      now.mode !== then.mode || now.uid !== then.uid || now.gid !== then.gid || now.nlink !== then.nlink;
    if (now.ctimeNs !== then.ctimeNs && !relabelled && there !== undefined)
      throw this.#changed('it was rewritten');
  }

  #unreadable(error: unknown): MediaError {
    if (error instanceof MediaError) return error;
    return new MediaError('file_unreadable', `${this.#name} could not be read: ${reason(error)}.`, {
      cause: error,
    });
  }

  #changed(how: string): MediaError {
    return new MediaError('source_changed', `${this.#name} changed while it was being uploaded: ${how}.`, {
      hint: 'Nothing was stored. Upload it again once nobody writes to it.',
    });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
