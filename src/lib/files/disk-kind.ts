import type {FileSystem} from './file-system.ts';
import type {FilePath} from './typed-path.ts';

/** What is known of the disk that a file is on. */
export interface DiskKind {
  /** Whether it is certain to be of this machine, and to make each write durable that O_DSYNC asks to be. Some others ignore that flag. */
  isLocal: boolean;
  /** Whether it may be on another machine, where simultaneous appends may overwrite each other. */
  isRemote: boolean;
}

/** File systems by their numbers in Linux's statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs, and overlays, which hand calls on. */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);

/** NFS, SMB, CIFS, 9P, FUSE... */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f, 0x0bd00bd0,
  0x47504653,
]);

/** The kind of disk that a path leads to; neither where the system does not tell. */
export async function diskKind(files: Pick<FileSystem, 'statfs'>, path: FilePath): Promise<DiskKind> {
  const type = await files.statfs(path).then(
    stats => stats.type,
    () => 0,
  );
  return {isLocal: localTypes.has(type), isRemote: remoteTypes.has(type)};
}
