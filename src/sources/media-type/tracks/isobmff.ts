import {type RandomAccess, readAt} from '../../../lib/files/random-access.ts';
import {byWord} from '../../../lib/object.ts';
import {matches} from './bytes.ts';
import {type Section, Sections, type Span} from './sections.ts';

/** Major brands of pictures, and of videos that have their own type (ISO/IEC 23008-12, mp4ra.org), without spaces at their ends. */
const brandTypes = byWord([
  ['image/avif', 'avif avis'],
  ['image/heic', 'heic heix heim heis'],
  ['image/heic-sequence', 'hevc hevx hevm hevs'],
  ['image/avci', 'avci'],
  ['image/avcs', 'avcs'],
  ['image/heif', 'mif1 mif2'],
  ['image/heif-sequence', 'msf1'],
  ['image/x-canon-cr3', 'crx'],
  ['video/quicktime', 'qt'],
  ['audio/mp4', 'M4A M4B F4A F4B'],
  ['video/x-m4v', 'M4V M4VH M4VP'],
]);

/** The kinds of tracks by their handlers; `none` for time codes, metadata and hints. */
const handlers = byWord([
  ['video', 'vide pict auxv'],
  ['audio', 'soun'],
  ['subtitles', 'text sbtl subt clcp'],
  ['none', 'tmcd meta hint'],
]);

/** The type by the first bytes of an MP4, QuickTime or HEIF file, regardless of its tracks; undefined for others. */
export function isobmffType(head: Buffer, size: number): string | undefined {
  const kind = head.toString('latin1', 4, 8);
  // QuickTime files older than the file type box begin with one of these.
  if (['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'].includes(kind)) {
    return isPlausible(head, size) ? 'video/quicktime' : undefined;
  }
  // A segment of a stream has its list of tracks in another file (ISO/IEC 14496-12, 8.8 and 8.16).
  if (['styp', 'moof', 'sidx'].includes(kind))
    return isPlausible(head, size) ? 'video/iso.segment' : undefined;
  if (kind !== 'ftyp' || head.length < 16 || !/^[\x20-\x7e]{4}$/.test(head.toString('latin1', 8, 12)))
    return undefined;
  const brand = head.toString('latin1', 8, 12);
  if ((brand === 'mif1' || brand === 'msf1') && hasAvifBrand(head)) return 'image/avif';
  if (brand.startsWith('3g2')) return 'video/3gpp2';
  if (brand.startsWith('3g')) return 'video/3gpp';
  return brandTypes.get(brand.trimEnd()) ?? 'video/mp4';
}

/** The kinds of tracks in an MP4 or QuickTime file; undefined unless there is video, or the list of tracks is complete. */
export async function isobmffTracks(bytes: RandomAccess): Promise<ReadonlySet<string> | undefined> {
  const boxes = new Sections(bytes, {shortest: 8, most: 1000, read: readBox});
  const movie = await boxes.find({start: 0, end: bytes.size}, 'moov', 'moof');
  // A segment of a stream has its list of tracks in another file.
  if (movie?.kind !== 'moov') return undefined;
  const found = new Set<string>();
  const pictures: (number | undefined)[] = [];
  const chapters = new Set<number | undefined>();
  for await (const track of boxes.in(movie)) {
    if (track.kind !== 'trak') continue;
    const media = await boxes.find(track, 'mdia');
    const handler = media && (await boxes.find(media, 'hdlr'));
    if (handler === undefined) return undefined;
    const kind = handlers.get((await readAt(bytes, handler.start + 8, 4)).toString('latin1'));
    if (kind === 'video') pictures.push(await idIn(bytes, await boxes.find(track, 'tkhd')));
    else found.add(kind ?? 'unknown');
    const references = await boxes.find(track, 'tref');
    const list = references && (await boxes.find(references, 'chap'));
    for (const id of await chaptersIn(bytes, list)) chapters.add(id);
  }
  if (pictures.some(id => id === undefined || !chapters.has(id))) return new Set(['video']);
  return boxes.isSound && !found.has('unknown') ? found : undefined;
}

/** The number of a track, if its header has one (ISO/IEC 14496-12, 8.3.2). */
async function idIn(bytes: RandomAccess, header: Span | undefined): Promise<number | undefined> {
  if (header === undefined || header.end - header.start < 24) return undefined;
  const fields = await readAt(bytes, header.start, 24);
  return fields.length < 24 ? undefined : fields.readUInt32BE(fields[0] === 1 ? 20 : 12);
}

/** The tracks with the chapters of a track: their titles, or their pictures (QuickTime File Format, "Chapter Lists"). */
async function chaptersIn(bytes: RandomAccess, list: Span | undefined): Promise<number[]> {
  if (list === undefined) return [];
  const ids = await readAt(bytes, list.start, Math.min(list.end - list.start, 64) & ~3);
  return Array.from({length: ids.length >> 2}, (_, index) => ids.readUInt32BE(4 * index));
}

/** A box that fits within the limit, by its first bytes (ISO/IEC 14496-12, 4.2). */
export function readBox(header: Buffer, position: number, limit: number): Section<string> | undefined {
  if (header.length < 8) return undefined;
  const isLong = header.readUInt32BE(0) === 1;
  if (isLong && header.length < 16) return undefined;
  const size = isLong ? Number(header.readBigUInt64BE(8)) : header.readUInt32BE(0);
  const start = position + (isLong ? 16 : 8);
  const end = size === 0 ? limit : position + size;
  return end < start || end > limit ? undefined : {kind: header.toString('latin1', 4, 8), start, end};
}

// "wide" and "free" are also words, so the size of a box must precede them, in 32 bits or as the mark of 64.
function isPlausible(head: Buffer, size: number): boolean {
  const box = head.readUInt32BE(0);
  return box <= 1 || (box >= 8 && (box < 2 ** 24 || box <= size));
}

// Some encoders, such as libavif, write a general major brand, and their own among the compatible brands.
function hasAvifBrand(head: Buffer): boolean {
  const end = Math.min(head.readUInt32BE(0), head.length);
  for (let offset = 16; offset + 4 <= end; offset += 4) {
    if (matches(head, offset, 'avif') || matches(head, offset, 'avis')) return true;
  }
  return false;
}
