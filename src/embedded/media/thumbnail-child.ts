import {execFile} from 'node:child_process';
import {open} from 'node:fs/promises';
import type {Sharp} from 'sharp';
import {isString, type Shape} from '../../lib/shape.ts';
import {answerRequests} from './child/answer-requests.ts';
import type {ThumbnailRequest} from './thumbnailer.ts';

const longestEdge = 320;
const ffmpegLimits = {milliseconds: 8_000, outputBytes: 64 * 1024 * 1024, allocation: 256 * 1024 * 1024};

/** Image formats. SVG, which sharp could render too, is left out: a small file can demand unlimited work. */
const pictureFormats = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif', 'avif'];

/** Video containers. Playlists, which ffmpeg could read too, are left out: they open other files. */
const videoFormats = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg';

const requestShape: Shape<ThumbnailRequest> = {path: isString, target: isString, contentType: isString};

void answerRequests(requestShape, async request => ({isMade: await make(request).catch(() => false)}));

async function make({path, target, contentType}: ThumbnailRequest): Promise<boolean> {
  const {default: sharp} = await import('sharp');
  const input = contentType.startsWith('video/') ? await posterFrame(path) : path;
  const picture: Sharp = sharp(input, {failOn: 'error'});
  const {format} = await picture.metadata();
  if (!pictureFormats.includes(format ?? '')) return false;
  const bytes = await picture
    .rotate()
    .resize(longestEdge, longestEdge, {fit: 'inside', withoutEnlargement: true})
    .webp()
    .toBuffer();
  const handle = await open(target, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return true;
}

/** A frame from the beginning of a video, as PNG. */
function posterFrame(path: string): Promise<Buffer> {
  const parameters = [
    ...['-v', 'error', '-nostdin', '-max_alloc', String(ffmpegLimits.allocation), '-threads', '1'],
    ...['-protocol_whitelist', 'file', '-format_whitelist', videoFormats, '-i', `file:${path}`],
    // The first frame is often black.
    ...['-an', '-sn', '-dn', '-vf', 'thumbnail=24', '-frames:v', '1'],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ];
  return new Promise((resolve, reject) => {
    execFile(
      'ffmpeg',
      parameters,
      {
        encoding: 'buffer',
        timeout: ffmpegLimits.milliseconds,
        killSignal: 'SIGKILL',
        maxBuffer: ffmpegLimits.outputBytes,
        windowsHide: true,
      },
      (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(error);
      },
    );
  });
}
