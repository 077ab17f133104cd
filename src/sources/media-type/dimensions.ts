import type {OpenSource} from '../open/source.ts';

/** The size of a picture in pixels. */
export interface Dimensions {
  width: number;
  height: number;
  /** Whether its metadata says to turn it by a quarter, which changes width and height for those who heed it. */
  mayBeTurned: boolean;
}

/** PNG, GIF, BMP, WebP and JPEG: each has one picture, and its size is near the beginning. */
const plainFormat = /^(?:\x89PNG|GIF8[79]a|BM|RIFF.{4}WEBP|\xff\xd8)/s;
const headLength = 128 * 1024;
/** The first value of EXIF's orientation that exchanges width and height. */
const quarterTurns = 5;

/** The size of a picture, by its first bytes; undefined for other files and where it is not known. */
export async function pictureDimensions(source: OpenSource): Promise<Dimensions | undefined> {
  const bytes = await source.read(0, Math.min(headLength, source.size));
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = head.subarray(0, 16).toString('latin1');
  if (!plainFormat.test(start)) return undefined;
  const {imageSize} = await import('image-size');
  try {
    if (start.startsWith('BM')) return bitmapDimensions(head);
    const {width, height, orientation = 1} = imageSize(head);
    const mayBeTurned = orientation >= quarterTurns || mayHaveExif(head);
    return width > 0 && height > 0 ? {width, height, mayBeTurned} : undefined;
  } catch {
    // The size comes after the first bytes, or the file is damaged.
    return undefined;
  }
}

/** A bitmap may have the short header of OS/2, and a negative height if it is stored from top to bottom. */
function bitmapDimensions(head: Buffer): Dimensions {
  const isShort = head.readUInt32LE(14) === 12;
  const width = isShort ? head.readUInt16LE(18) : head.readInt32LE(18);
  const height = isShort ? head.readUInt16LE(20) : head.readInt32LE(22);
  return {width, height: Math.abs(height), mayBeTurned: false};
}

/** Whether a PNG or WebP has EXIF metadata, whose orientation image-size does not read; WebP has it at its end, and a flag. */
function mayHaveExif(head: Buffer): boolean {
  const isExtended = head.subarray(12, 16).toString('latin1') === 'VP8X';
  return isExtended ? (head.readUInt8(20) & 0x08) !== 0 : head.includes('eXIf');
}
