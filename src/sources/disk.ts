import {constants, openSync, open as openThere, readSync, read as readThere, statfsSync} from 'node:fs';
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

/**
 * So many calls are made on other threads after one that has waited: more each time, since a disk waits often and a busy
 * machine now and then, and fewer again with each call that has not.
 */
const carefulCalls = {least: 8, most: 512};

/**
 * Opens and reads files: on this thread while they lie on a disk of this machine that answers at once, and on another
 * one where that is not known, since a network may take its time or hang. A detour through another thread takes longer
 * than to open and read a small file whose content is in memory.
 */
export class Disk {
  readonly #clock: Clock;
  readonly #typeOf: (directory: string) => number;
  /** A directory whose files are at hand; '' is the root. */
  #quickDirectory: string | undefined;
  /** Calls still to be made on other threads, and how many it will be the next time. */
  #carefulCalls = 0;
  #patience = carefulCalls.least;

  constructor(clock: Clock = systemClock, typeOf = fileSystemType) {
    this.#clock = clock;
    this.#typeOf = typeOf;
  }

  /** Opens a file for reading; throws or rejects with the system's error. */
  open(path: string | Buffer): number | Promise<number> {
    return this.isQuick(path) ? this.#timed(() => openSync(path, readOnly)) : this.#openElsewhere(path);
  }

  async #openElsewhere(path: string | Buffer): Promise<number> {
    const fd = await openElsewhere(path, readOnly);
    this.#learn(path);
    return fd;
  }

  /** Reads into a part of the memory; gives the number of bytes, 0 at the end of the file. */
  read(fd: number, path: string | Buffer, into: Uint8Array, position: number): number | Promise<number> {
    return into.length <= smallBytes && this.isQuick(path)
      ? this.#timed(() => readSync(fd, into, 0, into.length, position))
      : readElsewhere(fd, into, 0, into.length, position).then(({bytesRead}) => bytesRead);
  }

  /** Whether a file is opened and read on this thread, as is all in its directory. */
  isQuick(path: string | Buffer): boolean {
    const directory = this.#quickDirectory;
    return (
      directory !== undefined &&
      typeof path === 'string' &&
      path.lastIndexOf('/') === directory.length &&
      path.startsWith(directory)
    );
  }

  #timed(call: () => number): number {
    const start = this.#clock.monotonic();
    const result = call();
    if (this.#clock.monotonic() - start > quickMs) {
      this.#quickDirectory = undefined;
      this.#carefulCalls = this.#patience;
      this.#patience = Math.min(carefulCalls.most, 2 * this.#patience);
    } else this.#patience = Math.max(carefulCalls.least, this.#patience - 1);
    return result;
  }

  /** A file of the directory has just been opened, so that asking about it does not hang. */
  #learn(path: string | Buffer): void {
    this.#carefulCalls -= 1;
    if (typeof path !== 'string' || this.#carefulCalls > 0) return;
    const directory = path.slice(0, path.lastIndexOf('/'));
    if (localTypes.has(this.#typeOf(directory || '/'))) this.#quickDirectory = directory;
  }
}

function fileSystemType(directory: string): number {
  try {
    return statfsSync(directory).type;
  } catch {
    return 0;
  }
}
