import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {byWord} from '../../lib/object.ts';
import {type Section, Sections, type Span} from './sections.ts';

const mp4 = 'video/mp4';
const heif = 'image/heif';
const heifSequence = 'image/heif-sequence';

/** The types by their brands (mp4ra.org, ISO/IEC 23008-12), of which the first one here counts; others name none. */
const brandTypes = byWord([
  ['image/avif', 'avif avis avio MA1A MA1B'],
  ['image/heic', 'heic heix heim heis'],
  ['image/heic-sequence', 'hevc hevx hevm hevs'],
  ['image/avci', 'avci'],
  ['image/avcs', 'avcs'],
  ['image/hej2k', 'j2ki'],
  ['image/hsj2', 'j2is j2ks'],
  ['image/jxsi', 'jxsi'],
  ['image/jxss', 'jxss'],
  [heif, 'mif1 mif2 miaf MiAB MiAn MiBu MiHA MiHB MiHE MiPr 1pic evbi evmi heoi jpeg jpoi pred vvic vvoi'],
  [heifSequence, 'msf1 evbs evms jpgs vvis'],
  ['image/jp2', 'jp2 J2P0 J2P1'],
  ['image/jpm', 'jpm'],
  ['image/jpx', 'jpx'],
  ['image/jxl', 'jxl'],
  ['image/jxr', 'jpxb'],
  ['image/jxs', 'jxs'],
  ['video/mj2', 'mjp2 mj2s'],
  ['image/x-canon-cr3', 'crx'],
  ['video/quicktime', 'qt'],
  [mp4, 'isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 isoa isob isoc mp41 mp42 avc1'],
  ['video/3gpp2', '3g2'],
  ['video/3gpp', '3g'],
  ['video/x-m4v', 'M4V M4VH M4VP'],
  ['audio/mp4', 'M4A M4B M4P F4A F4B'],
]);

/** The kinds of tracks by their handlers; `none` for time codes, metadata and hints. */
const handlers = byWord([
  ['video', 'vide pict auxv'],
  ['audio', 'soun'],
  ['subtitles', 'text sbtl subt clcp'],
  ['none', 'tmcd meta hint'],
]);

/** The types of an MP4, QuickTime or HEIF file by its first bytes, the first one counts; none for others. */
export function isobmffTypes(head: Buffer, size: number): string[] {
  const kind = head.toString('latin1', 4, 8);
  // QuickTime files older than the file type box begin with one of these.
  if (['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'].includes(kind))
    return isPlausible(head, size) ? ['video/quicktime'] : [];
  // A segment of a stream has its list of tracks in another file (ISO/IEC 14496-12, 8.8 and 8.16).
  if (['styp', 'moof', 'sidx'].includes(kind)) return isPlausible(head, size) ? ['video/iso.segment'] : [];
  if (kind !== 'ftyp' || head.length < 16 || !/^[\x20-\x7e]{4}$/.test(head.toString('latin1', 8, 12)))
    return [];
  const major = brandType(head, 8);
  const typesOfBrands = new Set([major]);
  const end = Math.min(head.readUInt32BE(0), head.length);
  for (let offset = 16; offset + 4 <= end; offset += 4) typesOfBrands.add(brandType(head, offset));
  // Some encoders, such as libavif, write a general major brand, and their own among the compatible brands.
  const isGeneral = (major === heif || major === heifSequence) && typesOfBrands.has('image/avif');
  const types = [...new Set(brandTypes.values())].filter(type => typesOfBrands.has(type));
  return [...(major === undefined || isGeneral ? [] : [major]), ...types, mp4];
}

/** The type of the brand at an offset, if it says one. All brands of 3GPP begin alike. */
function brandType(head: Buffer, offset: number): string | undefined {
  const brand = head.toString('latin1', offset, offset + 4).trimEnd();
  return brandTypes.get(/^3g2?/.exec(brand)?.[0] ?? brand);
}

/** The kinds of tracks in an MP4 or QuickTime file; undefined if there is no video and the list is incomplete. */
export async function isobmffTracks(bytes: RandomAccess): Promise<ReadonlySet<string> | undefined> {
  const boxes = new Sections(bytes, {shortest: 8, most: 1000, read: readBox});
  const movie = await boxes.find({start: 0, end: bytes.size}, 'moov', 'moof');
  // A segment of a stream has its list of tracks in another file.
  if (movie?.kind !== 'moov') return undefined;
  const kinds = new Set<string>();
  const pictures: (number | undefined)[] = [];
  const chapters = new Set<number | undefined>();
  for await (const track of boxes.in(movie)) {
    if (track.kind !== 'trak') continue;
    const media = await boxes.find(track, 'mdia');
    const handler = media && (await boxes.find(media, 'hdlr'));
    if (handler === undefined) return undefined;
    const kind = handlers.get((await readAt(bytes, handler.start + 8, 4)).toString('latin1'));
    if (kind === 'video') pictures.push(await trackId(bytes, await boxes.find(track, 'tkhd')));
    else kinds.add(kind ?? 'unknown');
    const references = await boxes.find(track, 'tref');
    const list = references && (await boxes.find(references, 'chap'));
    for (const id of await chapterTrackIds(bytes, list)) chapters.add(id);
  }
  // The pictures of chapters are a track as well, which makes no video of a file of sound.
  if (pictures.some(id => id === undefined || !chapters.has(id))) return new Set(['video']);
  return boxes.isSound && !kinds.has('unknown') ? kinds : undefined;
}

/** The number of a track, if its header has one (ISO/IEC 14496-12, 8.3.2). */
async function trackId(bytes: RandomAccess, header: Span | undefined): Promise<number | undefined> {
  if (header === undefined || header.end - header.start < 24) return undefined;
  const fields = await readAt(bytes, header.start, 24);
  return fields.length < 24 ? undefined : fields.readUInt32BE(fields[0] === 1 ? 20 : 12);
}

/** The chapter tracks of a track, with titles or pictures (QuickTime File Format, "Chapter Lists"). */
async function chapterTrackIds(bytes: RandomAccess, list: Span | undefined): Promise<number[]> {
  if (list === undefined) return [];
  const ids = await readAt(bytes, list.start, Math.min(list.end - list.start, 64) & ~3);
  return Array.from({length: ids.length >> 2}, (_, index) => ids.readUInt32BE(4 * index));
}

/**
 * The box at `position`, by its first bytes (ISO/IEC 14496-12, 4.2); undefined if they are cut short, or the box does
 * not end by `limit`. Also for HEIF pictures, and for files whose location is removed.
 */
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
