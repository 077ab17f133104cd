import {disableTypes, imageSize} from 'image-size';
import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {isCount} from '../../lib/json.ts';
import {heifFormat, probeHeif} from './heif.ts';
import type {MediaFacts} from './media-facts.ts';

// image-size takes the first of several sizes in a file.
disableTypes(['heif']);

/** Format and coded size of an image; throws if the format is not recognized. */
export async function probeImage(bytes: RandomAccess, contentType: string): Promise<MediaFacts> {
  const plain = await probePlainImage(bytes, contentType);
  if (plain !== undefined) return plain;
  const head = await readAt(bytes, 0, 128 * 1024);
  const isTiff = /^(?:II[*+]\0|MM\0[*+])/.test(head.toString('latin1', 0, 4));
  return isTiff ? tiffFacts(bytes, head) : factsOf(head, contentType);
}

/** Format and coded size of an image with a short header or index; undefined for all other formats. */
export async function probePlainImage(
  bytes: RandomAccess,
  contentType: string,
): Promise<MediaFacts | undefined> {
  // Enough for all of them except JPEG.
  const head = await readAt(bytes, 0, 64);
  const heif = heifFormat(head);
  if (heif !== undefined) return probeHeif(bytes, heif);
  if (isIcon(head)) return probeIcon(bytes, head);
  if (!/^(?:\x89PNG|GIF8[79]a|BM|RIFF.{4}WEBP|\xff\xd8)/s.test(head.toString('latin1'))) return undefined;
  if (head.toString('latin1', 0, 2) === 'BM') return bitmapFacts(head);
  if (head.toString('latin1', 1, 4) === 'PNG')
    return {...factsOf(head, contentType), imageType: (await isAnimatedPng(bytes)) ? 'apng' : 'png'};
  return head[0] === 0xff ? jpegFacts(bytes) : factsOf(head, contentType);
}

