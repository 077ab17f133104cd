import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {
  contentKey,
  type IndexRow,
  type Journal,
  type JournalReader,
  readJournal,
} from '../journal/journal.ts';
import {publicUrl} from '../service/record.ts';
import type {UnknownEntry} from './manifest-file.ts';
import {isManifest, writeManifest} from './manifest-store.ts';
import {openManifest, RunManifest} from './run-manifest.ts';

/** Reads a journal, or a manifest and the journal beside it, with the paths. */
export async function readMemory(
  path: string,
  host: Host,
  options?: Parameters<typeof readJournal>[2],
): Promise<JournalReader> {
  if (!(await isManifest(path, host))) return readJournal(path, host, {...options, paths: true});
  return (await readManifestAsJournal(path, host)).reader;
}

async function readManifestAsJournal(path: string, host: Host) {
  const manifest = await RunManifest.at(path, host);
  const seed = await manifest.load();
  const reader = await readJournal(manifest.journalPath, host, {paths: true, seed, displayPath: path});
  return {manifest: manifest.content, reader};
}

/** A manifest as a journal in which a user settles uploads; closing it writes the manifest. */
export async function openManifestToSettle(
  path: string,
  host: Host,
  note: (text: string) => void,
): Promise<Pick<Journal, 'reader' | 'settle' | 'forget' | 'close'>> {
  // The manifest gets what a run that was cut off has left beside it.
  await (await openManifest(path, host, {note})).close();
  const {manifest, reader} = await readManifestAsJournal(path, host);
  const {files, unknown} = manifest;
  const keysOf = <Entry extends UnknownEntry>(entries: Map<string, Entry>, {row}: IndexRow) =>
    [...entries].filter(([, {sha256, size}]) => contentKey(sha256, size) === reader.index.contentOf(row));
  return {
    reader,
    async settle(row, record) {
      for (const [key, entry] of keysOf(unknown, row)) {
        const {contentType} = entry;
        if (record !== undefined && contentType === undefined)
          throw new MediaError(
            'journal_unusable',
            `${path} does not say with which content type ${key} was sent.`,
            {
              hint: `Add it to the line of ${key}, as in: "contentType": "image/png"`,
            },
          );
        unknown.delete(key);
        if (record === undefined || contentType === undefined) continue;
        const url = publicUrl(record);
        files.set(key, {...omitUndefined({url}), ...entry, contentType, record: JSON.stringify(record)});
      }
      reader.index.forget((await reader.lineOf(row)).key);
    },
    async forget(row) {
      for (const [key] of keysOf(files, row)) files.delete(key);
    },
    async close() {
      await writeManifest(path, manifest, host, async () => undefined);
    },
  };
}
