import {rename, rm, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {MediaError, systemCode} from '../errors.ts';
import type {Host} from '../host.ts';
import {syncDirectory} from '../lib/sync-directory.ts';
import {typedPath} from '../lib/typed-path.ts';
import {journalFailed} from './errors.ts';
import {cannotOpen, createJournalFile, type JournalHandle, writeAll} from './file.ts';
import {formatHeader} from './lines.ts';
import {lockJournal} from './open.ts';
import {closeAll, type JournalReader, readJournals} from './reader.ts';
import {commonScope} from './scope.ts';

/**
 * Writes one journal of all that is stored, in place of what is there once it is durable. It never writes over one of
 * the journals read, nor over a file that is no journal.
 */
export async function writeMerged(
  path: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  const absolute = typedPath(host.cwd(), path);
  await refuseToOverwrite(absolute, path, readers, host);
  const release = await lockJournal(absolute, path, host);
  const temporary = `${absolute}.${host.uuid()}`;
  try {
    await copyTo(temporary, path, readers);
    await rename(temporary, absolute);
    await syncDirectory(dirname(absolute));
  } catch (error) {
    await rm(temporary, {force: true});
    throw error instanceof MediaError ? error : journalFailed(path, 'written', error);
  } finally {
    await release();
  }
}

async function refuseToOverwrite(
  absolute: string,
  shown: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  let identity: string;
  try {
    const {dev, ino} = await stat(absolute);
    identity = `${dev}:${ino}`;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw cannotOpen(shown, error);
  }
  for (const reader of readers) {
    if ((await reader.identity()) !== identity) continue;
    throw new MediaError('usage', `${shown} is one of the journals to be merged.`, {
      hint: 'Name another file with -o; the journals stay as they are.',
    });
  }
  // Whatever else is there has to be a journal to be replaced.
  await closeAll(await readJournals([shown], host.cwd()));
}

async function copyTo(temporary: string, shown: string, readers: readonly JournalReader[]): Promise<void> {
  const handle = await createJournalFile(temporary, shown);
  try {
    const scope = commonScope(readers);
    let position = scope === undefined ? 0 : await appendTo(handle, `${formatHeader(scope)}\n`, 0);
    for (const [number, reader] of readers.entries()) {
      const earlier = readers.slice(0, number);
      for await (const batch of reader.lines()) {
        const kept = batch.filter(({row}) => isKept(row, reader, earlier));
        position = await appendTo(handle, kept.map(({text}) => `${text}\n`).join(''), position);
      }
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** What is stored, and stands in no journal before: one may go on with a copy of another. */
function isKept(row: number, {index}: JournalReader, earlier: readonly JournalReader[]): boolean {
  const isDone = row !== -1 && index.stateOf(row) === 'done';
  return isDone && !earlier.some(before => before.index.hasDone(index.keyOf(row)));
}

async function appendTo(handle: JournalHandle, text: string, position: number): Promise<number> {
  const bytes = Buffer.from(text);
  await writeAll(handle, bytes, position);
  return position + bytes.length;
}