/** The facts of image-size, without what is uncertain in them; throws if it does not know the format. */
function factsOf(head: Uint8Array, contentType: string): MediaFacts {
  const {width, height, type} = imageSize(head);
  // TGA has no signature: almost any file that begins with zeros would count as one.
  if (type === undefined || (type === 'tga' && !/(tga|targa)/.test(contentType))) return {};
  // Programs convert a size differently that is fractional or has another unit than pixels.
  const otherUnits = /<svg\s[^<>]*\s(?:width|height)=(["'])(?!\d+(?:px)?\1)[^"'%]+\1/;
  if (type === 'svg' && otherUnits.test(Buffer.from(head).toString('latin1'))) return {imageType: type};
  return sizedFacts(width, height, type === 'jxl-stream' ? 'jxl' : type);
}

/** A format, and the size if it is one. */
function sizedFacts(width: number | undefined, height: number | undefined, imageType: string): MediaFacts {
  return isCount(width) && isCount(height) ? {width, height, imageType} : {imageType};
}

/** A bitmap may have the OS/2 header, with sizes of two bytes, or a negative height (rows from top to bottom). */
function bitmapFacts(head: Buffer): MediaFacts {
  const isShort = head.readUInt32LE(14) === 12;
  const width = isShort ? head.readUInt16LE(18) : head.readInt32LE(18);
  const height = isShort ? head.readUInt16LE(20) : Math.abs(head.readInt32LE(22));
  return sizedFacts(width, height, 'bmp');
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

/** The size in the frame header of a JPEG, which may come after megabytes of profiles, previews and metadata. */
async function jpegFacts(bytes: RandomAccess): Promise<MediaFacts> {
  let offset = 2;
  for (let segments = 0; segments < 2_000; segments += 1) {
    const segment = await readAt(bytes, offset, 10);
    if (segment.length < 10 || segment[0] !== 0xff) break;
    const marker = segment.readUInt8(1);
    if (marker === 0xff) {
      offset += 1; // a fill byte
    } else if (marker >= 0xc0 && marker <= 0xc2) {
      return sizedFacts(segment.readUInt16BE(7), segment.readUInt16BE(5), 'jpg'); // baseline, extended, progressive
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      offset += 2; // a marker without a segment
    } else {
      offset += 2 + segment.readUInt16BE(2);
    }
  }
  throw new Error('no frame header');
}

/** The size in the first directory of a TIFF or BigTIFF, which many writers put at the end of the file. */
async function tiffFacts(bytes: RandomAccess, head: Buffer): Promise<MediaFacts> {
  const littleEndian = head[0] === 0x49;
  const isBig = head[littleEndian ? 2 : 3] === 0x2b;
  const [wordLength, countLength, entryLength] = isBig ? [8, 8, 20] : [4, 2, 12];
  // In the byte order of the file. Numbers of BigTIFF have 8 bytes, and readUIntLE() reads 6 at most.
  const numberAt = (bytes: Buffer, at: number, length: number) => {
    const digits = Buffer.from(bytes.subarray(at, at + length));
    return Number(`0x${(littleEndian ? digits.reverse() : digits).toString('hex')}`);
  };
  const offset = numberAt(head, wordLength, wordLength);
  const count = numberAt(await readAt(bytes, offset, countLength), 0, countLength);
  const directory = await readAt(bytes, offset + countLength, Math.min(count, 4_096) * entryLength);
  // The bytes of whole numbers by their types.
  const numberLengths: Readonly<Record<number, number>> = {3: 2, 4: 4, 16: 8};
  const values = new Map<number, number>();
  for (let entry = 0; entry + entryLength <= directory.length; entry += entryLength) {
    const length = numberLengths[numberAt(directory, entry + 2, 2)];
    if (length !== undefined && numberAt(directory, entry + 4, wordLength) === 1)
      values.set(numberAt(directory, entry, 2), numberAt(directory, entry + 4 + wordLength, length));
  }
  // NewSubfileType, whose lowest bit says that the file has a larger version of the image; ImageWidth; ImageLength.
  const [type = 0, width, height] = [254, 256, 257].map(tag => values.get(tag));
  // Camera raw files are TIFF too, and many begin with a preview, as those of Canon do.
  if (type % 2 === 1 || head.toString('latin1', 8, 10) === 'CR') throw new Error('a preview');
  if (!isCount(width) || !isCount(height)) throw new Error('no size');
  return {width, height, imageType: 'tiff'};
}

/** Whether a file begins like an icon (1) or a cursor (2) with at least one picture. */
function isIcon(head: Buffer): boolean {
  if (head.length < 6 || head.readUInt16LE(0) !== 0 || head.readUInt16LE(4) === 0) return false;
  return [1, 2].includes(head.readUInt16LE(2));
}

/** Format and size of an icon or cursor: those of its largest picture; no size if the directory says another. */
async function probeIcon(bytes: RandomAccess, head: Buffer): Promise<MediaFacts> {
  const imageType = head.readUInt16LE(2) === 1 ? 'ico' : 'cur';
  const length = 16 * head.readUInt16LE(4);
  const directory = await readAt(bytes, 6, length);
  let largest = {width: 0, height: 0, offset: 0};
  for (let entry = 0; entry < length; entry += 16) {
    const width = directory.readUInt8(entry) || 256;
    const height = directory.readUInt8(entry + 1) || 256;
    if (width * height > largest.width * largest.height)
      largest = {width, height, offset: directory.readUInt32LE(entry + 12)};
  }
  const {width, height, offset} = largest;
  const picture = await readAt(bytes, offset, 24);
  const isPng = picture.toString('latin1', 1, 4) === 'PNG';
  // A bitmap is followed by its mask.
  const [ownWidth, ownHeight] = isPng
    ? [picture.readUInt32BE(16), picture.readUInt32BE(20)]
    : [picture.readInt32LE(4), picture.readInt32LE(8) / 2];
  return width === ownWidth && height === ownHeight ? {width, height, imageType} : {imageType};
}
