import {type BigIntStats, close, fstat, open, read} from 'node:fs';
import {promisify} from 'node:util';

const closeFile = promisify(close);

/** Calls of the file system that Node makes on another thread, by file descriptor. */
export const otherThread = {
  open: promisify(open),
  read: promisify(read),
  fstat: promisify<number, {bigint: true}, BigIntStats>(fstat),
  /** Never rejects: nothing was written that could be lost, and closing fails when a disk has gone away. */
  close: (fd: number): Promise<void> => closeFile(fd).catch(() => {}),
};
