import {walkIsobmff} from './isobmff.ts';
import {walkJpeg} from './jpeg.ts';
import type {Part} from './part.ts';
import {refuseMetadata, refuseNamedLocation, UnstrippableError} from './unstrippable.ts';

const place = 'the data after the picture';

/** Blanks the location in what follows a picture: further ones (CIPA DC-007), the video of a motion photo, filling bytes. */
export async function walkTrailer(trailer: Part): Promise<void> {
  for (let at = 0; at < trailer.size; ) {
    const head = await trailer.read(at, Math.min(2 ** 16, trailer.size - at));
    const filling = head.findIndex(byte => byte !== 0);
    if (filling === -1 && at + head.length === trailer.size) return;
    // The length before "ftyp" may begin with zeros too.
    const skipped = (filling === -1 ? head.length : filling) - lengthSize;
    const video = head.indexOf('ftyp') - lengthSize;
    if (skipped > lengthSize) at += skipped;
    else if (video >= 0 && video <= filling) return walkIsobmff(trailer.slice(at + video).unclaimed());
    else if (!isJpeg(head.subarray(filling))) return walkSamsung(trailer.slice(at), filling);
    else at += filling + (await walkJpeg(trailer.slice(at + filling)));
  }
}

/** The bytes of the length of a box. */
const lengthSize = 4;

function isJpeg(head: Buffer): boolean {
  return head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff;
}

function isVideo(head: Buffer): boolean {
  return head.toString('latin1', 4, 8) === 'ftyp';
}

/**
 * Walks the blocks that Samsung's phones append, one of which may be the video. Their directory at the end says how far before
 * it each of them begins, and its length: `SEFH`, version, count, entries, length of all that, `SEFT`.
 */
async function walkSamsung(trailer: Part, filling: number): Promise<void> {
  const foot = await trailer.read(Math.max(0, trailer.size - 8), Math.min(8, trailer.size));
  if (foot.toString('latin1', 4) !== 'SEFT') throw new UnstrippableError(place);
  const start = trailer.size - 8 - foot.readUInt32LE(0);
  const directory = await trailer.read(start, trailer.size - 8 - start);
  if (directory.toString('latin1', 0, 4) !== 'SEFH' || directory.length < 12)
    throw new UnstrippableError(place);
  const count = directory.readUInt32LE(8);
  if (directory.length !== 12 + 12 * count) throw new UnstrippableError(place);
  const blocks = Array.from({length: count}, (_, index) => ({
    at: start - directory.readUInt32LE(12 + 12 * index + 4),
    size: directory.readUInt32LE(12 + 12 * index + 8),
  })).sort((one, other) => one.at - other.at);
  // The first one begins with zeros.
  let end = Math.max(0, Math.min(filling, blocks[0]?.at ?? 0));
  for (const {at, size} of blocks) {
    if (at !== end) throw new UnstrippableError(place);
    end = at + size;
    await walkBlock(trailer.slice(at, size));
  }
  if (end !== start) throw new UnstrippableError(place);
}

/** A block: its type, the length of its name, its name, its data. */
async function walkBlock(block: Part): Promise<void> {
  const data = block.slice(8 + (await block.read(4, 4)).readUInt32LE(0));
  const head = await data.read(0, Math.min(8, data.size));
  if (isVideo(head)) return walkIsobmff(data.unclaimed());
  if (isJpeg(head)) return walkTrailer(data);
  const bytes = await data.read(0, data.size);
  refuseNamedLocation(bytes, place);
  refuseMetadata(bytes, place);
}
