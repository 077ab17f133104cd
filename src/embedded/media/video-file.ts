import type {FileHandle} from 'node:fs/promises';
import {CustomSource, MATROSKA, MP4, MPEG_TS, QTFF, WEBM} from 'mediabunny';

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
