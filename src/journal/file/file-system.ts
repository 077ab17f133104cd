import {statfs} from 'node:fs/promises';

/** What is known of the file system that a file is on. */
export interface FileSystem {
  /** Whether it may be on another machine, where simultaneous appends may overwrite each other. */
  isRemote: boolean;
  /** Whether it is certain to make each write durable that is asked to be by O_DSYNC. Some take that flag and do nothing about it. */
  heedsSyncFlag: boolean;
}

/** The types that are, or may be, on another machine (Linux, statfs(2)): NFS, SMB, CIFS, 9P, FUSE... */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f, 0x0bd00bd0,
  0x47504653,
]);

/** ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs, and overlays, which hand the flag on. */
const heedfulTypes = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630,
]);

/** What is known of the file system that a file is on; nothing where it cannot be asked. */
export async function fileSystemOf(path: string): Promise<FileSystem> {
  const type = await statfs(path).then(
    stats => stats.type,
    () => undefined,
  );
  if (type === undefined) return {isRemote: false, heedsSyncFlag: false};
  return {isRemote: remoteTypes.has(type), heedsSyncFlag: heedfulTypes.has(type)};
}
