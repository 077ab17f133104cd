import {open} from 'node:fs/promises';
import type {Sharp} from 'sharp';
import {isString, type Shape} from '../../lib/shape.ts';
import {answerRequests} from './child/answer-requests.ts';
import {ffmpegContainers, runFfmpeg} from './run-ffmpeg.ts';
import type {ThumbnailRequest} from './thumbnailer.ts';

const longestEdge = 320;
/** Of a poster frame, in bytes. */
const largestFrame = 64 * 1024 * 1024;

/** Image formats. SVG, which sharp could render too, is left out: a small file can demand unlimited work. */
const pictureFormats = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif', 'avif'];

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
  const input = {path, formats: ffmpegContainers, options: ['-nostdin', '-threads', '1']};
  const output = [
    // The first frame is often black. 24 large ones would take too much memory.
    ...['-an', '-sn', '-dn', '-vf', 'scale=w=min(iw\\,640):h=-2,thumbnail=24', '-frames:v', '1'],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ];
  return runFfmpeg('ffmpeg', input, output, largestFrame);
}
