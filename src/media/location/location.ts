import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {sniff} from '../type/sniff/sniff.ts';
import {walkIsobmff} from './isobmff-location.ts';
import {walkJpeg} from './jpeg.ts';
import {Part} from './part.ts';
import type {Patch} from './patches.ts';
import {walkPng} from './png.ts';
import {walkTiffFile} from './tiff.ts';
import {walkTrailer} from './trailer.ts';
import {UnstrippableError} from './unstrippable.ts';
import {walkWebp} from './webp.ts';

export {applyPatches, type Patch} from './patches.ts';
export {UnstrippableError} from './unstrippable.ts';

/** Whether a file tells where it was taken, and the bytes without which it does not. */
export type GeotagPlan = {geotags: 'none'} | {geotags: 'present'; patches: readonly Patch[]};

/** What walks the whole of a file of a type. */
const walkers: readonly (readonly [types: RegExp, walk: (file: Part) => Promise<void>])[] = [
  [/^image\/jpeg$/, async file => walkTrailer(file.slice(await walkJpeg(file)))],
  [/^image\/a?png$/, walkPng],
  [/^image\/webp$/, walkWebp],
  [/^image\/(?:tiff|x-adobe-dng)$/, walkTiffFile],
  [/^image\/(?:avif|hei[cf](?:-sequence)?)$/, walkIsobmff],
  [/^video\/(?:mp4|quicktime|x-m4v|3gpp2?)$/, walkIsobmff],
];

/** Plans patches of equal length that blank the location; throws if a location may be where it cannot be blanked. */
export async function planGeotags(file: RandomAccess): Promise<GeotagPlan> {
  const finding = await sniff(file);
  const type = finding?.isMedia ? finding.type : (finding?.container ?? 'an unknown format');
  // These formats consist of pixels and their size.
  if (/^image\/(?:x-portable-(?:bit|gray|pix|arbitrary)map|x-pfm|qoi|bmp|x-farbfeld)$/.test(type))
    return {geotags: 'none'};
  const walk = walkers.find(([types]) => types.test(type))?.[1];
  if (walk === undefined) throw new UnstrippableError(`a file of type ${type}`);
  // A small picture is read at once, and of a large one what its metadata mostly needs.
  const whole = Part.ofFile(file, await readAt(file, 0, file.size > 256 * 1024 ? 64 * 1024 : file.size));
  await walk(whole);
  const patches = whole.patches();
  whole.release();
  return patches.length === 0 ? {geotags: 'none'} : {geotags: 'present', patches};
}
