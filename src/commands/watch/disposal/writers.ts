import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {nextTurn} from '../../../host.ts';

let looking: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a process has the file of our descriptor open for writing. Linux alone says so, and only of the processes that we may
 * look at (proc(5)). All who ask at the same time share one look at the processes.
 */
export async function hasWriter(descriptor: number): Promise<boolean> {
  const path = orElse(() => readlinkSync(`/proc/self/fd/${descriptor}`), undefined);
  if (path === undefined) return false;
  const inode = inodeIn(infoOf('self', descriptor), path);
  looking ??= openForWriting().finally(() => {
    looking = undefined;
  });
  const found = await looking;
  // Opened under another name, which may be gone. A file of another device with this number only delays.
  return found.has(path) || found.has(inode);
}

async function openForWriting(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    for (const descriptor of orElse(() => readdirSync(`/proc/${pid}/fd`), [])) {
      const path = orElse(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`), '');
      if (!path.startsWith('/')) continue;
      const info = infoOf(pid, descriptor);
      // The last two bits are the access mode: 1 and 2 allow writing.
      if (/^flags:\s*\d*[1256]$/m.test(info)) found.add(path).add(inodeIn(info, path));
    }
    await nextTurn();
  }
  return found;
}

function infoOf(pid: string, descriptor: string | number): string {
  return orElse(() => readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1'), '');
}

/** The line with the inode number of an open file, since Linux 5.14; earlier, the path. */
function inodeIn(info: string, otherwise: string): string {
  return /^ino:.*$/m.exec(info)?.[0] ?? otherwise;
}

/** Processes end while they are looked at, and those of other users are closed to us. */
function orElse<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
