/** The most telling kind of track that a container holds; undefined where that cannot be established. */
export type Tracks = 'video' | 'audio' | 'subtitles' | undefined;

/** The most telling of the kinds that were found; undefined if none of them says what is to be seen or heard. */
export function mostTelling(found: ReadonlySet<unknown>): Tracks {
  return (['video', 'audio', 'subtitles'] as const).find(kind => found.has(kind));
}
