import {type IfdEntry, type Layout, numberAt, numbersOf, readIfd} from './ifd.ts';
import {walkIptc} from './iptc.ts';
import {walkMakerNote} from './maker-note.ts';
import type {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {refuseMetadata, refuseNamedLocation, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Where a location may be, in a way that has no walker. */
const refusedTags = new Map([
  [0x830e, 'GeoTIFF tags'],
  [0x8480, 'GeoTIFF tags'],
  [0x8482, 'GeoTIFF tags'],
  [0x85d8, 'GeoTIFF tags'],
  [0x87af, 'GeoTIFF tags'],
  [0x87b0, 'GeoTIFF tags'],
  [0x87b1, 'GeoTIFF tags'],
  [0x8290, 'a directory of Kodak'],
  [0xfe00, 'a directory of Kodak'],
  [0x888a, 'a directory of Leaf'],
  [0xc51b, 'a directory of Hasselblad'],
  [0x935c, 'layers of Photoshop'],
  [0xc68c, 'the raw file that is stored in it'],
]);

const subDirectories = new Set([0x14a, 0x190, 0x8769, 0xa005]);
const gpsTag = 0x8825;

/** No reader knows it, and no tag is between it and the one that it replaces: the order stays valid. */
const unusedTag = 0x8826;

/** Pairs of tags: offsets of picture data, and their lengths. */
const pictureData = [
  [0x111, 0x117],
  [0x144, 0x145],
  [0x201, 0x202],
] as const;

interface Walk {
  readonly tiff: Part;
  readonly layout: Layout;
  readonly found: Found;
}

/** What a TIFF structure is found to be. */
interface Found {
  make: string;
  isDng: boolean;
  isRaw: boolean;
}

/** Blanks the location in a TIFF structure: a TIFF or DNG file, or the Exif metadata of another one. */
export async function walkTiff(tiff: Part): Promise<Found> {
  const head = await tiff.read(0, 8);
  const isLittle = head[0] === 0x49;
  const magic = numberAt(head, 2, 2, isLittle);
  if (!/^(?:II|MM)$/.test(head.toString('latin1', 0, 2)) || (magic !== 42 && magic !== 43))
    throw new UnstrippableError('Exif metadata without a TIFF header');
  const isBig = magic === 43;
  const first = isBig ? numberAt(await tiff.read(8, 8), 0, 8, isLittle) : numberAt(head, 4, 4, isLittle);
  tiff.claim(0, isBig ? 16 : 8);
  const walk = {tiff, layout: {isLittle, isBig}, found: {make: '', isDng: false, isRaw: false}};
  const seen = new Set<number>();
  const waiting = [first];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    if (at === 0) continue;
    if (seen.has(at)) throw new UnstrippableError('directories of tags that go in circles');
    seen.add(at);
    waiting.push(...(await walkIfd(walk, at)));
    if (seen.size + waiting.length > 200) throw new UnstrippableError('very many directories of tags');
  }
  return walk.found;
}

/** Blanks the location in one directory, and returns the offsets of those that follow. */
async function walkIfd(walk: Walk, at: number): Promise<number[]> {
  const {tiff, layout, found} = walk;
  const {entries, size} = await readIfd(tiff, at, layout);
  const word = layout.isBig ? 8 : 4;
  tiff.claim(at, size + word);
  const following = [];
  for (const entry of entries) {
    const {tag, valueAt, valueSize, isOutside} = entry;
    const walker = isOutside ? valueWalkers.get(tag) : undefined;
    const refused = refusedTags.get(tag);
    if (refused !== undefined) throw new UnstrippableError(refused);
    if (tag === 0x10f) found.make = (await tiff.read(valueAt, valueSize)).toString('latin1');
    if (tag === 0xc612) found.isDng = true;
    if (tag === 0x106) found.isRaw ||= (await numbersOf(tiff, entry, layout.isLittle)).some(isRawKind);
    if (subDirectories.has(tag)) following.push(...(await numbersOf(tiff, entry, layout.isLittle)));
    else if (tag === gpsTag) await blankGps(tiff, layout, entry);
    else if (walker !== undefined) await walker(tiff.slice(valueAt, valueSize), walk, valueAt);
    else if (isOutside) tiff.claim(valueAt, valueSize);
  }
  await claimPictures(tiff, layout, entries);
  following.push(numberAt(await tiff.read(at + size, word), 0, word, layout.isLittle));
  return following;
}

/** A colour filter array or linear raw data (DNG 1.7, PhotometricInterpretation). */
function isRawKind(photometric: number): boolean {
  return photometric === 32803 || photometric === 34892;
}

/** What walks the values that have a structure of their own, by their tags. */
const valueWalkers = new Map<number, (value: Part, walk: Walk, at: number) => Promise<unknown>>([
  [0x2bc, value => walkXmp(value.owned())],
  [0x83bb, value => walkIptc(value.owned())],
  // Image resources claim what is in them.
  [0x8649, walkResources],
  [0x927c, (value, {tiff, layout, found}, at) => walkMakerNote(value.owned(), tiff, at, layout, found.make)],
  [0xc634, value => refusePrivate(value.owned())],
]);

/** The private data of a DNG is that of its converter; Adobe's has the maker notes of the raw file. */
async function refusePrivate(value: Part): Promise<void> {
  const bytes = await value.read(0, value.size);
  if (bytes.includes('MakN')) throw new UnstrippableError('maker notes in private data');
  refuseNamedLocation(bytes, 'private data');
}

/** Zeroes a GPS directory and its values, and replaces the tag of its pointer. */
async function blankGps(tiff: Part, layout: Layout, pointer: IfdEntry): Promise<void> {
  if (pointer.count !== 1) throw new UnstrippableError('several GPS directories');
  const [at = 0] = await numbersOf(tiff, pointer, layout.isLittle);
  const gps = tiff.unclaimed();
  const {entries, size} = await readIfd(tiff, at, layout);
  for (const {isOutside, valueAt, valueSize} of entries) if (isOutside) await gps.zero(valueAt, valueSize);
  await gps.zero(at, size);
  const renamed = Buffer.alloc(2);
  if (layout.isLittle) renamed.writeUInt16LE(unusedTag);
  else renamed.writeUInt16BE(unusedTag);
  await tiff.write(pointer.at, renamed);
  await tiff.zero(pointer.valueAt, pointer.valueSize);
}

/** Claims the picture data that the tags of a directory point to. */
async function claimPictures(tiff: Part, {isLittle}: Layout, entries: readonly IfdEntry[]): Promise<void> {
  for (const [offsetTag, lengthTag] of pictureData) {
    const offsets = entries.find(({tag}) => tag === offsetTag);
    const lengths = entries.find(({tag}) => tag === lengthTag);
    if (offsets === undefined || lengths === undefined) continue;
    const sizes = await numbersOf(tiff, lengths, isLittle);
    for (const [index, at] of (await numbersOf(tiff, offsets, isLittle)).entries()) {
      const size = sizes[index] ?? 0;
      tiff.claim(at, size);
      if (index === 0) refuseMetadata(await tiff.read(at, Math.min(size, 2 ** 16)), 'a preview');
    }
  }
}
