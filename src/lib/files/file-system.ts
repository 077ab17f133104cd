import fs, {type BigIntStats} from 'node:fs';
import {promisify} from 'node:util';

const {openSync, readSync, fstatSync, lstatSync, closeSync} = fs;
const {open, readFile, writeFile, copyFile, link, rename, rm, unlink, mkdir, utimes} = fs.promises;
const {stat, lstat, realpath, statfs} = fs.promises;
const closeDescriptor = promisify(fs.close);

/** Calls that Node makes on another thread, by file descriptor. */
const otherThread = {
  open: promisify(fs.open),
  read: promisify(fs.read),
  fstat: promisify<number, {bigint: true}, BigIntStats>(fs.fstat),
  /** Never rejects: nothing was written that could be lost, and closing fails when a disk has gone away. */
  close: (fd: number): Promise<void> => closeDescriptor(fd).catch(() => {}),
};

/** The calls of node:fs by which sources, journals, locks and moved files reach the disk. */
export const systemFiles = {
  ...{openSync, readSync, fstatSync, lstatSync, closeSync, otherThread},
  ...{open, readFile, writeFile, copyFile, link, rename, rm, unlink, mkdir, utimes},
  ...{stat, lstat, realpath, statfs},
};

/** A file system with these calls: the one of this machine, or a simulated one. */
export type FileSystem = typeof systemFiles;
