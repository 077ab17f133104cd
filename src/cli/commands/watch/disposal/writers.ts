import {nextTurn} from '../../../../host.ts';
import type {FileSystem} from '../../../../lib/files/file-system.ts';
import {undefinedIfThrows} from '../../../../lib/system-code.ts';

/** The search that is under way: all who ask at the same time share it. */
let search: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a process has the file of our descriptor open for writing. Only Linux reports that, and only of the processes
 * that this user may look at (proc(5)); elsewhere it is false.
 */
export async function hasWriter(descriptor: number, files: FileSystem): Promise<boolean> {
  const path = undefinedIfThrows(() => files.readlinkSync(`/proc/self/fd/${descriptor}`));
  if (path === undefined) return false;
  const info = textOf(files, `/proc/self/fdinfo/${descriptor}`);
  const inode = inodeOf(info, textOf(files, '/proc/self/mountinfo'));
  search ??= filesOpenForWriting(files).finally(() => {
    search = undefined;
  });
  const openFiles = await search;
  // A program may have opened the file under another name, so its inode is compared, too.
  return openFiles.has(path) || (inode !== undefined && openFiles.has(inode));
}

/** The paths and inodes of files that processes have open for writing, as far as /proc shows them to us. */
async function filesOpenForWriting(files: FileSystem): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const pid of files.readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    let mounts: string | undefined;
    // Processes end while they are looked at, and those of other users are closed to us.
    for (const descriptor of undefinedIfThrows(() => files.readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const path = undefinedIfThrows(() => files.readlinkSync(`/proc/${pid}/fd/${descriptor}`));
      if (!path?.startsWith('/')) continue;
      const info = textOf(files, `/proc/${pid}/fdinfo/${descriptor}`);
      // The last two bits are the access mode: 1 and 2 allow writing.
      if (!/^flags:\s*\d*[1256]$/m.test(info)) continue;
      mounts ??= textOf(files, `/proc/${pid}/mountinfo`);
      found.add(path).add(inodeOf(info, mounts) ?? path);
    }
    await nextTurn();
  }
  return found;
}

function textOf(files: FileSystem, path: string): string {
  return undefinedIfThrows(() => files.readFileSync(path, 'latin1')) ?? '';
}

/** The device and the inode of an open file, since Linux 5.14; undefined before, or if its mount is gone. */
function inodeOf(info: string, mounts: string): string | undefined {
  const number = (field: string) => new RegExp(`^${field}:\\s*(\\d+)$`, 'm').exec(info)?.[1];
  const [, device] = new RegExp(`^${number('mnt_id')} \\d+ (\\S+) `, 'm').exec(mounts) ?? [];
  const inode = number('ino');
  return device === undefined || inode === undefined ? undefined : `${device} ${inode}`;
}
