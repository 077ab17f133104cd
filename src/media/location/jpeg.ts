import {hash} from 'node:crypto';
import {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {walkExif} from './tiff.ts';
import {refuseLocationOrMetadata, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Application segments in which no location can be: their numbers, and the bytes that they begin with. */
const harmless =
  /^(?:0 JF(?:IF|XX)\0|2 (?:ICC_PROFILE|MPF|urn:iso:std:iso:ts:21496:-1)\0|4 SCALADO\0|7 (?:HUAWEI\0\0|.Qualcomm Camera Attributes)|8 SPIFF\0|12 Ducky|13 Adobe_CM|14 Adobe)/s;

/** The bytes that are searched for a marker at a time. */
const scanBytes = 256 * 1024;

const wrong = 'a JPEG whose segments are wrong';

/** A marker by its second byte, the content of its segment, and where the next marker is looked for. */
type Segment = ReturnType<typeof segmentAt>;

/** Blanks the location in a JPEG picture that begins at the start of a part, and returns where it ends. */
export async function walkJpeg(part: Part): Promise<number> {
  const segments: Segment[] = [];
  let at = 2;
  for (let kind = 0, count = 0; kind !== 0xd9; count += 1) {
    // Real pictures have less than a thousand markers.
    if (count > 10_000) throw new UnstrippableError(wrong);
    const segment = await part.step(() => segmentAt(part, at));
    kind = segment.kind;
    if (kind >= 0xe0 && kind <= 0xef) segments.push(segment);
    at = kind === 0xda ? await endOfScan(part, segment.end) : segment.end;
  }
  await part.step(() => walkSegments(segments));
  return at;
}

/** The segment at an offset, after any filling bytes; the end of the picture has an empty one. */
function segmentAt(part: Part, start: number) {
  let at = start;
  while (part.readUpTo(2, at).toString('latin1') === '\xff\xff') at += 1;
  const marker = part.readUpTo(4, at);
  const kind = marker[1] ?? 0;
  if (marker[0] !== 0xff || kind < 0xc0 || (kind >= 0xd0 && kind <= 0xd8)) throw new UnstrippableError(wrong);
  if (kind === 0xd9) return {kind, content: part.slice(at, 0), end: at + 2};
  const length = marker.length < 4 ? 0 : marker.readUInt16BE(2);
  if (length < 2) throw new UnstrippableError(wrong);
  return {kind, content: part.slice(at + 4, length - 2), end: at + 2 + length};
}

/** Walks the application segments of a picture; some metadata is in several of them. */
function walkSegments(segments: readonly Segment[]): void {
  const others = new Set(segments);
  // What follows `begin` in the segments of this number that begin so; the others are judged at the end.
  const takeSegments = (number: number, begin: string) => {
    const matching = segments.filter(
      one => one.kind === 0xe0 + number && one.content.readUpTo(begin.length).equals(Buffer.from(begin)),
    );
    for (const one of matching) others.delete(one);
    return matching.map(({content}) => content.slice(begin.length));
  };
  for (const tiff of takeSegments(1, 'Exif\0\0')) walkExif(tiff);
  const packets = takeSegments(1, 'http://ns.adobe.com/xap/1.0/\0').map(packet => packet.withOwner());
  for (const packet of packets) walkXmp(packet);
  const pieces = takeSegments(1, 'http://ns.adobe.com/xmp/extension/\0');
  for (const digest of new Set(pieces.map(digestOf)))
    walkExtendedXmp(
      digest,
      pieces.filter(piece => digestOf(piece) === digest),
      packets,
    );
  const resources = takeSegments(13, 'Photoshop 3.0\0');
  if (resources.length > 0) walkResources(Part.join(resources));
  for (const {kind, content} of others) {
    const number = kind - 0xe0;
    const place = `an APP${number} segment`;
    const bytes = content.readAll();
    if (!harmless.test(`${number} ${bytes.toString('latin1', 0, 80)}`) && bytes.some(byte => byte !== 0))
      throw new UnstrippableError(place);
    refuseLocationOrMetadata(bytes, place);
  }
}

/** The MD5 of a packet of extended XMP, which each of its pieces has. */
function digestOf(piece: Part): string {
  return piece.read(0, 32).toString('latin1');
}

/** Blanks the location in extended XMP, which is in pieces (XMP part 3, 1.1.3.1), and makes its MD5 right. */
function walkExtendedXmp(digest: string, pieces: readonly Part[], standard: readonly Part[]): void {
  const inOrder = pieces
    .map(piece => ({offset: piece.read(36, 4).readUInt32BE(0), data: piece.slice(40)}))
    .sort((one, other) => one.offset - other.offset);
  const length = pieces.at(-1)?.read(32, 4).readUInt32BE(0);
  const end = inOrder.reduce((at, {offset, data}) => (offset === at ? at + data.size : Number.NaN), 0);
  if (end !== length) throw new UnstrippableError('extended XMP with missing pieces');
  const whole = Part.join(inOrder.map(({data}) => data)).withOwner();
  if (!walkXmp(whole)) return;
  const now = hash('md5', whole.readAll()).toUpperCase();
  for (const piece of pieces) piece.write(0, Buffer.from(now));
  for (const packet of standard) replaceAll(packet, digest, now);
}

/** Replaces a text by one of the same length, in UTF-8 and both kinds of UTF-16. */
function replaceAll(part: Part, text: string, other: string): void {
  const bytes = Buffer.from(part.readAll());
  const utf16 = (one: string) => Buffer.from(one, 'utf16le');
  for (const encode of [Buffer.from, utf16, (one: string) => utf16(one).swap16()]) {
    const [from, to] = [encode(text), encode(other)];
    for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  }
  part.write(0, bytes);
}

/** The offset of the next marker after entropy-coded data; restart markers and 0xff00 are data (ITU T.81, B.1.1). */
async function endOfScan(part: Part, start: number): Promise<number> {
  // The last byte of a block may be the first one of a marker, of which the second is in the next block.
  for await (const {at, block} of part.slice(start).blocks(scanBytes, 1)) {
    for (let index = block.indexOf(0xff); index !== -1; index = block.indexOf(0xff, index + 1)) {
      const next = block[index + 1] ?? 0;
      if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return start + at + index;
    }
  }
  throw new UnstrippableError('a JPEG that is cut off');
}
