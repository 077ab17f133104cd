import {randomBytes} from 'node:crypto';
import {readdir, rename, rm, stat} from 'node:fs/promises';
import {basename, dirname, extname, join} from 'node:path';
import {type Clock, systemHost} from '../../host.ts';
import {makeDirectory} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {hashOf} from './keys.ts';
import {isRecordId} from './stored-record.ts';

/** What a service found that was left behind by others. */
export interface LeftBehind {
  /** How many temporary files were removed. */
  readonly temporary: number;
  /** The IDs of uploads that were moved to `lost/`, since they have no record. */
  readonly lost: readonly string[];
}

/** Removes temporary files of processes that have ended or, if unknown, after a day; resolves to their number. */
export async function removeTemporary(
  directory: string,
  names: ReturnType<typeof temporaryNames>,
  clock: Clock,
): Promise<number> {
  let count = 0;
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stats = await stat(path).catch(() => undefined);
    const isRecent = stats === undefined || clock.now() - stats.mtimeMs <= 24 * 60 * 60 * 1000;
    if (names.isAlive(name) ?? isRecent) continue;
    await rm(path, {recursive: true, force: true});
    count += 1;
  }
  return count;
}

/**
 * Moves files whose names begin with an ID that has no record to directories of the same names in `lost/`: their
 * records may be what is missing. What another process is about to commit stays: the draft of its record, which is
 * named after it, exists by then. Returns the IDs of what was moved.
 */
export async function moveOrphans(dataDirectory: string): Promise<string[]> {
  // Listed before the records: what is committed meanwhile has its record then.
  const paths = await Promise.all(
    ['files', 'thumbnails', 'streams'].map(async kind => {
      const names = await readdir(join(dataDirectory, kind)).catch(() => []);
      return names.map(name => join(kind, name));
    }),
  );
  const temporary = await readdir(join(dataDirectory, 'temporary'));
  const drafts = new Set(temporary.map(name => extname(name).slice(1)));
  const records = new Set((await readdir(join(dataDirectory, 'records'))).map(idOf));
  const lostIds = new Set<string>();
  for (const path of paths.flat()) {
    const id = idOf(path);
    if (records.has(id) || drafts.has(id) || !isRecordId(id)) continue;
    const target = join(dataDirectory, 'lost', path);
    await makeDirectory(dirname(target), systemFiles, 0o700);
    // A directory replaces none that has entries.
    await rm(target, {recursive: true, force: true});
    await rename(join(dataDirectory, path), target);
    lostIds.add(id);
  }
  return [...lostIds];
}

/** The ID in the path of a file, a thumbnail or a record. */
function idOf(path: string): string {
  return basename(path).replace(/\..*$/s, '');
}

/** The parts of a temporary file's name: machine, its start, process; a draft ends with the ID of its record. */
const pattern = /^([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\w*)-[0-9a-f]{32}(?:\.\w+)?$/;

/** Names for temporary files, which say which process they belong to. */
export function temporaryNames() {
  const host = systemHost();
  const machine = hashOf(host.hostName()).slice(0, 8);
  const start = hashOf(`${host.bootId()} ${host.pidNamespace()}`).slice(0, 8);
  /** When a process began, as part of a name. */
  const beginning = (pid: number) => host.processStart(pid)?.replace(/\W/g, '_');
  const here = `${machine}-${start}-${host.processId()}-${beginning(host.processId()) ?? ''}`;
  return {
    /** A new name of this process. */
    next: () => `${here}-${randomBytes(16).toString('hex')}`,

    /** Whether the process of a name is running; undefined if it cannot be judged from here. */
    isAlive(name: string): boolean | undefined {
      const [, itsMachine, itsStart, pid, began] = pattern.exec(name) ?? [];
      if (itsMachine !== machine) return undefined;
      if (itsStart !== start || !host.isProcessAlive(Number(pid))) return false;
      const now = beginning(Number(pid));
      return now === undefined || now === began;
    },
  };
}
