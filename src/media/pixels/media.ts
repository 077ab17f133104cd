import {mkdir, rm} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {isAbsolute} from 'node:path';
import {type Clock, type StopSignal, systemHost} from '../../host.ts';
import {hasShape} from '../../lib/json.ts';
import {limitConcurrency} from '../../lib/limited.ts';
import {omitUndefined} from '../../lib/object.ts';
import {undefinedIfThrows} from '../../lib/system-code.ts';
import {besidePackage} from '../../package-file.ts';
import {MediaChild} from './media-child.ts';
import {factsIn, factsShape, type MediaFacts, type MediaFile} from './media-facts.ts';

/** One process for each kind of work, shared by all services of this process. */
const children = {probe: new MediaChild(), thumbnail: new MediaChild(), stream: new MediaChild()};

/** Starts the process that reads videos, unless it runs, if a file of this type will need it. */
export function prepareToProbe(contentType: string): void {
  if (contentType.startsWith('video/')) children.probe.start();
}

/** Reads the facts of a file, here if a header is enough, else in a child process. Never rejects. */
export async function probeMedia(
  {path, contentType}: MediaFile,
  task: 'probe' | 'size' = 'probe',
): Promise<MediaFacts> {
  if (contentType.startsWith('image/')) {
    // Loaded on first use, since it would slow down the start of every run.
    const {probePlainImage} = await import('./image.ts');
    const facts = await factsIn(path, handle => probePlainImage(handle, contentType));
    if (facts !== undefined) return facts;
  }
  const response = await children.probe.ask({task, path, contentType});
  return response !== undefined && hasShape(response, factsShape) ? response : {};
}

/** What was made of an upload: the paths of a thumbnail, and of a directory with an HLS stream. */
export type Previews = Awaited<ReturnType<typeof makePreviews>>;

/** Makes the previews of a file: a WebP thumbnail of 320 pixels, with sharp, and an HLS stream. Never rejects. */
export async function makePreviews(
  file: MediaFile,
  probing: Promise<MediaFacts>,
  {newPath, hasSpace}: {newPath: () => string; hasSpace: () => Promise<boolean>},
) {
  const [thumbnail, stream] = await Promise.all([
    makeOrRemove(newPath(), target => makeThumbnail(file, target)),
    // A video without a known duration was given up on: making its stream would take as long.
    makeOrRemove(newPath(), async target =>
      (await probing).duration !== undefined && (await hasSpace()) ? makeStream(file, target) : false,
    ),
  ]);
  return omitUndefined({thumbnail, stream});
}

/** Whether a picture will have a thumbnail, as far as its header tells. */
export function canHaveThumbnail({contentType}: MediaFile, {width}: MediaFacts): boolean {
  const isKnown = /^image\/(?:avif|gif|jpeg|png|tiff|webp)$/.test(contentType);
  return isKnown && width !== undefined && sharpStart() !== undefined;
}

/** How long a thumbnail that could not be made is not tried again: reasons such as a lack of descriptors may end. */
const retryThumbnailMs = 60_000;

/** By the paths of the media: thumbnails that are being made, and those that could not be made, with when to retry. */
const thumbnails = new Map<string, {adding: Promise<boolean>; retryAt: number}>();
const inTurn = limitConcurrency(1);

/**
 * Makes the thumbnail of a stored file at `draft`, and calls `place` for it; resolves to whether that succeeded. One
 * that could not be made is tried again after a minute. Rejects once `closing` is aborted.
 */
export function addThumbnail(
  file: MediaFile,
  {draft, place}: {draft: string; place: () => Promise<boolean>},
  {clock, closing}: {clock: Clock; closing: StopSignal},
): Promise<boolean> {
  const known = thumbnails.get(file.path);
  if (known !== undefined && clock.monotonic() < known.retryAt) return known.adding;
  const adding = inTurn(async () => {
    closing.throwIfAborted();
    return (await makeOrRemove(draft, target => makeThumbnail(file, target))) !== undefined && place();
  });
  const entry = {adding, retryAt: Number.POSITIVE_INFINITY};
  thumbnails.set(file.path, entry);
  void adding
    .catch(() => true)
    .then(isOver => {
      // Others are on disk, or had no space there, which may change.
      if (isOver) thumbnails.delete(file.path);
      else entry.retryAt = clock.monotonic() + retryThumbnailMs;
    });
  return adding;
}

/** Resolves to whether a thumbnail was written; never for XML such as SVG, nor without sharp. */
async function makeThumbnail({path, contentType}: MediaFile, target: string): Promise<boolean> {
  const sharp = /xml/i.test(contentType) ? undefined : sharpStart();
  if (sharp === undefined) return false;
  return isMade(await children.thumbnail.ask({task: 'thumbnail', path, contentType, target, sharp}));
}

/** Writes the stream of a video into a new directory; resolves with whether it did. */
export async function makeStream({path, contentType}: MediaFile, target: string): Promise<boolean> {
  await mkdir(target, {mode: 0o700});
  return isMade(await children.stream.ask({task: 'stream', path, contentType, target}));
}

function isMade(response: Record<string, unknown> | undefined): boolean {
  return response?.['isMade'] === true;
}

/** Where sharp starts: the package at MEDIA_SHARP, or the one that is installed beside this package. */
function sharpStart(): string | undefined {
  const variable = systemHost().env['MEDIA_SHARP'];
  const isGiven = variable !== undefined && isAbsolute(variable);
  return undefinedIfThrows(() =>
    isGiven ? createRequire(variable).resolve(variable) : besidePackage('sharp'),
  );
}

/** Resolves to the path if `make` resolves to true; else removes what `make` left there, and resolves to undefined. */
async function makeOrRemove(
  path: string,
  make: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  if (await make(path).catch(() => false)) return path;
  // What a process wrote before it was killed.
  await rm(path, {recursive: true, force: true});
  return undefined;
}
