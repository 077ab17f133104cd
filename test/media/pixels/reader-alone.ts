import {MediaChild} from '../../../src/media/pixels/media-child.ts';
import type {MediaFacts, MediaFile} from '../../../src/media/pixels/media-facts.ts';

const child = new MediaChild('/nowhere');

/** What the own reader knows of a file, where there is no ffprobe. */
export async function factsWithoutFfprobe(file: MediaFile): Promise<MediaFacts> {
  return ((await child.ask({task: 'probe', ...file})) ?? {}) as MediaFacts;
}
