import {factsIn, type MediaFacts, type ProbeRequest} from './media-facts.ts';

/**
 * Looks at the bytes of an image or a video (by its content type) and says what they tell. It reads at most 64 MiB and
 * never rejects: whatever goes wrong only leaves fields out. Some bytes keep it busy for ever: see Prober.
 */
export async function probe({path, contentType}: ProbeRequest): Promise<MediaFacts> {
  return factsIn(path, async handle => {
    // Loaded at the first use: these modules would slow down the start of every run.
    if (contentType.startsWith('image/')) {
      const {probeImage} = await import('./probe-image.ts');
      return probeImage(handle, contentType);
    }
    const {probeVideo} = await import('./probe-video.ts');
    return probeVideo(handle);
  });
}
