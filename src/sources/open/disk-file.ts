import type {BigIntStats} from 'node:fs';
import type {FileSystem} from '../../lib/files/file-system.ts';
import type {FilePath} from '../../lib/files/typed-path.ts';
import type {SlowCalls} from './slow-calls.ts';

/** Larger reads are always made on another thread. */
export const smallBytes = 64 * 1024;

/** A file that is open for reading. Each call is made on this thread if it cannot block, otherwise on another. */
export interface DiskFile {
  /** The file's stats when it was opened. */
  readonly opened: BigIntStats;
  /** Synchronous calls, for a local file whose path leads over no symbolic link. */
  readonly inline: InlineFile | undefined;
  /** Reads into the memory; returns the number of bytes, 0 at the end of the file. */
  read(into: Uint8Array, position: number): number | Promise<number>;
  stat(): BigIntStats | Promise<BigIntStats>;
  /** What its path leads to; undefined if that cannot be read. */
  statPath(): BigIntStats | undefined | Promise<BigIntStats | undefined>;
  /** Never fails. */
  close(): void | Promise<void>;
}

export interface InlineFile {
  stat(): BigIntStats;
  /** What is at its path, which was not a symbolic link; undefined if that cannot be read. */
  statPath(): BigIntStats | undefined;
  /** Reads the beginning of the file; shorter if the file is. */
  read(length: number): Uint8Array;
}

export interface DiskFileParts {
  files: FileSystem;
  calls: SlowCalls;
  fd: number;
  path: FilePath;
  opened: BigIntStats;
  /** Whether its bytes are stored on this machine. */
  isLocal: boolean;
  /** Whether no part of its path is a symbolic link. */
  isPathReal: boolean;
}

/** An open file descriptor as a DiskFile. */
export class OpenDiskFile implements DiskFile {
  readonly opened: BigIntStats;
  readonly #parts: DiskFileParts;

  constructor(parts: DiskFileParts) {
    this.opened = parts.opened;
    this.#parts = parts;
  }

  get inline(): InlineFile | undefined {
    return this.#isPathHere
      ? {
          stat: () => this.#statHere(),
          statPath: () => this.#statPathHere(),
          read: length => this.#readHere(length),
        }
      : undefined;
  }

  /** The stats of an open local file are in memory, so that even a slow disk does not block these calls. */
  get #isPathHere(): boolean {
    return this.#parts.isLocal && this.#parts.isPathReal;
  }

  read(into: Uint8Array, position: number): number | Promise<number> {
    const {files, calls, fd, isLocal} = this.#parts;
    return into.length <= smallBytes && isLocal && calls.areFast
      ? calls.timed(() => files.readSync(fd, into, 0, into.length, position))
      : files.otherThread.read(fd, into, 0, into.length, position).then(({bytesRead}) => bytesRead);
  }

  stat(): BigIntStats | Promise<BigIntStats> {
    const {files, fd, isLocal} = this.#parts;
    return isLocal ? this.#statHere() : files.otherThread.fstat(fd, {bigint: true});
  }

  statPath(): BigIntStats | undefined | Promise<BigIntStats | undefined> {
    const {files, path} = this.#parts;
    return this.#isPathHere ? this.#statPathHere() : files.stat(path, {bigint: true}).catch(() => undefined);
  }

  close(): void | Promise<void> {
    const {files, fd, isLocal} = this.#parts;
    return isLocal ? files.closeSync(fd) : files.otherThread.close(fd);
  }

  #readHere(length: number): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(length);
    return bytes.subarray(0, this.#parts.files.readSync(this.#parts.fd, bytes, 0, length, 0));
  }

  #statHere(): BigIntStats {
    return this.#parts.files.fstatSync(this.#parts.fd, {bigint: true});
  }

  #statPathHere(): BigIntStats | undefined {
    try {
      return this.#parts.files.lstatSync(this.#parts.path, {bigint: true, throwIfNoEntry: false});
    } catch {
      return undefined;
    }
  }
}
