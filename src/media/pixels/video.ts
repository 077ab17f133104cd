import {CustomSource, Input, Logging, LogLevel, MATROSKA, MP4, MPEG_TS, QTFF, WEBM} from 'mediabunny';
import type {RandomAccess} from '../../lib/files/random-access.ts';
import type {Findings, MediaFacts} from './media-facts.ts';

// mediabunny logs notes about codecs, which must not appear on standard output.
Logging.level = LogLevel.Silent;

/** Coded size and duration of a video; none without a video track. Rejects if it had to read too many bytes. */
export function probeVideo(bytes: RandomAccess): Promise<Findings> {
  return withInput(bytes, async input => {
    const size = await codedSize(input);
    return size === undefined ? {} : {...size, ...(await durationOf(input).catch(() => ({})))};
  });
}

/** The coded size of a video of one track whose pixels are square, by its header alone; no facts of any other. */
export function squareVideoSize(bytes: RandomAccess): Promise<MediaFacts> {
  return withInput(bytes, async input => {
    const ratios = await Promise.all(
      (await input.getVideoTracks()).map(track => track.getPixelAspectRatio()),
    );
    return ratios.length === 1 && ratios[0]?.num === ratios[0]?.den ? ((await codedSize(input)) ?? {}) : {};
  });
}

/** What `look` finds in a video, of which it may read 64 MiB. */
async function withInput<Facts>(bytes: RandomAccess, look: (input: Input) => Promise<Facts>): Promise<Facts> {
  const input = videoInput(bytes, 64 * 1024 * 1024);
  return look(input).finally(() => input.dispose());
}

/** Undefined without a video track; no facts where mediabunny may be wrong, as about transport streams. */
async function codedSize(input: Input): Promise<MediaFacts | undefined> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) return undefined;
  const width = await track.getCodedWidth();
  const height = await track.getCodedHeight();
  // mediabunny 1.61 reports half the height of interlaced H.264 where only the stream itself tells the size.
  const isKnown = (await input.getFormat()) !== MPEG_TS && width > 0 && height > 0;
  return isKnown ? {width, height} : {};
}

/** Counts from the first frame or sound, not from zero; doubtful if the header says another duration. */
async function durationOf(input: Input): Promise<Pick<Findings, 'duration' | 'isDurationDoubtful'>> {
  const end = await input.computeDuration();
  const start = Math.max(0, await input.getFirstTimestamp());
  const headerDuration = (await input.getDurationFromMetadata()) || end;
  // Matroska states the length, MP4 the end; either may differ from the frames by a tenth of a second.
  if (Math.min(Math.abs(headerDuration - end), Math.abs(headerDuration - end + start)) > 0.1)
    return {isDurationDoubtful: true};
  const milliseconds = Math.round((end - start) * 1000);
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? {duration: milliseconds / 1000} : {};
}

/** A video for mediabunny, whose reads fail after `longestReading` bytes altogether; the caller disposes of it. */
export function videoInput(bytes: RandomAccess, longestReading: number): Input {
  let budget = longestReading;
  const source = new CustomSource({
    prefetchProfile: 'fileSystem',
    getSize: () => bytes.size,
    async read(start, end) {
      budget -= end - start;
      if (budget < 0) throw new Error('too much was read');
      return bytes.read(start, end - start);
    },
    // A read that fails after its reader has given up does not matter; unhandled, it would end the process.
    handleUnhandledError: () => {},
  });
  // Its playlist formats are left out because they open other files.
  return new Input({formats: [MP4, QTFF, MATROSKA, WEBM, MPEG_TS], source});
}
