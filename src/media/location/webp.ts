import type {Part} from './part.ts';
import {walkExif} from './tiff.ts';
import {codesIn, nextDepth, UnstrippableError, unknownKind} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Chunks in which no location can be (RFC 9649). */
const harmless = codesIn('VP8  VP8L VP8X ALPH ANIM ICCP');

/** Blanks the location in a WebP picture. */
export async function walkWebp(file: Part): Promise<void> {
  const size = await file.step(() => file.read(4, 4).readUInt32LE(0));
  if (size + 8 !== file.size) throw new UnstrippableError('a WebP picture whose length is wrong');
  await walkChunks(file.slice(12));
}

/** Walks the chunks of a picture, or of one frame of an animation. */
async function walkChunks(file: Part, depth = 0): Promise<void> {
  for (let at = 0; at < file.size; ) {
    const {kind, data} = await file.step(() => walkChunk(file, at));
    if (kind === 'ANMF') await walkChunks(data.slice(16), nextDepth(depth));
    // A chunk of an odd length is followed by a filling byte.
    at += 8 + data.size + (data.size & 1);
  }
}

/** Blanks the location in a chunk and returns it; the caller walks the chunks inside a frame (`ANMF`). */
function walkChunk(file: Part, at: number): {kind: string; data: Part} {
  const head = file.read(at, 8);
  const kind = head.toString('latin1', 0, 4);
  const data = file.slice(at + 8, head.readUInt32LE(4));
  if (kind === 'EXIF') walkExif(data.slice(data.read(0, 6).toString('latin1') === 'Exif\0\0' ? 6 : 0));
  else if (kind === 'XMP ') walkXmp(data.withOwner());
  else if (kind !== 'ANMF' && !harmless.has(kind)) throw unknownKind('a chunk', kind);
  return {kind, data};
}
