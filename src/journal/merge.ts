import type {FileHandle} from 'node:fs/promises';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {draftOf, replaceDurably} from '../lib/files/durable.ts';
import {inodeOf} from '../lib/files/file-system.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {ignoreMissing} from '../lib/system-code.ts';
import {journalFailed} from './errors.ts';
import {appendAll} from './file.ts';
import type {UploadState} from './journal-index.ts';
import {formatHeader, withoutCommit} from './line.ts';
import {lockJournal} from './open.ts';
import {type JournalReader, readJournal} from './reader.ts';
import {commonScope} from './scope.ts';

/** Writes all that is stored, then replaces the output file, unless that would lose what it holds. */
export async function writeMerged(
  path: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  const absolute = typedPath(host.cwd(), path);
  const lock = await lockJournal(absolute, path, host);
  try {
    await refuseToOverwrite(absolute, path, readers, host);
    await replaceDurably(absolute, file => writeAll(file, readers), draftOf(absolute, host), host.files);
  } catch (error) {
    throw error instanceof MediaError ? error : journalFailed(path, 'written', error);
  } finally {
    await lock.release();
  }
}

async function refuseToOverwrite(
  absolute: string,
  shown: string,
  readers: readonly JournalReader[],
  host: Host,
): Promise<void> {
  const {cwd, files} = host;
  if ((await files.stat(absolute).catch(ignoreMissing)) === undefined) return;
  const found = await inodeOf(absolute, 'file', files);
  for (const reader of readers) {
    if ((await inodeOf(typedPath(cwd(), reader.shown), 'file', files)) !== found) continue;
    throw new MediaError('usage', `${shown} is one of the journals to be merged.`, {
      hint: 'Use another file with -o; the journals themselves are not changed.',
    });
  }
  const there = await readJournal(shown, host);
  commonScope([...readers, there]);
  for await (const batch of there.lines()) {
    const isLost = ({key}: {key: string}) => {
      const isKnownAs = (...states: UploadState[]) => readers.some(({index}) => index.isIn(key, ...states));
      if (there.index.isIn(key, 'forgotten')) return isKnownAs('done');
      return there.index.isIn(key, 'done', 'unknown') && !isKnownAs('done', 'forgotten');
    };
    if (!batch.some(isLost)) continue;
    throw new MediaError('usage', `${shown} records what the journals to be merged do not.`, {
      hint: `Nothing was written. To keep it, add ${shown} to these journals, and use another file with -o.`,
    });
  }
}

async function writeAll(file: FileHandle, readers: readonly JournalReader[]): Promise<void> {
  const scope = commonScope(readers);
  if (scope !== undefined) {
    // A run without --shard continues it.
    const {shard: _, ...whole} = scope;
    await appendAll(file, Buffer.from(formatHeader(whole)));
  }
  for (const [number, reader] of readers.entries()) {
    // They may be copies of this one.
    const earlier = readers.slice(0, number);
    for await (const batch of reader.lines()) {
      const kept = batch.filter(
        ({key}) => reader.index.isIn(key, 'done') && !earlier.some(({index}) => index.isIn(key, 'done')),
      );
      await appendAll(file, Buffer.from(kept.map(({text}) => `${withoutCommit(text)}\n`).join('')));
    }
  }
}
