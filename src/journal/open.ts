import {dirname} from 'node:path';
import type {Host} from '../host.ts';
import {acquireLock, LockHeld} from '../lib/lock.ts';
import {syncDirectory} from '../lib/sync-directory.ts';
import {typedPath} from '../lib/typed-path.ts';
import {inUse, journalFailed} from './errors.ts';
import {cannotOpen, type JournalHandle, openJournalFile, writeAll} from './file.ts';
import {formatHeader, type Scope} from './lines.ts';
import {JournalReader} from './reader.ts';
import {type Recovery, recover} from './recovery.ts';
import {Journal} from './run-journal.ts';
import {refuseOtherScope} from './scope.ts';

export interface JournalOptions {
  /** What the run is about: nothing else may stand in the journal. Without it, only one that is there is opened. */
  scope?: Scope;
  /** Whether it is to be known by paths, too; it is where no scope is given. */
  paths?: boolean;
  /** Wraps the opened file; a test counts or fails its calls there. */
  wrap?: (handle: JournalHandle) => JournalHandle;
}

/**
 * Opens a journal for a run, or makes it, and keeps other runs off it until close(). Rejects at once when another run
 * holds it, and before anything is written when the file is no journal, of another version, service or shard, or damaged.
 */
export async function openJournal(path: string, host: Host, options: JournalOptions = {}): Promise<Journal> {
  const absolute = typedPath(host.cwd(), path);
  const release = await lockJournal(absolute, path, host);
  let handle: JournalHandle | undefined;
  try {
    handle = await openJournalFile(absolute, path, options.scope === undefined ? 'write' : 'create');
    handle = options.wrap?.(handle) ?? handle;
    const recovery = await recover(handle, path, {paths: options.paths ?? options.scope === undefined});
    const length = await prepare(handle, recovery, options.scope, {absolute, shown: path});
    const reader = new JournalReader(path, recovery, handle);
    return new Journal({reader, handle, length, host, release});
  } catch (error) {
    await (handle?.close() ?? Promise.resolve()).finally(release);
    throw error;
  }
}

/** Keeps other runs off a journal until the function that it resolves to is called. */
export async function lockJournal(absolute: string, shown: string, host: Host): Promise<() => Promise<void>> {
  try {
    return await acquireLock(`${absolute}.lock`, host);
  } catch (error) {
    throw error instanceof LockHeld ? inUse(shown, `${shown}.lock`, error.holder) : cannotOpen(shown, error);
  }
}

/** Cuts off a torn line and writes what the next line needs; resolves to the file's length. */
async function prepare(
  handle: JournalHandle,
  {soundLength, needs, torn, scope: there}: Recovery,
  asked: Scope | undefined,
  {absolute, shown}: {absolute: string; shown: string},
): Promise<number> {
  if (there !== undefined && asked !== undefined) refuseOtherScope(there, asked, shown);
  const header = asked === undefined ? '' : `${formatHeader(asked)}\n`;
  const text = needs === 'header' ? header : needs === 'line-break' ? '\n' : '';
  try {
    if (torn) await handle.truncate(soundLength);
    await writeAll(handle, Buffer.from(text), soundLength);
    // What a killed run left in the system's memory is relied on from now on.
    await handle.datasync();
    if (needs === 'header') await syncDirectory(dirname(absolute));
  } catch (error) {
    throw journalFailed(shown, 'written', error);
  }
  return soundLength + Buffer.byteLength(text);
}
