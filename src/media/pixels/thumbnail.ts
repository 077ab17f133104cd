import {createRequire} from 'node:module';
import type Sharp from 'sharp';
import {writeDurably} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {ffmpegContainers, runFfmpeg} from './ffmpeg.ts';
import type {MediaRequest} from './media-facts.ts';

/** Writes the thumbnail of a medium; resolves with whether it has one. */
export async function writeThumbnail(request: MediaRequest): Promise<boolean> {
  const {path, contentType, target = '', sharp: start} = request;
  if (start === undefined) return false;
  const sharp: typeof Sharp = createRequire(start)(start);
  const input = contentType.startsWith('video/') ? await posterFrame(path) : path;
  const picture = sharp(input, {failOn: 'error'});
  const {format} = await picture.metadata();
  // Without SVG, which sharp could render too: a small file can demand unlimited work.
  if (!/^(?:jpeg|png|webp|gif|tiff|heif|avif)$/.test(format ?? '')) return false;
  const bytes = await picture
    .rotate()
    .resize(320, 320, {fit: 'inside', withoutEnlargement: true})
    .webp()
    .toBuffer();
  await writeDurably(target, bytes, systemFiles);
  return true;
}

/** A frame from the beginning of a video, as PNG; rejects without ffmpeg, so that there is no thumbnail. */
function posterFrame(path: string): Promise<Buffer> {
  const input = {path, formats: ffmpegContainers, options: ['-nostdin', '-threads', '1']};
  const output = [
    // The first frame is often black. 24 large ones would take too much memory.
    ...['-an', '-sn', '-dn', '-vf', 'scale=w=min(iw\\,640):h=-2,thumbnail=24', '-frames:v', '1'],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ];
  return runFfmpeg('ffmpeg', input, output, 64 * 1024 * 1024);
}
