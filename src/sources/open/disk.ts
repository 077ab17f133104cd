import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  close as laterClose,
  fstat as laterFstat,
  open as laterOpen,
  read as laterRead,
  lstatSync,
  openSync,
  readSync,
} from 'node:fs';
import {realpath, stat, statfs} from 'node:fs/promises';
import {resolve} from 'node:path';
import {promisify} from 'node:util';
import {systemCode} from '../../errors.ts';
import {type Clock, systemClock} from '../../host.ts';
import type {FilePath} from '../../lib/typed-path.ts';

/** The calls on other threads. */
const elsewhere = {
  open: promisify(laterOpen),
  read: promisify(laterRead),
  fstat: promisify<number, {bigint: true}, BigIntStats>(laterFstat),
  close: promisify(laterClose),
};

/** Not to wait for a writer, should a FIFO have taken the file's place. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const readNoLink = readOnly | (constants.O_NOFOLLOW ?? 0);

/** The file systems of Linux that keep files in this machine, by their numbers in statfs(2): ext, XFS, Btrfs, ... */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** A read of more may take its time. */
export const smallBytes = 64 * 1024;

/** A call that took longer than this, in milliseconds, has waited for a disk. */
const quickMs = 2;

/**
 * So many files are opened on other threads after a call that has waited: more each time, since a disk waits often and a
 * busy machine now and then, and fewer again with each call that has not.
 */
const carefulOpens = {least: 8, most: 512};

/** The number of the type of the file system that a path leads to; 0 where that cannot be told. */
type TypeOf = (path: FilePath) => Promise<number>;

/** A file that is open for reading. Each call is made on this thread where it cannot have to wait, else on another. */
export interface DiskFile {
  /** Of the file when it was opened. */
  readonly opened: BigIntStats;
  /** The calls of a file of this machine whose path leads nowhere else either. */
  readonly atHand: FileAtHand | undefined;
  /** Reads into the memory; gives the number of bytes, 0 at the end of the file. */
  read(into: Uint8Array, position: number): number | Promise<number>;
  stat(): BigIntStats | Promise<BigIntStats>;
  /** What its path leads to; undefined where nothing can be seen. */
  statPath(): BigIntStats | undefined | Promise<BigIntStats | undefined>;
  /** Never fails. */
  close(): void | Promise<void>;
}

export interface FileAtHand {
  stat(): BigIntStats;
  /** What is at its path, which was no symbolic link; undefined where nothing can be seen. */
  statPath(): BigIntStats | undefined;
}

/**
 * Opens and reads files: on this thread while they lie on a disk of this machine that answers at once, and on another
 * one where that is not known, since a network may take its time or hang. A detour through another thread takes longer
 * than to open and read a small file whose content is in memory. What counts is where a file really lies: on this thread,
 * no symbolic link is followed, neither to a file nor on the way to it.
 */
export class Disk {
  readonly #clock: Clock;
  readonly #typeOf: TypeOf;
  /** Whether the file systems met so far keep their files in this machine, by the numbers of their devices. */
  readonly #isLocal = new Map<bigint, boolean>();
  /** The directory that was looked at last, and whether the way to it is without symbolic links. */
  #directory: {path: string; isReal: Promise<boolean>} | undefined;
  /** The directory whose files are at hand, unless they are links; '' is the root. */
  #localDirectory: string | undefined;
  /** Files still to be opened on other threads, and how many it will be the next time. */
  #careful = 0;
  #caution = carefulOpens.least;

  constructor(clock: Clock = systemClock, typeOf: TypeOf = fileSystemType) {
    this.#clock = clock;
    this.#typeOf = typeOf;
  }

  /** Opens a file for reading; throws or rejects with the system's error. */
  open(path: FilePath): DiskFile | Promise<DiskFile> {
    if (!this.isQuick(path)) return this.#openElsewhere(path);
    try {
      const fd = this.timed(() => openSync(path, readNoLink));
      return this.#opened(fd, path, fstatSync(fd, {bigint: true}), true);
    } catch (error) {
      if (saysLink(error)) return this.#openElsewhere(path);
      throw error;
    }
  }

  /** Whether a file is opened on this thread, as is all in its directory. */
  isQuick(path: FilePath): boolean {
    return this.isFast && this.#isBesideLocal(path);
  }

