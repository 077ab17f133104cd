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
  const head = await source.read(0, Math.min(headLength, source.size));
  if (!plainFormat.test(Buffer.from(head.subarray(0, 16)).toString('latin1'))) return undefined;
  const {imageSize} = await import('image-size');
  try {
    const {width, height, orientation = 1} = imageSize(head);
    return width > 0 && height > 0 ? {width, height, mayBeTurned: orientation >= quarterTurns} : undefined;
  } catch {
    // The size comes after the first bytes, or the file is damaged.
    return undefined;
  }
}
