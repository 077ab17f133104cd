import type {FileHandle} from 'node:fs/promises';
import {CustomSource, Input, Logging, LogLevel, MATROSKA, MP4, MPEG_TS, QTFF, WEBM} from 'mediabunny';
import type {Findings} from './media-facts.ts';

/** By how much header and frames may differ, in seconds. */
const tolerance = 0.1;

const longestReading = 64 * 1024 * 1024;

/** Coded size and duration of a video; rejects if there is no video track or too many bytes would have to be read. */
export async function probeVideo(handle: FileHandle): Promise<Findings> {
  // mediabunny logs notes about codecs, which must not appear on standard output.
  Logging.level = LogLevel.Silent;
  const input = new Input({formats: videoFormats, source: fileSource(handle, longestReading)});
  try {
    return await factsOf(input);
  } finally {
    input.dispose();
  }
}

async function factsOf(input: Input): Promise<Findings> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) return {};
  const width = await track.getCodedWidth();
  const height = await track.getCodedHeight();
  // mediabunny 1.61 reports half the height of interlaced H.264 where only the stream itself tells the size.
  const sizeIsKnown = (await input.getFormat()) !== MPEG_TS && width > 0 && height > 0;
  const duration = await durationOf(input).catch(() => ({}));
  return {...(sizeIsKnown ? {width, height} : {}), ...duration};
}

/**
 * From the first frame or sound to the end of the last, since transport streams do not begin at zero; doubtful if the file's header
 * says otherwise.
 */
async function durationOf(input: Input): Promise<Pick<Findings, 'duration' | 'isDurationDoubtful'>> {
  const end = await input.computeDuration();
  const start = Math.max(0, await input.getFirstTimestamp());
  const stated = (await input.getDurationFromMetadata()) || end;
  // Matroska states the length, MP4 the end.
  if (Math.min(Math.abs(stated - end), Math.abs(stated - end + start)) > tolerance)
    return {isDurationDoubtful: true};
  const milliseconds = Math.round((end - start) * 1000);
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? {duration: milliseconds / 1000} : {};
}

/** Video containers that mediabunny reads. Its playlist formats are left out because they open other files. */
export const videoFormats = [MP4, QTFF, MATROSKA, WEBM, MPEG_TS];

/** A file for mediabunny, of which it may read so many bytes altogether. */
export function fileSource(handle: FileHandle, longestReading: number): CustomSource {
  let budget = longestReading;
  return new CustomSource({
    prefetchProfile: 'fileSystem',
    getSize: async () => (await handle.stat()).size,
    read: async (start, end) => {
      const length = end - start;
      budget -= length;
      if (budget < 0) throw new Error('too much was read');
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    },
    // A read that fails after its reader has given up does not matter; unhandled, it would end the process.
    handleUnhandledError: () => {},
  });
}
