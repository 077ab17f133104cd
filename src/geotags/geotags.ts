import type {RandomAccess} from '../lib/files/random-access.ts';
import {sniff} from '../sources/media-type/sniff/sniff.ts';
import {walkJpeg} from './jpeg.ts';
import {Part, type Patch} from './part.ts';
import {UnstrippableError} from './unstrippable.ts';

export type {Patch} from './part.ts';
export {UnstrippableError} from './unstrippable.ts';

/** Whether a file tells where it was taken, and the bytes without which it does not. */
export type GeotagPlan = {geotags: 'none'} | {geotags: 'present'; patches: readonly Patch[]};

/** Formats that consist of pixels and their size. */
const withoutMetadata = new Set([
  'image/x-portable-bitmap',
  'image/x-portable-graymap',
  'image/x-portable-pixmap',
  'image/x-portable-arbitrarymap',
  'image/x-pfm',
  'image/qoi',
  'image/x-farbfeld',
]);

/** What walks the whole of a file of a type. */
const walkers = new Map<string, (file: Part) => Promise<void>>([['image/jpeg', walkJpegFile]]);

/**
 * Plans how to take the location out of a file without another change: the patches replace bytes by as many others. Rejects with
 * an UnstrippableError if a location may be where it cannot be taken out.
 */
export async function planGeotags(file: RandomAccess): Promise<GeotagPlan> {
  const finding = await sniff(file);
  const type = finding?.isMedia ? finding.type : (finding?.container ?? 'an unknown format');
  if (withoutMetadata.has(type)) return {geotags: 'none'};
  const walk = walkers.get(type);
  if (walk === undefined) throw new UnstrippableError(`a file of type ${type}`);
  const whole = Part.ofFile(file);
  await walk(whole);
  const patches = await whole.patches();
  return patches.length === 0 ? {geotags: 'none'} : {geotags: 'present', patches};
}

/** A JPEG picture may be followed by others (CIPA DC-007), each of them with its own metadata. */
async function walkJpegFile(file: Part): Promise<void> {
  let at = await walkJpeg(file);
  while (at < file.size) {
    const head = await file.read(at, Math.min(2 ** 16, file.size - at));
    const filling = head.findIndex(byte => byte !== 0);
    if (filling === -1) at += head.length;
    else if (filling > 0) at += filling;
    else if (head[0] === 0xff && head[1] === 0xd8) at += await walkJpeg(file.slice(at));
    else throw new UnstrippableError('the data after the picture');
  }
}
