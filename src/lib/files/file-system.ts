import {
  type BigIntStats,
  close,
  closeSync,
  fstat,
  fstatSync,
  lstatSync,
  open as openDescriptor,
  openSync,
  read,
  readSync,
} from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  statfs,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {promisify} from 'node:util';

const closeDescriptor = promisify(close);

/** Calls that Node makes on another thread, by file descriptor. */
const otherThread = {
  open: promisify(openDescriptor),
  read: promisify(read),
  fstat: promisify<number, {bigint: true}, BigIntStats>(fstat),
  /** Never rejects: nothing was written that could be lost, and closing fails when a disk has gone away. */
  close: (fd: number): Promise<void> => closeDescriptor(fd).catch(() => {}),
};

/** The calls of node:fs by which sources, journals, locks and moved files reach the disk. */
export const systemFiles = {
  ...{openSync, readSync, fstatSync, lstatSync, closeSync, otherThread},
  // File handles take 10 ms to load: only where one is opened.
  open: (...parameters: Parameters<typeof open>) => open(...parameters),
  ...{readFile, writeFile, copyFile, link, rename, rm, unlink, mkdir, utimes},
  ...{stat, lstat, realpath, statfs},
};

/** A file system with these calls: the one of this machine, or a simulated one. */
export type FileSystem = typeof systemFiles;
