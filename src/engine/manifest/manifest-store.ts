import {isUtf8} from 'node:buffer';
import {basename, dirname, join} from 'node:path';
import {throwAs} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {draftOf, replaceContent, replaceDurably} from '../../lib/files/durable.ts';
import {inodeOf} from '../../lib/files/file-system.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {ignoreMissing} from '../../lib/system-code.ts';
import {type Manifest, parseManifest, renderManifest, sidesOf} from './manifest-file.ts';
import {type MergedManifest, mergeManifests} from './merge-manifests.ts';

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

/** Reads a manifest; undefined if there is none. */
export async function readManifest(path: string, host: Files): Promise<Manifest | undefined> {
  const text = await readManifestText(path, host);
  return text === undefined ? undefined : parseManifest(text, path);
}

/**
 * Replaces a manifest at once and durably, and returns what it contains then. Changes that were made to the file since
 * `ours.text` are merged. A file with the same content is not touched; another one keeps its mode, and its owner if the
 * system permits it.
 * `isChanged`: `ours` differs from `ours.text` in more than its layout.
 */
export async function writeManifest(
  path: string,
  ours: Manifest,
  host: Host,
  hashOf: (key: string) => Promise<string | undefined>,
  isChanged = false,
): Promise<MergedManifest> {
  const target = await manifestPath(path, host);
  const replace = async (now: string | undefined, text: string) => {
    if (now !== undefined)
      return replaceContent(target, Buffer.from(now), Buffer.from(text), host, {allowsOwner: true});
    await replaceDurably(target, text, draftOf(target, host), host.files, 0o666);
    return true;
  };
  for (;;) {
    const now = await readManifestText(path, host);
    let merged: MergedManifest = {manifest: ours, undecided: []};
    if (now !== undefined && now !== ours.text) {
      const base = ours.text === '' ? undefined : parseManifest(ours.text, path);
      merged = await mergeManifests(base, parseManifest(now, path), ours, hashOf);
    }
    const text = renderManifest(merged.manifest);
    const [side, otherSide] = now === undefined ? [] : sidesOf(now);
    if (text === now) return merged;
    // To read a large manifest once more, only for its layout, takes a second.
    const isRead = isChanged && now === ours.text;
    if (!isRead && side !== undefined && otherSide === undefined)
      if (renderManifest(parseManifest(side, path)) === text) return merged;
    const isWritten = await replace(now, text).catch(
      throwAs(
        'journal_failed',
        `The manifest ${path} could not be written`,
        'Check its disk, and that you may write there.',
      ),
    );
    if (isWritten) return {...merged, manifest: {...merged.manifest, text}};
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