  #isBesideLocal(path: FilePath): boolean {
    const directory = this.#localDirectory;
    return (
      directory !== undefined &&
      typeof path === 'string' &&
      path.lastIndexOf('/') === directory.length &&
      path.startsWith(directory)
    );
  }

  /** Whether no call had to wait of late. */
  get isFast(): boolean {
    return this.#careful <= 0;
  }

  /** Makes a call on this thread, and takes note when it had to wait. */
  timed<Result>(call: () => Result): Result {
    const start = this.#clock.monotonic();
    const result = call();
    if (this.#clock.monotonic() - start > quickMs) {
      this.#careful = this.#caution;
      this.#caution = Math.min(carefulOpens.most, 2 * this.#caution);
    } else this.#caution = Math.max(carefulOpens.least, this.#caution - 1);
    return result;
  }

  async #openElsewhere(path: FilePath): Promise<DiskFile> {
    let isLink = false;
    const fd = await elsewhere.open(path, readNoLink).catch((error: unknown) => {
      if (!saysLink(error)) throw error;
      isLink = true;
      return elsewhere.open(path, readOnly);
    });
    this.#careful -= 1;
    try {
      if (!isLink && this.#isBesideLocal(path))
        return this.#opened(fd, path, fstatSync(fd, {bigint: true}), true);
      const [stats, isPathReal] = await Promise.all([
        elsewhere.fstat(fd, {bigint: true}),
        isLink || typeof path !== 'string' ? false : this.#isReal(directoryOf(path)),
      ]);
      if (!this.#isLocal.has(stats.dev))
        this.#isLocal.set(stats.dev, localTypes.has(await this.#typeOf(path)));
      const file = this.#opened(fd, path, stats, isPathReal);
      if (file.atHand !== undefined && typeof path === 'string') this.#localDirectory = directoryOf(path);
      return file;
    } catch (error) {
      await closeElsewhere(fd);
      throw error;
    }
  }

  #opened(fd: number, path: FilePath, opened: BigIntStats, isPathReal: boolean): DiskFile {
    const isLocal = this.#isLocal.get(opened.dev) === true;
    return new OpenDiskFile({disk: this, fd, path, opened, isLocal, isPathReal});
  }

  #isReal(directory: string): Promise<boolean> {
    if (this.#directory?.path !== directory) {
      const isReal = realpath(directory || '/').then(
        real => real === resolve(directory || '/'),
        () => false,
      );
      this.#directory = {path: directory, isReal};
    }
    return this.#directory.isReal;
  }
}

interface DiskFileParts {
  disk: Disk;
  fd: number;
  path: FilePath;
  opened: BigIntStats;
  /** Whether its bytes are kept in this machine. */
  isLocal: boolean;
  /** Whether its path leads over no symbolic link, nor to one. */
  isPathReal: boolean;
}

class OpenDiskFile implements DiskFile {
  readonly opened: BigIntStats;
  readonly #parts: DiskFileParts;

  constructor(parts: DiskFileParts) {
    this.opened = parts.opened;
    this.#parts = parts;
  }

  get atHand(): FileAtHand | undefined {
    return this.#isPathHere
      ? {stat: () => this.#statHere(), statPath: () => this.#statPathHere()}
      : undefined;
  }

  /** What is asked of an open file of this machine is in its memory: even a slow disk has not to be waited for. */
  get #isPathHere(): boolean {
    return this.#parts.isLocal && this.#parts.isPathReal;
  }

  read(into: Uint8Array, position: number): number | Promise<number> {
    const {disk, fd, isLocal} = this.#parts;
    return into.length <= smallBytes && isLocal && disk.isFast
      ? disk.timed(() => readSync(fd, into, 0, into.length, position))
      : elsewhere.read(fd, into, 0, into.length, position).then(({bytesRead}) => bytesRead);
  }

  stat(): BigIntStats | Promise<BigIntStats> {
    return this.#parts.isLocal ? this.#statHere() : elsewhere.fstat(this.#parts.fd, {bigint: true});
  }

  statPath(): BigIntStats | undefined | Promise<BigIntStats | undefined> {
    return this.#isPathHere
      ? this.#statPathHere()
      : stat(this.#parts.path, {bigint: true}).catch(() => undefined);
  }

  close(): void | Promise<void> {
    const {fd, isLocal} = this.#parts;
    return isLocal ? closeSync(fd) : closeElsewhere(fd);
  }

  #statHere(): BigIntStats {
    return fstatSync(this.#parts.fd, {bigint: true});
  }

  #statPathHere(): BigIntStats | undefined {
    try {
      return lstatSync(this.#parts.path, {bigint: true, throwIfNoEntry: false});
    } catch {
      return undefined;
    }
  }
}

/** Nothing was written, so that nothing is lost where closing fails, as it does when a disk has gone away. */
function closeElsewhere(fd: number): Promise<void> {
  return elsewhere.close(fd).catch(() => {});
}

/** Whether an error is what O_NOFOLLOW gives for a symbolic link: ELOOP, and EMLINK on FreeBSD. */
function saysLink(error: unknown): boolean {
  return ['ELOOP', 'EMLINK'].includes(systemCode(error) ?? '');
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function fileSystemType(path: FilePath): Promise<number> {
  return statfs(path).then(
    ({type}) => type,
    () => 0,
  );
}
