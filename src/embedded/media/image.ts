import {disableTypes, imageSize} from 'image-size';
import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {isCount} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {heifBrand, probeHeif} from './heif.ts';
import type {MediaFacts} from './media-facts.ts';

const headLength = 128 * 1024;

/** The names of formats for which image-size reports a brand or a variant. */
const formatNames: Readonly<Record<string, string>> = {
  bigtiff: 'tiff',
  'jxl-stream': 'jxl',
};
// It takes the first of several sizes in a file.
disableTypes(['heif']);

/** PNG, GIF, BMP, WebP and JPEG. */
const plainFormat = /^(?:\x89PNG|GIF8[79]a|BM|RIFF.{4}WEBP|\xff\xd8)/s;
/** The beginning of an SVG whose width or height is neither a whole number of pixels nor relative: programs differ in how they convert it. */
const hasOtherUnits = /<svg\s[^<>]*\s(?:width|height)=(["'])(?!\d+(?:px)?\1)[^"'%]+\1/;
/** How many bytes to read of these formats, except JPEG. */
const plainLength = 64;

/** Format and coded size of an image; throws if the format is not recognized. */
export async function probeImage(bytes: RandomAccess, contentType: string): Promise<MediaFacts> {
  const plain = await probePlainImage(bytes, contentType);
  if (plain !== undefined) return plain;
  const head = await readAt(bytes, 0, headLength);
  const isTiff = /^(?:II[*+]\0|MM\0[*+])/.test(head.toString('latin1', 0, 4));
  return factsOf(isTiff ? await tiffDirectory(bytes, head) : head, contentType);
}

/** Format and coded size of an image that a short header or index tells; undefined for all other formats. */
export async function probePlainImage(
  bytes: RandomAccess,
  contentType: string,
): Promise<MediaFacts | undefined> {
  const head = await readAt(bytes, 0, plainLength);
  const brand = heifBrand(head);
  if (brand !== undefined) return probeHeif(bytes, brand);
  if (isIcon(head)) return probeIcon(bytes, head);
  if (!plainFormat.test(head.toString('latin1'))) return undefined;
  if (head.toString('latin1', 0, 2) === 'BM') return bitmapFacts(head);
  if (head.toString('latin1', 1, 4) === 'PNG')
    return {...factsOf(head, contentType), imageType: (await isAnimatedPng(bytes)) ? 'apng' : 'png'};
  const isJpeg = head[0] === 0xff;
  return factsOf(isJpeg ? await jpegFrame(bytes) : head, contentType);
}

function factsOf(head: Uint8Array, contentType: string): MediaFacts {
  const {width, height, type} = imageSize(head);
  // TGA has no signature: almost any file that begins with zeros would count as one.
  if (type === undefined || (type === 'tga' && !/(tga|targa)/.test(contentType))) return {};
  if (type === 'svg' && hasOtherUnits.test(Buffer.from(head).toString('latin1'))) return {imageType: type};
  return {
    ...(isCount(width) && isCount(height) ? {width, height} : {}),
    imageType: own(formatNames, type) ?? type,
  };
}

/** A bitmap may have the header of OS/2, with sizes of two bytes, and may be stored from top to bottom, with a negative height. */
function bitmapFacts(head: Buffer): MediaFacts {
  const isShort = head.readUInt32LE(14) === 12;
  const width = isShort ? head.readUInt16LE(18) : head.readInt32LE(18);
  const height = isShort ? head.readUInt16LE(20) : Math.abs(head.readInt32LE(22));
  return {...(isCount(width) && isCount(height) ? {width, height} : {}), imageType: 'bmp'};
}

/** Whether a PNG has a chunk for animations before its data, as the third edition of its specification says. */
async function isAnimatedPng(bytes: RandomAccess): Promise<boolean> {
  let offset = 8;
  for (let chunks = 0; chunks < 100; chunks += 1) {
    const chunk = await readAt(bytes, offset, 8);
    const type = chunk.toString('latin1', 4);
    if (chunk.length < 8 || type === 'IDAT') break;
    if (type === 'acTL') return true;
    offset += chunk.readUInt32BE(0) + 12;
  }
  return false;
}

/** A JPEG reduced to its frame header, which may come after megabytes of profiles, previews and metadata. */
async function jpegFrame(bytes: RandomAccess): Promise<Uint8Array> {
  let offset = 2;
  for (let segments = 0; segments < 2_000; segments += 1) {
    const segment = await readAt(bytes, offset, 10);
    if (segment.length < 10 || segment[0] !== 0xff) break;
    const marker = segment.readUInt8(1);
    if (marker === 0xff) {
      offset += 1; // a fill byte
    } else if (isFrameMarker(marker)) {
      return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]), segment, Buffer.alloc(16)]);
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      offset += 2; // a marker without a segment
    } else {
      offset += 2 + segment.readUInt16BE(2);
    }
  }
  throw new Error('no frame header');
}

