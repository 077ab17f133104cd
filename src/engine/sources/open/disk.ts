import type {BigIntStats} from 'node:fs';
import {resolve} from 'node:path';
import {type Clock, type StopSignal, systemClock} from '../../../host.ts';
import {constants, diskKind, type FileSystem} from '../../../lib/files/file-system.ts';
import type {FilePath} from '../../../lib/files/typed-path.ts';
import {unlessStopped} from '../../../lib/stop.ts';
import {failedWith, undefinedIfThrows} from '../../../lib/system-code.ts';
import {type DiskFile, diskFile, SlowCalls} from './disk-file.ts';

/** Without O_NONBLOCK, opening would wait for a writer if a FIFO took the file's place. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const readNoLink = readOnly | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens and measures files: on this thread while they are on a local disk that responds at once, otherwise on another
 * thread, since a network disk may hang. Going through another thread takes longer than opening and reading a small
 * cached file. What counts is where a file really is, so this thread follows no symbolic link.
 */
export class Disk {
  readonly #calls: SlowCalls;
  readonly files: FileSystem;
  /** Whether the file systems seen so far are local, by device number. */
  readonly #isLocal = new Map<bigint, boolean>();
  /** The directory that was checked last, and whether no part of its path is a symbolic link. */
  #directory: {path: string; isReal: Promise<boolean>} | undefined;
  /** The directory whose files are opened on this thread, unless they are links; '' is the root. */
  #localDirectory: string | undefined;

  constructor(files: FileSystem, clock: Clock = systemClock) {
    this.#calls = new SlowCalls(clock);
    this.files = files;
  }

  /** Opens a file for reading; rejects with the system's error, or once the signal is aborted, without waiting. */
  open(path: FilePath, signal: StopSignal<Error>): DiskFile | Promise<DiskFile> {
    if (!this.isQuick(path)) return this.#openUnlessStopped(path, signal);
    let fd: number | undefined;
    try {
      fd = this.#calls.timeCall(() => this.files.openSync(path, readNoLink));
      return this.fileOf(fd, path, this.files.fstatSync(fd, {bigint: true}), true, signal);
    } catch (error) {
      if (isLinkRefusal(error)) return this.#openUnlessStopped(path, signal);
      if (fd !== undefined) this.files.closeSync(fd);
      throw error;
    }
  }

  /** Opens a file on another thread. If it is opened only after the signal was aborted, it is closed again. */
  async #openUnlessStopped(path: FilePath, signal: StopSignal<Error>): Promise<DiskFile> {
    const opening = this.#openElsewhere(path, signal);
    try {
      return await unlessStopped(opening, signal);
    } catch (error) {
      void opening.then(file => file.close()).catch(() => {});
      throw error;
    }
  }

  /** The size of a file in bytes, without opening it; 0 if that cannot be read. */
  size(path: FilePath): number | Promise<number> {
    const here = this.isQuick(path)
      ? undefinedIfThrows(() => this.#calls.timeCall(() => this.files.lstatSync(path)))
      : undefined;
    return here === undefined || here.isSymbolicLink() ? this.#sizeElsewhere(path).catch(() => 0) : here.size;
  }

  /** Whether the file, like the others in its directory, is opened and measured on this thread. */
  isQuick(path: FilePath): boolean {
    return this.#calls.areFast && this.#isInLocalDirectory(path);
  }

  /** Whether the file is in the directory whose files are opened on this thread, and not below it. */
  #isInLocalDirectory(path: FilePath): boolean {
    const directory = this.#localDirectory;
    return (
      directory !== undefined &&
      typeof path === 'string' &&
      path.lastIndexOf('/') === directory.length &&
      path.startsWith(directory)
    );
  }

  /** Opens on another thread, links followed, and learns whether the next file can be opened on this thread. */
  async #openElsewhere(path: FilePath, signal: StopSignal<Error>): Promise<DiskFile> {
    let isLink = false;
    const fd = await this.files.asyncFs.open(path, readNoLink).catch((error: unknown) => {
      if (!isLinkRefusal(error)) throw error;
      isLink = true;
      return this.files.asyncFs.open(path, readOnly);
    });
    this.#calls.countOpening();
    try {
      if (!isLink && this.#isInLocalDirectory(path))
        return this.fileOf(fd, path, this.files.fstatSync(fd, {bigint: true}), true, signal);
      const [stats, isPathReal] = await Promise.all([
        this.files.asyncFs.fstat(fd, {bigint: true}),
        !isLink && this.#isReal(path),
      ]);
      await this.#learn(path, stats.dev, isPathReal);
      return this.fileOf(fd, path, stats, isPathReal, signal);
    } catch (error) {
      await this.files.asyncFs.close(fd);
      throw error;
    }
  }

  /** The size of a file, links followed, found on another thread; learns about its disk as #openElsewhere() does. */
  async #sizeElsewhere(path: FilePath): Promise<number> {
    const stats = await this.files.lstat(path);
    this.#calls.countOpening();
    if (stats.isSymbolicLink()) return (await this.files.stat(path)).size;
    await this.#learn(path, BigInt(stats.dev), await this.#isReal(path));
    return stats.size;
  }

  /** Learns from one file whether its disk is local, and whether the others in its directory are quick. */
  async #learn(path: FilePath, device: bigint, isPathReal: boolean): Promise<void> {
    if (!this.#isLocal.has(device)) this.#isLocal.set(device, (await diskKind(this.files, path)).isLocal);
    if (typeof path === 'string' && isPathReal && this.#isLocal.get(device))
      this.#localDirectory = directoryOf(path);
  }

  /** The file of a descriptor. Without `isPathReal`, its path may lead over a symbolic link. */
  fileOf(fd: number, path: FilePath, opened: BigIntStats, isPathReal: boolean, signal: StopSignal<Error>) {
    const isLocal = this.#isLocal.get(opened.dev) === true;
    return diskFile({files: this.files, calls: this.#calls, fd, path, opened, isLocal, isPathReal, signal});
  }

  /** Whether no part of the path of its directory is a symbolic link; what is not UTF-8 is taken for one. */
  async #isReal(path: FilePath): Promise<boolean> {
    if (typeof path !== 'string') return false;
    const directory = directoryOf(path);
    if (this.#directory?.path !== directory) {
      const isReal = this.files.realpath(directory || '/').then(
        real => real === resolve(directory || '/'),
        () => false,
      );
      this.#directory = {path: directory, isReal};
    }
    return this.#directory.isReal;
  }
}

/** Whether an error is what O_NOFOLLOW causes for a symbolic link: ELOOP, and EMLINK on FreeBSD. */
const isLinkRefusal = failedWith('ELOOP', 'EMLINK');

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
