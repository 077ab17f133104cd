import {hash} from 'node:crypto';
import {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {walkExif} from './tiff.ts';
import {refuseEither, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

const exif = 'Exif\0\0';
const standardXmp = 'http://ns.adobe.com/xap/1.0/\0';
const extendedXmp = 'http://ns.adobe.com/xmp/extension/\0';
const photoshop = 'Photoshop 3.0\0';

/** Application segments in which no location can be: their numbers, and the bytes that they begin with. */
const harmless =
  /^(?:0 JF(?:IF|XX)\0|2 (?:ICC_PROFILE|MPF|urn:iso:std:iso:ts:21496:-1)\0|4 SCALADO\0|7 (?:HUAWEI\0\0|.Qualcomm Camera Attributes)|8 SPIFF\0|12 Ducky|13 Adobe_CM|14 Adobe)/s;

/** The most segments between two scans, and of metadata; real pictures have less than a hundred. */
const mostSegments = 1_000;

/** A segment, or its content, that belongs to others with the same beginning: they are walked when all are known. */
interface Piece {
  readonly name: string;
  readonly part: Part;
}

/** Blanks the location in a JPEG picture that begins at the start of a part, and returns where it ends. */
export async function walkJpeg(part: Part): Promise<number> {
  const pieces: Piece[] = [];
  for (let start = 2; ; ) {
    const {at, isEnd, found} = await part.step(() => walkSegments(part, start));
    pieces.push(...found);
    if (pieces.length > mostSegments) throw new UnstrippableError('metadata in very many pieces');
    if (isEnd) {
      await part.step(() => walkPieces(pieces));
      return at;
    }
    start = await endOfScan(part, at);
  }
}

function walkPieces(pieces: readonly Piece[]): void {
  const called = (name: string) => pieces.filter(piece => piece.name === name).map(piece => piece.part);
  const packets = called(standardXmp);
  for (const packet of packets) walkXmp(packet);
  for (const name of new Set(pieces.map(piece => piece.name))) {
    if (name === photoshop) walkResources(Part.joined(called(name)));
    else if (name !== standardXmp) walkExtended(name.slice(extendedXmp.length), called(name), packets);
  }
}

/** Walks the segments up to the next scan, or to the end. */
function walkSegments(part: Part, start: number): {at: number; isEnd: boolean; found: readonly Piece[]} {
  const found: Piece[] = [];
  const wrong = 'a JPEG whose segments are wrong';
  let kind = 0;
  let at = start;
  for (let count = 0; kind !== 0xda && kind !== 0xd9; ) {
    const marker = part.upTo(4, at);
    kind = marker[1] ?? 0;
    if (marker[0] !== 0xff) throw new UnstrippableError(wrong);
    // Filling bytes may precede a marker.
    if (kind === 0xff) at += 1;
    else if (kind === 0xd9) at += 2;
    else {
      const length = marker.length < 4 ? 0 : marker.readUInt16BE(2);
      count += 1;
      if (length < 2 || kind < 0xc0 || (kind >= 0xd0 && kind <= 0xd8) || count > mostSegments)
        throw new UnstrippableError(wrong);
      if (kind >= 0xe0 && kind <= 0xef) walkSegment(part.slice(at + 4, length - 2), kind - 0xe0, found);
      at += 2 + length;
    }
  }
  return {at, isEnd: kind === 0xd9, found};
}

function walkSegment(segment: Part, number: number, found: Piece[]): void {
  const head = segment.upTo(80).toString('latin1');
  if (number === 1 && head.startsWith(exif)) {
    walkExif(segment.slice(exif.length));
  } else if (number === 1 && head.startsWith(standardXmp)) {
    found.push({name: standardXmp, part: segment.slice(standardXmp.length).owned()});
  } else if (number === 1 && head.startsWith(extendedXmp)) {
    // Those of one packet have its MD5.
    found.push({name: head.slice(0, extendedXmp.length + 32), part: segment});
  } else if (number === 13 && head.startsWith(photoshop)) {
    found.push({name: photoshop, part: segment.slice(photoshop.length)});
  } else {
    const bytes = segment.all();
    if (!harmless.test(`${number} ${head}`) && bytes.some(byte => byte !== 0))
      throw new UnstrippableError(`an APP${number} segment`);
    refuseEither(bytes, `an APP${number} segment`);
  }
}

/**
 * Blanks the location in extended XMP, which is in pieces of which each has its length and its place (XMP specification part 3,
 * 1.1.3.1), and makes its MD5 right, here and in the standard XMP that refers to it.
 */
function walkExtended(digest: string, pieces: readonly Part[], standard: readonly Part[]): void {
  const headerSize = extendedXmp.length + 40;
  const sorted = pieces
    .map(piece => ({offset: piece.read(headerSize - 4, 4).readUInt32BE(0), data: piece.slice(headerSize)}))
    .sort((one, other) => one.offset - other.offset);
  const length = pieces
    .at(-1)
    ?.read(headerSize - 8, 4)
    .readUInt32BE(0);
  const end = sorted.reduce((at, {offset, data}) => (offset === at ? at + data.size : Number.NaN), 0);
  if (end !== length) throw new UnstrippableError('extended XMP with missing pieces');
  const whole = Part.joined(sorted.map(({data}) => data)).owned();
  if (!walkXmp(whole)) return;
  const now = hash('md5', whole.all()).toUpperCase();
  for (const piece of pieces) piece.write(extendedXmp.length, Buffer.from(now));
  for (const packet of standard) replaceAll(packet, digest, now);
}

/** Replaces a text by one of the same length, in UTF-8 and both kinds of UTF-16. */
function replaceAll(part: Part, text: string, other: string): void {
  const bytes = Buffer.from(part.all());
  const utf16 = (one: string) => Buffer.from(one, 'utf16le');
  for (const encode of [Buffer.from, utf16, (one: string) => utf16(one).swap16()]) {
    const [from, to] = [encode(text), encode(other)];
    for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  }
  part.write(0, bytes);
}

/** Where the next marker is behind entropy-coded data; restart markers, and 0xff in data, are none (ITU T.81, B.1.1). */
async function endOfScan(part: Part, start: number): Promise<number> {
  let at = start;
  let mayBegin = false;
  for await (const block of part.blocks(start)) {
    if (mayBegin && isMarker(block[0])) return at - 1;
    for (let index = block.indexOf(0xff); index !== -1; index = block.indexOf(0xff, index + 1))
      if (isMarker(block[index + 1])) return at + index;
    mayBegin = block.at(-1) === 0xff;
    at += block.length;
  }
  throw new UnstrippableError('a JPEG that is cut off');
}

/** Whether a byte after 0xff makes it a marker. */
function isMarker(next: number | undefined): boolean {
  return next !== undefined && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7);
}
