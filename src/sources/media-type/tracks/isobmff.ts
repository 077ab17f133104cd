import type {RandomAccess} from '../../../lib/files/random-access.ts';
import {byWord} from '../../../lib/object.ts';
import {type Budget, matches, viewOf} from './bytes.ts';

/** Enough for any real file; limits files that were made to waste time. */
const mostBoxes = 1000;

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
export function isobmffType(head: Uint8Array, size: number): string | undefined {
  const kind = latin1(head, 4);
  // QuickTime files older than the file type box begin with one of these.
  if (['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'].includes(kind)) {
    return isPlausible(head, size) ? 'video/quicktime' : undefined;
  }
  // A segment of a stream has its list of tracks in another file (ISO/IEC 14496-12, 8.8 and 8.16).
  if (['styp', 'moof', 'sidx'].includes(kind))
    return isPlausible(head, size) ? 'video/iso.segment' : undefined;
  if (kind !== 'ftyp' || head.length < 16 || !/^[\x20-\x7e]{4}$/.test(latin1(head, 8))) return undefined;
  const brand = latin1(head, 8);
  if ((brand === 'mif1' || brand === 'msf1') && hasAvifBrand(head)) return 'image/avif';
  if (brand.startsWith('3g2')) return 'video/3gpp2';
  if (brand.startsWith('3g')) return 'video/3gpp';
  return brandTypes.get(brand.trimEnd()) ?? 'video/mp4';
}

/** The kinds of tracks in an MP4 or QuickTime file; undefined unless there is video, or the list of tracks is complete. */
export async function isobmffTracks(bytes: RandomAccess): Promise<ReadonlySet<string> | undefined> {
  const budget = {left: mostBoxes, isSound: true};
  const movie = await findBox(bytes, 'moov', {start: 0, end: bytes.size}, budget);
  if (movie === undefined) return undefined;
  const found = new Set<string>();
  const pictures: (number | undefined)[] = [];
  const chapters = new Set<number | undefined>();
  for await (const track of boxes(bytes, movie, budget)) {
    if (track.kind !== 'trak') continue;
    const media = await findBox(bytes, 'mdia', track, budget);
    const handler = media && (await findBox(bytes, 'hdlr', media, budget));
    if (handler === undefined) return undefined;
    const kind = handlers.get(latin1(await bytes.read(handler.start, 12), 8));
    if (kind === 'video') pictures.push(await idOf(bytes, track, budget));
    else found.add(kind ?? 'unknown');
    for (const id of await chaptersOf(bytes, track, budget)) chapters.add(id);
  }
  if (pictures.some(id => id === undefined || !chapters.has(id))) return new Set(['video']);
  return budget.isSound && !found.has('unknown') ? found : undefined;
}

/** The number of a track, if its header has one (ISO/IEC 14496-12, 8.3.2). */
async function idOf(bytes: RandomAccess, track: Box, budget: Budget): Promise<number | undefined> {
  const box = await findBox(bytes, 'tkhd', track, budget);
  if (box === undefined || box.end - box.start < 24) return undefined;
  const header = await bytes.read(box.start, 24);
  return header.length < 24 ? undefined : viewOf(header).getUint32(header[0] === 1 ? 20 : 12);
}

/** The tracks with the chapters of a track: their titles, or their pictures (QuickTime File Format, "Chapter Lists"). */
async function chaptersOf(bytes: RandomAccess, track: Box, budget: Budget): Promise<number[]> {
  const references = await findBox(bytes, 'tref', track, budget);
  const list = references && (await findBox(bytes, 'chap', references, budget));
  if (list === undefined) return [];
  const ids = viewOf(await bytes.read(list.start, Math.min(list.end - list.start, 64) & ~3));
  return Array.from({length: ids.byteLength >> 2}, (_, index) => ids.getUint32(4 * index));
}

interface Span {
  start: number;
  end: number;
}

interface Box extends Span {
  kind: string;
}

async function findBox(
  bytes: RandomAccess,
  kind: string,
  within: Span,
  budget: Budget,
): Promise<Box | undefined> {
  for await (const box of boxes(bytes, within, budget)) {
    if (box.kind === kind) return box;
    // A segment of a stream has its list of tracks in another file.
    if (box.kind === 'moof') return undefined;
  }
  return undefined;
}

/** The consecutive boxes in a span, up to one that does not fit (ISO/IEC 14496-12, 4.2). */
async function* boxes(bytes: RandomAccess, within: Span, budget: Budget): AsyncGenerator<Box> {
  let position = within.start;
  while (position + 8 <= within.end) {
    const header = await bytes.read(position, 16);
    const box = readBox(header, position, within.end);
    budget.left -= 1;
    budget.isSound &&= box !== undefined && budget.left >= 0;
    if (box === undefined || budget.left < 0) return;
    yield box;
    position = box.end;
  }
}

export function readBox(header: Uint8Array, position: number, limit: number): Box | undefined {
  if (header.length < 8) return undefined;
  const isLong = viewOf(header).getUint32(0) === 1;
  if (isLong && header.length < 16) return undefined;
  const size = isLong ? Number(viewOf(header).getBigUint64(8)) : viewOf(header).getUint32(0);
  const start = position + (isLong ? 16 : 8);
  const end = size === 0 ? limit : position + size;
  return end < start || end > limit ? undefined : {kind: latin1(header, 4), start, end};
}

function latin1(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + 4));
}

// "wide" and "free" are also words, so the size of a box must precede them, in 32 bits or as the mark of 64.
function isPlausible(head: Uint8Array, size: number): boolean {
  const box = viewOf(head).getUint32(0);
  return box <= 1 || (box >= 8 && (box < 2 ** 24 || box <= size));
}

// Some encoders, such as libavif, write a general major brand, and their own among the compatible brands.
function hasAvifBrand(head: Uint8Array): boolean {
  const end = Math.min(viewOf(head).getUint32(0), head.length);
  for (let offset = 16; offset + 4 <= end; offset += 4) {
    if (matches(head, offset, 'avif') || matches(head, offset, 'avis')) return true;
  }
  return false;
}
