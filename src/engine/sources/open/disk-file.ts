import type {BigIntStats} from 'node:fs';
import type {Clock, StopSignal} from '../../../host.ts';
import {type FileSystem, inodeOf} from '../../../lib/files/file-system.ts';
import type {FilePath} from '../../../lib/files/typed-path.ts';
import {unlessStopped} from '../../../lib/stop.ts';
import {undefinedIfThrows} from '../../../lib/system-code.ts';

/** Larger reads are always made on another thread. */
export const smallBytes = 64 * 1024;

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
  /** Calls on other threads are abandoned when it is aborted: a disk may hang. */
  signal: StopSignal<Error>;
}

/** A file that is open for reading. Each call is made on this thread if it cannot block, otherwise on another. */
export type DiskFile = ReturnType<typeof diskFile>;

/** Makes a DiskFile of an open descriptor, which its close() closes. */
export function diskFile({files, calls, fd, path, opened, isLocal, isPathReal, signal}: DiskFileParts) {
  const waitFor = <Result>(call: Promise<Result>) => unlessStopped(call, signal);
  const isInline = isLocal && isPathReal;
  const statHere = () => files.fstatSync(fd, {bigint: true});
  /** What is at its path, which was not a symbolic link; undefined if that cannot be read. */
  const statPathHere = () =>
    undefinedIfThrows(() => files.lstatSync(path, {bigint: true, throwIfNoEntry: false}));
  /** The first `length` bytes of the file; fewer if it is shorter. */
  const readHere = (length: number): Uint8Array => {
    const bytes = Buffer.allocUnsafeSlow(length);
    return bytes.subarray(0, files.readSync(fd, bytes, 0, length, 0));
  };
  return {
    /** The file's stats when it was opened. */
    opened,
    /** A local file under a path without symbolic links: its stats are in memory, so a slow disk blocks nothing. */
    inline: isInline ? {statHere, statPathHere, readHere} : undefined,

    /** Reads into the memory; returns the number of bytes, 0 at the end of the file. */
    read: (into: Uint8Array, position: number): number | Promise<number> =>
      into.length <= smallBytes && isLocal && calls.areFast
        ? calls.timeCall(() => files.readSync(fd, into, 0, into.length, position))
        : waitFor(files.asyncFs.read(fd, into, 0, into.length, position)).then(({bytesRead}) => bytesRead),

    stat: (): BigIntStats | Promise<BigIntStats> =>
      isLocal ? statHere() : waitFor(files.asyncFs.fstat(fd, {bigint: true})),

    /** What its path leads to; undefined if that cannot be read. */
    statPath: (): BigIntStats | undefined | Promise<BigIntStats | undefined> =>
      isInline ? statPathHere() : waitFor(files.stat(path, {bigint: true}).catch(() => undefined)),

    /** The real path of the open file: on Linux as its path leads now; elsewhere undefined if that is another file. */
    realPath: (): Promise<string | undefined> =>
      waitFor(
        files.readlink(`/proc/self/fd/${fd}`).catch(async () => {
          const real = await files.realpath(path).catch(() => '');
          const inode = await inodeOf(real, 'file', files);
          return inode === `${opened.dev}:${opened.ino}` ? real : undefined;
        }),
      ),

    /** Never fails. */
    close(): void | Promise<void> {
      if (isLocal) return undefinedIfThrows(() => files.closeSync(fd));
      const closing = files.asyncFs.close(fd);
      return signal.aborted ? undefined : waitFor(closing).catch(() => {});
    },
  };
}

/** A call that took longer than this has waited for a disk. */
const slowCallMs = 2;

/** How many files are opened on other threads after a slow call: doubles each time; one less after a fast call. */
const carefulOpens = {least: 8, most: 512};

/** Decides by the time that calls take whether the next may be made on this thread. */
export class SlowCalls {
  readonly #clock: Clock;
  /** How many files are still to be opened on other threads. */
  #careful = 0;
  /** How many will be after the next slow call. */
  #nextCareful = carefulOpens.least;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether recent calls were fast. */
  get areFast(): boolean {
    return this.#careful <= 0;
  }

  /** Makes a call on this thread, and measures it: after a slow one, files are opened on other threads for a while. */
  timeCall<Result>(call: () => Result): Result {
    const start = this.#clock.monotonic();
    const result = call();
    if (this.#clock.monotonic() - start > slowCallMs) {
      this.#careful = this.#nextCareful;
      this.#nextCareful = Math.min(carefulOpens.most, 2 * this.#nextCareful);
    } else this.#nextCareful = Math.max(carefulOpens.least, this.#nextCareful - 1);
    return result;
  }

  /** Counts a file that was opened on another thread. */
  countOpening(): void {
    this.#careful -= 1;
  }
}
