import {type IfdEntry, Tiff} from './ifd.ts';
import {walkMakerNote} from './maker-note.ts';
import type {Part} from './part.ts';
import {walkIptc, walkResources} from './photoshop.ts';
import {refuseMetadata, refuseNamedLocation, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Where a location may be, in a way that has no walker. */
const refusedTags: readonly (readonly [place: string, ...tags: number[]])[] = [
  ['GeoTIFF tags', 0x830e, 0x8480, 0x8482, 0x85d8, 0x87af, 0x87b0, 0x87b1],
  ['a directory of Kodak', 0x8290, 0xfe00],
  ['a directory of Leaf', 0x888a],
  ['a directory of Hasselblad', 0xc51b],
  ['layers of Photoshop', 0x935c],
  ['the raw file that is stored in it', 0xc68c],
];
const refusals = new Map(refusedTags.flatMap(([place, ...tags]) => tags.map(tag => [tag, place] as const)));

const subDirectories = new Set([0x14a, 0x190, 0x8769, 0xa005]);

/** Pairs of tags: offsets of picture data, and their lengths. */
const pictureData = [
  [0x111, 0x117],
  [0x144, 0x145],
  [0x201, 0x202],
] as const;

/** A walk through the directories, some of which are found on the way, and what is known of the file. */
interface Walk {
  readonly tiff: Tiff;
  readonly directories: Set<number>;
  make: string;
  isDng: boolean;
  isRaw: boolean;
}

/** Blanks the location in a TIFF or DNG file. */
export async function walkTiffFile(file: Part): Promise<void> {
  const walk = await file.step(() => startWalk(file.withoutClaim()));
  for (const at of walk.directories) addDirectories(walk, await file.step(() => walkIfd(walk, at)));
  if (walk.isRaw && !walk.isDng) throw new UnstrippableError('a raw picture that is not a DNG');
  const end = await file.step(() => file.readUpTo(64, Math.max(0, file.size - 64)));
  // Programs append their own data to a TIFF file (exiftool).
  const trailer = /AXS[!*].{8}$|CANON OPTIONAL DATA\0|\xa1\xb2\xc3\xd4$|cbipcbbl$|QDIOBS$|SEFT$|zmie/s;
  if (trailer.test(end.toString('latin1'))) throw new UnstrippableError('the data after the picture');
}

/** Blanks the location in the Exif metadata of a file that is not a TIFF, such as a JPEG, PNG, WebP or HEIF. */
export function walkExif(part: Part): void {
  const walk = startWalk(part.withSharedOwner());
  for (const at of walk.directories) addDirectories(walk, walkIfd(walk, at));
}

/** Begins a walk at the first directory; refuses BigTIFF and bytes without a TIFF header. */
function startWalk(part: Part): Walk {
  const head = part.read(0, 8);
  const isLittle = head[0] === 0x49;
  const magic = isLittle ? head.readUInt16LE(2) : head.readUInt16BE(2);
  if (!/^(?:II|MM)$/.test(head.toString('latin1', 0, 2)) || magic !== 42)
    throw new UnstrippableError(magic === 43 ? 'a BigTIFF' : 'Exif metadata without a TIFF header');
  const tiff = new Tiff(part, isLittle);
  part.claim(0, 8);
  const walk = {tiff, directories: new Set<number>(), make: '', isDng: false, isRaw: false};
  addDirectories(walk, [tiff.number(4, 4)]);
  return walk;
}

/** Adds directories to the set over which the caller loops; refuses a directory that the set already has. */
function addDirectories({directories}: Walk, offsets: readonly number[]): void {
  for (const at of offsets) {
    if (directories.has(at)) throw new UnstrippableError('directories of tags that go in circles');
    if (at !== 0) directories.add(at);
  }
  if (directories.size > 200) throw new UnstrippableError('very many directories of tags');
}

/** Blanks the location in one directory, and returns the offsets of those that follow. */
function walkIfd(walk: Walk, at: number): number[] {
  const {part} = walk.tiff;
  const {entries, size} = walk.tiff.directory(at);
  part.claim(at, size + 4);
  const following: number[][] = [];
  for (const entry of entries) {
    const {tag, valueAt, valueSize, isOutside} = entry;
    const refusal = refusals.get(tag);
    if (refusal !== undefined) throw new UnstrippableError(refusal);
    // The make of the camera; the version of DNG.
    if (tag === 0x10f) walk.make = part.read(valueAt, valueSize).toString('latin1');
    if (tag === 0xc612) walk.isDng = true;
    // A colour filter array or linear raw data (DNG 1.7, PhotometricInterpretation).
    if (tag === 0x106) walk.isRaw ||= walk.tiff.numbers(entry).some(kind => kind === 32803 || kind === 34892);
    if (subDirectories.has(tag)) following.push(walk.tiff.numbers(entry));
    else if (tag === 0x8825) blankGps(walk.tiff, entry);
    else if (isOutside && !walkValue(walk, entry)) part.claim(valueAt, valueSize);
  }
  claimPictures(walk.tiff, entries);
  return [...following.flat(), walk.tiff.number(at + size, 4)];
}

/** Walks a value that has a structure of its own; returns whether it has. */
function walkValue({tiff, make}: Walk, {tag, valueAt, valueSize}: IfdEntry): boolean {
  const value = tiff.part.slice(valueAt, valueSize);
  // Image resources claim what is in them.
  if (tag === 0x8649) walkResources(value);
  else if (tag === 0x2bc) walkXmp(value.withOwner());
  else if (tag === 0x83bb) walkIptc(value.withOwner());
  else if (tag === 0x927c) walkMakerNote(value.withOwner(), tiff, valueAt, make);
  else if (tag === 0xc634) refusePrivate(value.withOwner().readAll());
  else return false;
  return true;
}

/** The private data of a DNG is that of its converter; Adobe's has the maker notes of the raw file. */
function refusePrivate(bytes: Buffer): void {
  if (bytes.includes('MakN')) throw new UnstrippableError('maker notes in private data');
  refuseNamedLocation(bytes, 'private data');
}

/** Zeroes a GPS directory and its values, and replaces the tag of its pointer. */
function blankGps(tiff: Tiff, pointer: IfdEntry): void {
  const {part, isLittle} = tiff;
  if (pointer.count !== 1) throw new UnstrippableError('several GPS directories');
  const [at = 0] = tiff.numbers(pointer);
  const gps = part.withoutClaim();
  const {entries, size} = tiff.directory(at);
  for (const {isOutside, valueAt, valueSize} of entries) if (isOutside) gps.zero(valueAt, valueSize);
  gps.zero(at, size);
  // No reader knows this tag, and none is between it and that of GPS, so the order of the tags stays valid.
  const newTag = Buffer.of(0x88, 0x26);
  part.write(pointer.at, isLittle ? newTag.swap16() : newTag);
  part.zero(pointer.valueAt, pointer.valueSize);
}

/** Claims the picture data that the tags of a directory point to. */
function claimPictures(tiff: Tiff, entries: readonly IfdEntry[]): void {
  for (const [offsetTag, lengthTag] of pictureData) {
    const offsets = entries.find(({tag}) => tag === offsetTag);
    const lengths = entries.find(({tag}) => tag === lengthTag);
    if (offsets === undefined || lengths === undefined) continue;
    const sizes = tiff.numbers(lengths);
    for (const [index, at] of tiff.numbers(offsets).entries()) {
      const size = sizes[index] ?? 0;
      tiff.part.claim(at, size);
      if (index === 0) refuseMetadata(tiff.part.read(at, Math.min(size, 2 ** 16)), 'a preview');
    }
  }
}
