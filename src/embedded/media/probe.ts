import {type FileHandle, open} from 'node:fs/promises';
import type {Clock} from '../../host.ts';
import type {MediaFacts} from './media-facts.ts';

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
