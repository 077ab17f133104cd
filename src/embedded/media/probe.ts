import {type Findings, factsIn, type MediaFile} from './media-facts.ts';

/**
 * Reads the facts of an image or a video, as its content type says, from its bytes: at most 64 MiB of them. Never rejects; on an error,
 * fields are absent. Some files keep it busy forever: see media-program.ts.
 */
export async function probe({path, contentType}: MediaFile): Promise<Findings> {
  return factsIn(path, async handle => {
    // Loaded on first use, since these modules would slow down the start of every run.
    if (contentType.startsWith('image/')) {
      const {probeImage, probePlainImage} = await import('./image.ts');
      return (await probePlainImage(handle, contentType)) ?? probeImage(handle, contentType);
    }
    const {probeVideo} = await import('./video.ts');
    return probeVideo(handle);
  });
}
