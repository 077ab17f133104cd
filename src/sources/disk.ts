import {constants, openSync, open as openThere, readSync, read as readThere, statfsSync} from 'node:fs';
import {dirname} from 'node:path';
import {promisify} from 'node:util';
import {type Clock, systemClock} from '../host.ts';

const openElsewhere = promisify(openThere);
const readElsewhere = promisify(readThere);

/** Not to wait for a writer, should a FIFO have taken the file's place. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The file systems of Linux that keep files in this machine, by their numbers in statfs(2): ext, XFS, Btrfs, ... */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** A read of more may take its time. */
export const smallBytes = 64 * 1024;

/** A call that took longer than this, in milliseconds, has waited for a disk. */
const quickMs = 2;

/** So many calls are made on other threads after one that has waited. */
const carefulCalls = 64;

/**
 * Opens and reads files: on this thread while they lie on a disk of this machine that answers at once, and on another
 * one where that is not known, since a network may take its time or hang. A detour through another thread takes longer
 * than to open and read a small file whose content is in memory.
 */
export class Disk {
  readonly #clock: Clock;
  readonly #typeOf: (directory: string) => number;
  /** A directory whose files are at hand. */
  #quickDirectory: string | undefined;
  #carefulCalls = 0;

  constructor(clock: Clock = systemClock, typeOf = fileSystemType) {
    this.#clock = clock;
    this.#typeOf = typeOf;
  }

  /** Opens a file for reading; rejects with the system's error. */
  async open(path: string | Buffer): Promise<number> {
    const directory = typeof path === 'string' ? dirname(path) : undefined;
    if (this.isQuick(directory)) return this.#timed(() => openSync(path, readOnly));
    const fd = await openElsewhere(path, readOnly);
    this.#learn(directory);
    return fd;
  }

  /** Reads into a part of the memory; resolves to the number of bytes, 0 at the end of the file. */
  async read(fd: number, path: string | Buffer, into: Uint8Array, position: number): Promise<number> {
    const isSmall = into.length <= smallBytes && typeof path === 'string';
    if (isSmall && this.isQuick(dirname(path)))
      return this.#timed(() => readSync(fd, into, 0, into.length, position));
    return (await readElsewhere(fd, into, 0, into.length, position)).bytesRead;
  }

  /** Whether what is in a directory is opened and read on this thread. */
  isQuick(directory: string | undefined): boolean {
    return directory !== undefined && directory === this.#quickDirectory;
  }

  #timed<Result>(call: () => Result): Result {
    const start = this.#clock.monotonic();
    const result = call();
    if (this.#clock.monotonic() - start > quickMs) {
      this.#quickDirectory = undefined;
      this.#carefulCalls = carefulCalls;
    }
    return result;
  }

  /** A file of the directory has just been opened, so that asking about it does not hang. */
  #learn(directory: string | undefined): void {
    this.#carefulCalls -= 1;
    if (directory === undefined || this.#carefulCalls > 0) return;
    if (localTypes.has(this.#typeOf(directory))) this.#quickDirectory = directory;
  }
}

function fileSystemType(directory: string): number {
  try {
    return statfsSync(directory).type;
  } catch {
    return 0;
  }
}
