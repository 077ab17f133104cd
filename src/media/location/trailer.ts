import {walkIsobmff} from './isobmff-location.ts';
import {walkJpeg} from './jpeg.ts';
import type {Part} from './part.ts';
import {nextDepth, refuseLocationOrMetadata, UnstrippableError} from './unstrippable.ts';

const place = 'the data after the picture';

/** Blanks the location after a picture: in more pictures (CIPA DC-007), a motion photo's video, or filling bytes. */
export async function walkTrailer(trailer: Part, depth = 0): Promise<void> {
  let pictures = 0;
  for (let at = 0; at < trailer.size; ) {
    const head = await trailer.step(() => trailer.readUpTo(2 ** 16, at));
    // How many zeros come first; -1 if there is nothing else.
    const filling = head.findIndex(byte => byte !== 0);
    if (filling === -1 && at + head.length === trailer.size) return;
    // The length before "ftyp" may begin with zeros too.
    const skipped = (filling === -1 ? head.length : filling) - lengthSize;
    const video = head.indexOf('ftyp') - lengthSize;
    if (skipped > lengthSize) at += skipped;
    else if (video >= 0 && video <= filling) return walkIsobmff(trailer.slice(at + video).withoutClaim());
    else if (!isJpeg(head.subarray(filling))) return walkSamsung(trailer.slice(at), filling, depth);
    else {
      pictures += 1;
      // Phones write a few.
      if (pictures > 10_000) throw new UnstrippableError('very many pictures');
      at += filling + (await walkJpeg(trailer.slice(at + filling)));
    }
  }
}

/** The bytes of the length of a box. */
const lengthSize = 4;

function isJpeg(head: Buffer): boolean {
  return head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff;
}

/** Walks the blocks that Samsung's phones append to a picture, one of which may be the video. */
async function walkSamsung(trailer: Part, filling: number, depth: number): Promise<void> {
  for (const block of await trailer.step(() => samsungBlocks(trailer, filling))) {
    // A block: its type, the length of its name, its name, its data.
    const data = await trailer.step(() => block.slice(8 + block.read(4, 4).readUInt32LE(0)));
    const head = await trailer.step(() => data.readUpTo(8));
    if (head.toString('latin1', 4) === 'ftyp') await walkIsobmff(data.withoutClaim());
    else if (isJpeg(head)) await walkTrailer(data, nextDepth(depth));
    // The number of the country whose network the phone was in (exiftool).
    else if ((await trailer.step(() => block.read(2, 2).readUInt16LE(0))) === 0x0aa1)
      await trailer.step(() => data.zero(0, data.size));
    else await trailer.step(() => refuseLocationOrMetadata(data.readAll(), place));
  }
}

/** A directory at the end locates each block: `SEFH`, version, count, entries, length of all that, `SEFT`. */
function samsungBlocks(trailer: Part, filling: number): Part[] {
  const foot = trailer.readUpTo(8, Math.max(0, trailer.size - 8));
  const end = trailer.size - 8;
  const start = foot.toString('latin1', 4) === 'SEFT' ? end - foot.readUInt32LE(0) : -1;
  const directory = start < 0 || end - start < 12 ? Buffer.alloc(12) : trailer.read(start, end - start);
  const count = directory.readUInt32LE(8);
  if (directory.toString('latin1', 0, 4) !== 'SEFH' || directory.length !== 12 + 12 * count)
    throw new UnstrippableError(place);
  const blocks = Array.from({length: count}, (_, index) => ({
    at: start - directory.readUInt32LE(12 + 12 * index + 4),
    size: directory.readUInt32LE(12 + 12 * index + 8),
  })).sort((one, other) => one.at - other.at);
  // The first one begins with zeros, and each of the others where the last one ends.
  const begin = Math.max(0, Math.min(filling, blocks[0]?.at ?? 0));
  const last = blocks.reduce((at, block) => (block.at === at ? at + block.size : Number.NaN), begin);
  if (last !== start) throw new UnstrippableError(place);
  return blocks.map(({at, size}) => trailer.slice(at, size));
}
