import {execFile} from 'node:child_process';

const limits = {milliseconds: 8_000, allocation: 256 * 1024 * 1024};

/** Containers of videos that ffmpeg and ffprobe may read. Playlists are left out: they open other files. */
export const ffmpegContainers = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg';

/** A file for ffmpeg or ffprobe, which formats they may take it for, and how they are to read it. */
interface FfmpegInput {
  readonly path: string;
  readonly formats: string;
  readonly options?: readonly string[];
}

/** Runs ffmpeg or ffprobe on one file, the only one that it may open; resolves with what it printed, and rejects if it failed or took 8 s. */
export function runFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  {path, formats, options = []}: FfmpegInput,
  parameters: readonly string[],
  mostBytes: number,
): Promise<Buffer> {
  const input = [
    ...['-v', 'quiet', '-max_alloc', String(limits.allocation), ...options],
    ...['-protocol_whitelist', 'file', '-format_whitelist', formats, '-i', `file:${path}`],
  ];
  return new Promise((resolve, reject) => {
    execFile(
      program,
      [...input, ...parameters],
      {
        encoding: 'buffer',
        timeout: limits.milliseconds,
        killSignal: 'SIGKILL',
        maxBuffer: mostBytes,
        windowsHide: true,
      },
      (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(error);
      },
    );
  });
}