function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Its lowest bit says that there is a larger version of the image in the file. */
const newSubfileType = 254;

/** A TIFF or BigTIFF whose first directory follows its header; many writers put the directory at the end of the file. */
async function tiffDirectory(bytes: RandomAccess, head: Buffer): Promise<Uint8Array> {
  const littleEndian = head[0] === 0x49;
  const isBig = head[littleEndian ? 2 : 3] === 0x2b;
  const header = Buffer.from(head.subarray(0, isBig ? 16 : 8));
  const offsetAt = isBig ? 8 : 4;
  const numberAt = (bytes: Buffer, at: number, length: number) => {
    const digits = Buffer.from(bytes.subarray(at, at + length));
    return Number(`0x${(littleEndian ? digits.reverse() : digits).toString('hex')}`);
  };
  const offset = numberAt(header, offsetAt, isBig ? 8 : 4);
  const countLength = isBig ? 8 : 2;
  const count = numberAt(await readAt(bytes, offset, countLength), 0, countLength);
  const entryLength = isBig ? 20 : 12;
  const directory = await readAt(bytes, offset, countLength + Math.min(count, 4_096) * entryLength);
  for (let entry = countLength; entry + entryLength <= directory.length; entry += entryLength) {
    const isSubfileType = numberAt(directory, entry, 2) === newSubfileType;
    // Camera raw files are TIFF too, and many begin with a preview.
    if (isSubfileType && numberAt(directory, entry + entryLength - (isBig ? 8 : 4), 4) % 2 === 1)
      throw new Error('a preview');
  }
  if (head.toString('latin1', 8, 10) === 'CR')
    throw new Error('a raw file of Canon, which begins with a preview');
  header.fill(0, offsetAt);
  header.writeUInt8(header.length, littleEndian ? offsetAt : header.length - 1);
  // The zeros end the directory for image-size, which reads past its entries.
  return Buffer.concat([header, directory, Buffer.alloc(24)]);
}

const iconHeadLength = 6;
const entryLength = 16;
const iconType = 1;
const cursorType = 2;

/** A picture of an icon or a cursor: what the directory says, and where its bytes are. */
interface Entry {
  readonly width: number;
  readonly height: number;
  readonly offset: number;
}

/** Whether a file begins like an icon or a cursor with at least one picture. */
function isIcon(head: Buffer): boolean {
  if (head.length < iconHeadLength || head.readUInt16LE(0) !== 0 || head.readUInt16LE(4) === 0) return false;
  return [iconType, cursorType].includes(head.readUInt16LE(2));
}

/** Format and size of an icon or a cursor: those of its largest picture; no size if the picture has another than the directory says. */
async function probeIcon(bytes: RandomAccess, head: Buffer): Promise<MediaFacts> {
  const imageType = head.readUInt16LE(2) === iconType ? 'ico' : 'cur';
  const length = entryLength * head.readUInt16LE(4);
  const directory = await readAt(bytes, iconHeadLength, length);
  if (directory.length < length) throw new Error('the directory is cut off');
  const largest = entriesIn(directory).reduce((one, other) =>
    other.width * other.height > one.width * one.height ? other : one,
  );
  const {width, height} = largest;
  return (await isSizeOf(bytes, largest)) ? {width, height, imageType} : {imageType};
}

function entriesIn(directory: Buffer): Entry[] {
  return Array.from({length: directory.length / entryLength}, (_, index) => {
    const entry = directory.subarray(entryLength * index);
    return {
      width: entry.readUInt8(0) || 256,
      height: entry.readUInt8(1) || 256,
      offset: entry.readUInt32LE(12),
    };
  });
}

async function isSizeOf(bytes: RandomAccess, entry: Entry): Promise<boolean> {
  const picture = await readAt(bytes, entry.offset, 24);
  const isPng = picture.toString('latin1', 1, 4) === 'PNG';
  const width = isPng ? picture.readUInt32BE(16) : picture.readInt32LE(4);
  // A bitmap is followed by its mask.
  const height = isPng ? picture.readUInt32BE(20) : picture.readInt32LE(8) / 2;
  return width === entry.width && height === entry.height;
}
