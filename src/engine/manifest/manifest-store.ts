import {isUtf8} from 'node:buffer';
import {basename, dirname, join} from 'node:path';
import {throwAs} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {streamHash} from '../../lib/files/content-hash.ts';
import {draftOf, replaceContent, replaceDurably} from '../../lib/files/durable.ts';
import {type FileSystem, inodeOf} from '../../lib/files/file-system.ts';
import {openStream} from '../../lib/files/read-text.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {ignoreMissing} from '../../lib/system-code.ts';
import {commonScope} from '../journal/journal.ts';
import {type Manifest, parseManifest, renderManifest} from './manifest-file.ts';
import {mergeManifests} from './merge-manifests.ts';

type Files = Pick<Host, 'cwd' | 'files'>;

/** The path of the file itself, from whose directory keys are paths: a link leads to it, and it may not exist yet. */
export async function manifestPath(path: string, host: Files): Promise<string> {
  const {cwd, files} = host;
  const absolute = resolveUserPath(cwd(), path);
  try {
    const target = await files.realpath(absolute).catch(ignoreMissing);
    if (target !== undefined) return target;
    const link = await files.readlink(absolute).catch(() => undefined);
    if (link !== undefined) return await manifestPath(resolveUserPath(dirname(absolute), link), host);
    return join(await files.realpath(dirname(absolute)), basename(absolute));
  } catch (error) {
    return throwAs('journal_failed', `The directory of the manifest ${path} could not be opened`)(error);
  }
}

/** Makes the function that hashes the file of a key; undefined if it cannot be read, as if it were absent. */
export function hashesIn(directory: string, files: FileSystem) {
  return (key: string): Promise<string | undefined> =>
    openStream(join(directory, key), files)
      .then(streamHash)
      .catch(() => undefined);
}

/** Reads a manifest; undefined if there is none. */
export async function readManifest(path: string, host: Files): Promise<Manifest | undefined> {
  const text = await readManifestText(path, host);
  return text === undefined ? undefined : parseManifest(text, path);
}

/**
 * Replaces a manifest at once and durably; a file that is already like that is not touched. `before`: what `ours` was
 * made from. Changes that were made to the file since then are merged, by the hash of the file of a key, if it has one.
 * The file keeps its mode, and its owner if the system permits it.
 */
export async function writeManifest(
  path: string,
  before: Manifest,
  ours: Manifest,
  host: Host,
  hashOf: (key: string) => Promise<string | undefined>,
): Promise<void> {
  const target = await manifestPath(path, host);
  const create = (text: string) =>
    replaceDurably(target, text, draftOf(target, host), host.files, 0o666).then(() => true);
  const replace = (now: string, text: string) =>
    replaceContent(target, Buffer.from(now), Buffer.from(text), host, {allowsOwner: true});
  for (let isWritten = false; !isWritten; ) {
    const now = await readManifestText(path, host);
    const isAsRead = now === undefined || now === before.text;
    const theirs = isAsRead ? undefined : parseManifest(now, path);
    if (theirs !== undefined)
      commonScope([
        {displayPath: `${path}, as it was read,`, scope: ours},
        {displayPath: `${path} now`, scope: theirs},
      ]);
    const text = renderManifest(theirs ? await mergeManifests(before, theirs, ours, hashOf) : ours);
    if (text === now) return;
    isWritten = await (now === undefined ? create(text) : replace(now, text)).catch(
      throwAs(
        'journal_failed',
        `The manifest ${path} could not be written`,
        'Check its disk, and that you may write there.',
      ),
    );
  }
}

/** Reads the text of a manifest, which may be a conflict; undefined if there is none. */
export async function readManifestText(path: string, host: Files): Promise<string | undefined> {
  const target = await manifestPath(path, host);
  try {
    const stats = await host.files.stat(target).catch(ignoreMissing);
    if (stats?.isFile() === false) throw new Error('it is not a regular file');
    const bytes = stats && (await host.files.readFile(target));
    if (bytes && !isUtf8(bytes)) throw new Error('it is not text in UTF-8');
    return bytes?.toString();
  } catch (error) {
    return throwAs('journal_failed', `The manifest ${path} could not be read`)(error);
  }
}

/** Whether a file begins as a manifest does, and not as a journal, whose first name is "journal". */
export async function isManifest(path: string, {cwd, files}: Files): Promise<boolean> {
  const absolute = resolveUserPath(cwd(), path);
  if ((await inodeOf(absolute, 'file', files)) === undefined) return false;
  const handle = await files.open(absolute, 'r').catch(() => undefined);
  const reading = handle?.read(Buffer.alloc(4096), 0, 4096, 0).catch(() => undefined);
  const head = (await reading)?.buffer.toString() ?? '';
  await handle?.close();
  return /^\ufeff?\s*(<{7} |\{\s*"(?!journal")[^"]*"\s*:)/.test(head);
}
