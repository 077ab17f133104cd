/** The most significant kind of track in a container; undefined if unknown. */
export type Tracks = 'video' | 'audio' | 'subtitles' | undefined;

/** The most significant of the kinds that were found; undefined if there is none. */
export function dominantTrack(found: ReadonlySet<unknown>): Tracks {
  return (['video', 'audio', 'subtitles'] as const).find(kind => found.has(kind));
}
