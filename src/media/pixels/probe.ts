import {resolve} from 'node:path';
import type {RandomAccess} from '../../lib/files/random-access.ts';
import type {FilePath} from '../../lib/files/typed-path.ts';
import {type Findings, factsIn, type MediaFacts, type MediaFile, type MediaRequest} from './media-facts.ts';

/** Reads the facts from at most 64 MiB of a file; never rejects. Some files never end: see media-program.ts. */
export async function probe({path, contentType, task}: Partial<MediaRequest> & MediaFile): Promise<Findings> {
  return factsIn(path, async bytes => {
    // Loaded on first use, since these modules would slow down the start of every run.
    if (contentType.startsWith('image/')) return (await import('./image.ts')).probeImage(bytes, contentType);
    const {probeVideo, squareVideoSize} = await import('./video.ts');
    return task === 'size' ? squareVideoSize(bytes) : probeVideo(bytes);
  });
}

/** Formats of one picture, of which all programs say the same size. */
const plainTypes = new Set('apng avif bmp gif heic heif j2c jp2 jpg jxl png psd svg tiff webp'.split(' '));

/** The coded size, if the header has only one; for videos only of files, which another process reads. Never rejects. */
export async function certainSize(
  bytes: RandomAccess & {path?: FilePath | undefined},
  contentType: string,
): Promise<MediaFacts> {
  try {
    if (contentType.startsWith('image/')) {
      const {probeImage} = await import('./image.ts');
      const {imageType = '', ...size} = await probeImage(bytes, contentType);
      // Camera raw files are TIFF too, and hold several pictures.
      const isRaw = imageType === 'tiff' && contentType !== 'image/tiff';
      return plainTypes.has(imageType) && !isRaw ? size : {};
    }
    if (!contentType.startsWith('video/') || bytes.path === undefined) return {};
    const {probeMedia} = await import('./media.ts');
    return await probeMedia({path: resolve(String(bytes.path)), contentType}, 'size');
  } catch {
    return {};
  }
}
