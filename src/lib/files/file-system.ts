import * as fs from 'node:fs';
import {open} from 'node:fs/promises';
import {promisify} from 'node:util';
import type {FilePath} from './typed-path.ts';

export {constants} from 'node:fs';

const closeDescriptor = promisify(fs.close);

/** Calls that Node makes on another thread, by file descriptor. */
const asyncFs = {
  open: promisify(fs.open),
  read: promisify(fs.read),
  fstat: promisify<number, {bigint: true}, fs.BigIntStats>(fs.fstat),
  /** Never rejects: nothing was written that could be lost, and closing fails when a disk has gone away. */
  close: (fd: number): Promise<void> => closeDescriptor(fd).catch(() => {}),
};

const {openSync, readSync, fstatSync, lstatSync, closeSync} = fs;
const {existsSync, readFileSync, readdirSync, readlinkSync} = fs;

/** How the program reaches the disk: by node:fs, since node:fs/promises takes 7 ms to load. */
export const systemFiles = {
  ...{openSync, readSync, fstatSync, lstatSync, closeSync, asyncFs},
  ...{existsSync, readFileSync, readdirSync, readlinkSync},
  open: (...parameters: Parameters<typeof open>) => open(...parameters),
  readFile: promisify(fs.readFile),
  writeFile: promisify(fs.writeFile),
  copyFile: promisify(fs.copyFile),
  link: promisify(fs.link),
  rename: promisify(fs.rename),
  rm: promisify(fs.rm),
  unlink: promisify(fs.unlink),
  mkdir: promisify(fs.mkdir),
  mkdtemp: promisify(fs.mkdtemp),
  opendir: promisify(fs.opendir),
  readdir: promisify(fs.readdir),
  chmod: promisify(fs.chmod),
  utimes: promisify(fs.utimes),
  stat: promisify(fs.stat),
  lstat: promisify(fs.lstat),
  access: promisify(fs.access),
  realpath: promisify(fs.realpath.native) as typeof fs.realpath.__promisify__,
  readlink: promisify(fs.readlink),
  statfs: promisify(fs.statfs),
};

/** A file system with these calls: the one of this machine, or a simulated one. */
export type FileSystem = typeof systemFiles;

/** Local file systems by their numbers in statfs(2): ext2-4, XFS, Btrfs, F2FS, ZFS, tmpfs, and overlays. */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);

/** NFS, SMB, CIFS, 9P, FUSE... */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f, 0x0bd00bd0,
  0x47504653,
]);

/**
 * The kind of disk that a path leads to. `isLocal`: on this machine for certain, and honours O_DSYNC. `isRemote`: maybe
 * on another machine, where simultaneous appends may overwrite each other. Neither where the system does not tell.
 */
export async function diskKind(files: Pick<FileSystem, 'statfs'>, path: FilePath) {
  const type = await files.statfs(path).then(
    stats => stats.type,
    () => 0,
  );
  return {isLocal: localTypes.has(type), isRemote: remoteTypes.has(type)};
}

/** Identifies the file or directory that a path leads to, as long as it exists; undefined if there is none. */
export async function inodeOf(
  path: string,
  kind: 'file' | 'directory',
  files: Pick<FileSystem, 'stat'>,
): Promise<string | undefined> {
  const stats = await files.stat(path, {bigint: true}).catch(() => undefined);
  const isThere = kind === 'file' ? stats?.isFile() : stats?.isDirectory();
  return stats !== undefined && isThere ? `${stats.dev}:${stats.ino}` : undefined;
}
