import {type FileHandle, open} from 'node:fs/promises';
import type {Clock} from '../host.ts';

/** What the bytes of a medium tell; what they do not tell is absent. */
export interface MediaFacts {
  /** Coded size in pixels: as stored in the file, before any EXIF orientation, HEIF or video rotation is applied. */
  readonly width?: number;
  readonly height?: number;
  /** The format of an image, e.g. `png`, `jpg`, `heic`. */
  readonly imageType?: string;
  /** Seconds, to the millisecond; of videos. */
  readonly duration?: number;
}

/**
 * Looks at the bytes of an image or a video (by its content type) and says what they tell. It reads at most a few
 * dozen MiB, gives up after some seconds, and never rejects: whatever goes wrong only leaves fields out.
 */
export async function probe(path: string, contentType: string, clock: Clock): Promise<MediaFacts> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    // Loaded at the first use: these modules would slow down the start of every run.
    if (contentType.startsWith('image/')) {
      const {probeImage} = await import('./probe-image.ts');
      return await probeImage(handle, contentType);
    }
    const {probeVideo} = await import('./probe-video.ts');
    return await probeVideo(handle, clock);
  } catch {
    return {};
  } finally {
    await handle?.close();
  }
}
