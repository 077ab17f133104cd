import {rm} from 'node:fs/promises';
import {defined} from '../../lib/defined.ts';
import type {MediaFacts} from '../media/media-facts.ts';
import {repackager} from '../media/repackager.ts';
import {thumbnailer} from '../media/thumbnailer.ts';
import type {Service} from './context.ts';

/** What was made of an upload: the temporary paths of a thumbnail, and of a directory with an HLS stream. */
export interface Previews {
  readonly thumbnail?: string;
  readonly stream?: string;
}

/** Makes what can be made of an upload, whose facts are being read; never rejects. */
export async function makePreviews(
  {store, previews}: Service,
  {path, contentType, size}: {path: string; contentType: string; size: number},
  probing: Promise<MediaFacts>,
): Promise<Previews> {
  if (!previews) return {};
  const makeThumbnail = (target: string) => thumbnailer.make({path, target, contentType});
  // A stream is about as large as its video, and must leave space for other uploads.
  const makeStream = async (directory: string) =>
    // What the prober gives up on would keep the repackager busy too.
    (await probing).duration !== undefined &&
    (await store.hasSpaceFor(4 * size)) &&
    repackager.make({path, directory});
  const [thumbnail, stream] = await Promise.all(
    [makeThumbnail, makeStream].map(make => made(store.temporaryPath(), make)),
  );
  return defined({thumbnail, stream});
}

/** Removes what was not stored. */
export async function removePreviews(previews: Previews): Promise<void> {
  await Promise.all(Object.values(previews).map(remove));
}

async function made(path: string, make: (path: string) => Promise<boolean>): Promise<string | undefined> {
  if (await make(path).catch(() => false)) return path;
  // What a process wrote before it was killed.
  await remove(path);
  return undefined;
}

function remove(path: string): Promise<void> {
  return rm(path, {recursive: true, force: true});
}
