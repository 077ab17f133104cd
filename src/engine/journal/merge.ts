import type {FileHandle} from 'node:fs/promises';
import {MediaError} from '../../errors.ts';
import {hint, option} from '../../hint.ts';
import type {Host} from '../../host.ts';
import {draftOf, replaceDurably} from '../../lib/files/durable.ts';
import {inodeOf} from '../../lib/files/file-system.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {ignoreMissing} from '../../lib/system-code.ts';
import {journalAccessError} from './journal-errors.ts';
import {appendAll} from './journal-file.ts';
import type {UploadState} from './journal-index.ts';
import {commitAsHashed, formatHeader} from './line.ts';
import {lockJournal} from './open.ts';
import {type JournalReader, readJournal} from './reader.ts';
import {commonScope} from './scope.ts';

/** Writes the stored uploads of several journals to one file. Rejects if an existing file has others. */
export async function writeMergedJournal(
  path: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  const absolute = resolveUserPath(host.cwd(), path);
  const lock = await lockJournal(absolute, path, host);
  try {
    await refuseToOverwrite(absolute, path, readers, host);
    await replaceDurably(absolute, file => writeAll(file, readers), draftOf(absolute, host), host.files);
  } catch (error) {
    throw error instanceof MediaError ? error : journalAccessError(path, 'written', error);
  } finally {
    await lock.release();
  }
}

/** Rejects if the output is an input, or if it records a stored, unknown or forgotten upload that would be lost. */
async function refuseToOverwrite(
  absolute: string,
  displayPath: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  const {cwd, files} = host;
  if ((await files.stat(absolute).catch(ignoreMissing)) === undefined) return;
  const outputInode = await inodeOf(absolute, 'file', files);
  for (const reader of readers) {
    if ((await inodeOf(resolveUserPath(cwd(), reader.displayPath), 'file', files)) !== outputInode) continue;
    throw new MediaError('usage', `${displayPath} is one of the journals to be merged.`, {
      hint: hint`Use another file with ${option('output')}; the journals themselves are not changed.`,
    });
  }
  const output = await readJournal(displayPath, host);
  commonScope([...readers, output]);
  for await (const batch of output.lines()) {
    const isLost = ({key}: {key: string}) => {
      const anyHasState = (...states: UploadState[]) =>
        readers.some(({index}) => index.hasState(key, ...states));
      if (output.index.hasState(key, 'forgotten')) return anyHasState('done');
      return output.index.hasState(key, 'done', 'unknown') && !anyHasState('done', 'forgotten');
    };
    if (!batch.some(isLost)) continue;
    throw new MediaError('usage', `${displayPath} records what the journals to be merged do not.`, {
      hint: hint`Nothing was written. To keep it, add ${displayPath} to these journals, and use another file with ${option('output')}.`,
    });
  }
}

/** Copies the lines of each stored upload from the first journal that has it as stored, and sightings from all. */
async function writeAll(file: FileHandle, readers: readonly JournalReader[]): Promise<void> {
  const scope = commonScope(readers);
  if (scope !== undefined) {
    // The merged journal has no shard, so that a run without --shard can continue it.
    const {shard: _, ...whole} = scope;
    await appendAll(file, Buffer.from(formatHeader(whole)));
  }
  for (const [number, reader] of readers.entries()) {
    // The journals may be copies of each other: an upload is written once.
    const earlier = readers.slice(0, number);
    for await (const batch of reader.lines()) {
      const storedLines = batch.filter(({key, event, path = '', size = 0, stat, types}) => {
        const isWritten = ({index}: JournalReader) =>
          index.hasState(key, 'done') &&
          (event !== 'seen' || index.entryOfFile({path, size, stat, types}) !== undefined);
        return reader.index.hasState(key, 'done') && !earlier.some(isWritten);
      });
      await appendAll(file, Buffer.from(storedLines.map(({text}) => `${commitAsHashed(text)}\n`).join('')));
    }
  }
}
