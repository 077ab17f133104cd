import {createHash} from 'node:crypto';
import {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {walkTiff} from './tiff.ts';
import {refuseMetadata, refuseNamedLocation, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

const exif = 'Exif\0\0';
const standardXmp = 'http://ns.adobe.com/xap/1.0/\0';
const extendedXmp = 'http://ns.adobe.com/xmp/extension/\0';
const photoshop = 'Photoshop 3.0\0';

/** Application segments in which no location can be, by their number and the bytes they begin with. */
const harmless: readonly (readonly [number: number, head: string])[] = [
  [0, 'JFIF\0'],
  [0, 'JFXX\0'],
  [2, 'ICC_PROFILE\0'],
  [2, 'MPF\0'],
  [2, 'urn:iso:std:iso:ts:21496:-1\0'],
  [4, 'SCALADO\0'],
  [7, 'HUAWEI\0\0'],
  [7, '\x1aQualcomm Camera Attributes'],
  [8, 'SPIFF\0'],
  [12, 'Ducky'],
  [13, 'Adobe_CM'],
  [14, 'Adobe'],
];

/** What the segments of a picture hold until all of them are known. */
interface Collected {
  readonly photoshop: Part[];
  readonly xmp: Part[];
  /** The pieces of extended XMP, by their MD5. */
  readonly extended: Map<string, Part[]>;
}

/** Blanks the location in a JPEG picture that begins at the start of a part, and returns where it ends. */
export async function walkJpeg(part: Part): Promise<number> {
  const collected: Collected = {photoshop: [], xmp: [], extended: new Map()};
  let at = 2;
  for (;;) {
    const marker = await part.read(at, Math.min(4, part.size - at));
    if (marker[0] !== 0xff) throw new UnstrippableError('a JPEG whose segments are wrong');
    const kind = marker[1] ?? 0;
    // Filling bytes may precede a marker.
    if (kind === 0xff) at += 1;
    else if (kind === 0xd9) break;
    else {
      const length = marker.length < 4 ? 0 : marker.readUInt16BE(2);
      if (length < 2 || kind < 0xc0 || (kind >= 0xd0 && kind <= 0xd8))
        throw new UnstrippableError('a JPEG whose segments are wrong');
      if (kind >= 0xe0 && kind <= 0xef)
        await walkSegment(part.slice(at + 4, length - 2), kind - 0xe0, collected);
      at += 2 + length;
      if (kind === 0xda) at = await endOfScan(part, at);
    }
  }
  if (collected.photoshop.length > 0) await walkResources(Part.joined(collected.photoshop));
  for (const xmp of collected.xmp) await walkXmp(xmp);
  for (const [md5, pieces] of collected.extended) await walkExtended(md5, pieces, collected.xmp);
  return at + 2;
}

async function walkSegment(segment: Part, number: number, collected: Collected): Promise<void> {
  const head = (await segment.read(0, Math.min(segment.size, 80))).toString('latin1');
  if (number === 1 && head.startsWith(exif)) {
    await walkTiff(segment.slice(exif.length).unclaimed());
  } else if (number === 1 && head.startsWith(standardXmp)) {
    collected.xmp.push(segment.slice(standardXmp.length).owned());
  } else if (number === 1 && head.startsWith(extendedXmp)) {
    const md5 = head.slice(extendedXmp.length, extendedXmp.length + 32);
    collected.extended.set(md5, [...(collected.extended.get(md5) ?? []), segment]);
  } else if (number === 13 && head.startsWith(photoshop)) {
    collected.photoshop.push(segment.slice(photoshop.length));
  } else {
    const bytes = await segment.read(0, segment.size);
    const isHarmless = harmless.some(([one, start]) => one === number && head.startsWith(start));
    if (!isHarmless && bytes.some(byte => byte !== 0)) throw new UnstrippableError(`an APP${number} segment`);
    refuseMetadata(bytes, `an APP${number} segment`);
    refuseNamedLocation(bytes, `an APP${number} segment`);
  }
}

/**
 * Blanks the location in extended XMP, which is in pieces of which each has its length and its place (XMP specification part 3,
 * 1.1.3.1), and makes its MD5 right, here and in the standard XMP that refers to it.
 */
async function walkExtended(md5: string, pieces: readonly Part[], standard: readonly Part[]): Promise<void> {
  const headerSize = extendedXmp.length + 40;
  const sorted: {offset: number; data: Part}[] = [];
  let length = 0;
  for (const piece of pieces) {
    const numbers = await piece.read(headerSize - 8, 8);
    length = numbers.readUInt32BE(0);
    sorted.push({offset: numbers.readUInt32BE(4), data: piece.slice(headerSize)});
  }
  sorted.sort((one, other) => one.offset - other.offset);
  let end = 0;
  for (const {offset, data} of sorted) {
    if (offset !== end) throw new UnstrippableError('extended XMP with missing pieces');
    end += data.size;
  }
  if (end !== length) throw new UnstrippableError('extended XMP with missing pieces');
  const whole = Part.joined(sorted.map(({data}) => data)).owned();
  if (!(await walkXmp(whole))) return;
  const bytes = await whole.read(0, whole.size);
  const digest = createHash('md5').update(bytes).digest('hex').toUpperCase();
  for (const piece of pieces) await piece.write(extendedXmp.length, Buffer.from(digest));
  for (const xmp of standard) await replaceAll(xmp, md5, digest);
}

/** Replaces a text by one of the same length, in UTF-8 and both kinds of UTF-16. */
async function replaceAll(part: Part, text: string, other: string): Promise<void> {
  const bytes = Buffer.from(await part.read(0, part.size));
  const encodings = [(one: string) => Buffer.from(one), utf16, (one: string) => utf16(one).swap16()];
  for (const encode of encodings) {
    const [from, to] = [encode(text), encode(other)];
    for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  }
  await part.write(0, bytes);
}

function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}

/** Where the next marker is behind entropy-coded data; restart markers, and 0xff in data, are none (ITU T.81, B.1.1). */
async function endOfScan(part: Part, start: number): Promise<number> {
  for (let at = start; ; ) {
    const block = await part.read(at, Math.min(2 ** 16, part.size - at));
    for (let index = block.indexOf(0xff); index !== -1; index = block.indexOf(0xff, index + 1)) {
      const next = block[index + 1];
      if (next !== undefined && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7))
        return at + index;
    }
    if (at + block.length >= part.size) throw new UnstrippableError('a JPEG that is cut off');
    // A marker may begin with the last byte of a block.
    at += block.length - 1;
  }
}
