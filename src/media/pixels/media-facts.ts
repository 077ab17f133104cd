import {type FileHandle, open} from 'node:fs/promises';
import type {RandomAccess} from '../../lib/files/random-access.ts';
import {isCount, isPositive, isString, optional, type ShapeOf} from '../../lib/json.ts';

export const factsShape = {
  /** Coded size in pixels: as stored in the file, before any EXIF orientation, HEIF or video rotation is applied. */
  width: optional(isCount),
  height: optional(isCount),
  /** The format of an image, e.g. `png`, `jpg`, `heic`. */
  imageType: optional(isString),
  /** Seconds, to the millisecond; of videos. */
  duration: optional(isPositive),
};

/** Facts read from the bytes of a medium; unknown fields are absent. */
export type MediaFacts = Readonly<ShapeOf<typeof factsShape>>;

/** What a reader found. */
export interface Findings extends MediaFacts {
  /** Whether two parts of the file contradict each other about the duration. */
  readonly isDurationDoubtful?: true;
}

export interface MediaFile {
  readonly path: string;
  readonly contentType: string;
}

/** What a MediaChild is asked to do with a file. */
export interface MediaRequest extends MediaFile {
  readonly task: 'probe' | 'size' | 'thumbnail' | 'stream';
  /** Where to write what it makes. */
  readonly target?: string | undefined;
  /** Where sharp starts, for a thumbnail. */
  readonly sharp?: string | undefined;
}

/** What `look` finds in a file; no facts if the file cannot be read, or if `look` rejects. */
export async function factsIn<Facts>(
  path: string,
  look: (bytes: RandomAccess) => Promise<Facts>,
): Promise<Facts | MediaFacts> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    return await look(await accessTo(handle));
  } catch {
    return {};
  } finally {
    await handle?.close();
  }
}

/** Random access to the bytes of an open file, which the caller closes. */
export async function accessTo(handle: FileHandle): Promise<RandomAccess> {
  const {size} = await handle.stat();
  return {
    size,
    async read(position, length) {
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
  };
}
