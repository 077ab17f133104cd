import {type FileHandle, open} from 'node:fs/promises';
import {join} from 'node:path';
import {
  CmafOutputFormat,
  Conversion,
  HlsOutputFormat,
  Output,
  PathedTarget,
  StreamTarget,
  type StreamTargetChunk,
} from 'mediabunny';
import {accessTo, type MediaRequest} from './media-facts.ts';
import {videoInput} from './video.ts';

/**
 * Writes a video as an HLS stream into its target, a directory, without encoding it again: `index.m3u8`, the playlist
 * that it names, and one file of fragmented MP4 with all segments. Resolves with whether players can read that; rejects
 * if the video is damaged, or the stream would be far larger than it is.
 */
export async function writeStream({path, target = ''}: MediaRequest): Promise<boolean> {
  const handle = await open(path, 'r');
  const bytes = await accessTo(handle);
  // 4 MiB for a playlist and the heads of segments, which a short video has as well.
  const longest = 2 * bytes.size + 4 * 1024 * 1024;
  let length = 0;
  const files: FileHandle[] = [];
  const input = videoInput(bytes, longest);
  try {
    const output = new Output({
      format: new HlsOutputFormat({
        segmentFormat: new CmafOutputFormat(),
        singleFilePerPlaylist: true,
        // As Apple recommends, in seconds.
        targetDuration: 6,
        getPlaylistPath: ({n}) => `playlist-${n}.m3u8`,
        getSegmentPath: ({playlist}) => `segments-${playlist.n}.mp4`,
      }),
      target: new PathedTarget('index.m3u8', async ({path}) => {
        const file = await open(join(target, path), 'wx', 0o600);
        files.push(file);
        // Called with each piece of a file, which need not follow the one before it.
        const write = async ({data, position}: StreamTargetChunk) => {
          length += data.length;
          // Samples that a damaged index names many times would fill the disk.
          if (length > longest) throw new Error('the stream would be far larger than the video');
          for (let done = 0; done < data.length; )
            done += (await file.write(data, done, data.length - done, position + done)).bytesWritten;
        };
        return new StreamTarget(new WritableStream({write}));
      }),
    });
    const conversion = await Conversion.init({
      input,
      output,
      tracks: 'primary',
      // Transport streams do not begin at zero.
      copy: {mode: 'forced', shiftTolerance: Number.POSITIVE_INFINITY},
      tags: {},
      showWarnings: false,
    });
    // A stream of one picture has no segment that lasts.
    const seconds = (await input.computeDuration()) - (await input.getFirstTimestamp());
    if (seconds <= 0 || !(await isPlayable(conversion))) return false;
    await conversion.execute();
    await Promise.all(files.map(file => file.sync()));
    return true;
  } finally {
    input.dispose();
    await Promise.all([handle, ...files].map(file => file.close()));
  }
}

/** Whether players can read a stream of all video and audio tracks, which are copied as they are encoded. */
async function isPlayable({isValid, utilizedTracks, discardedTracks}: Conversion): Promise<boolean> {
  if (!isValid || !utilizedTracks.some(track => track.isVideoTrack())) return false;
  if (discardedTracks.some(({track}) => track.isVideoTrack() || track.isAudioTrack())) return false;
  const codecs = await Promise.all(utilizedTracks.map(track => track.getCodec()));
  // What players can read in fragmented MP4.
  return codecs.every(codec => /^(?:avc|hevc|vp9|av1|aac|mp3|opus|flac|e?ac3)$/.test(codec ?? ''));
}
