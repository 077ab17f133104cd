import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {isCount, isObject, parseObject} from '../../lib/json.ts';
import {omitUndefined} from '../../lib/object.ts';
import type {Findings, MediaFacts, MediaFile} from './media-facts.ts';
import {limitedCommand} from './process-limits.ts';

/** Limits for one file. Processor time counts first: a busy machine may need minutes for a second of work. */
const limits = {processorSeconds: 8, milliseconds: 50_000, allocation: 256 * 1024 * 1024};

/** Containers of videos that ffmpeg and ffprobe may read. Playlists are left out: they open other files. */
export const ffmpegContainers = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg';

/** Runs ffmpeg or ffprobe on one file, the only one it may open. Resolves to its output; rejects if it failed. */
export async function runFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  {path, formats, options = []}: {path: string; formats: string; options?: readonly string[]},
  parameters: readonly string[],
  mostBytes: number,
): Promise<Buffer> {
  const input = [
    ...['-v', 'quiet', '-max_alloc', String(limits.allocation), ...options],
    ...['-protocol_whitelist', 'file', '-format_whitelist', formats, '-i', `file:${path}`],
  ];
  const command = limitedCommand([program, ...input, ...parameters], limits);
  const {stdout} = await promisify(execFile)(...command, {
    encoding: 'buffer',
    timeout: limits.milliseconds,
    killSignal: 'SIGKILL',
    maxBuffer: mostBytes,
    windowsHide: true,
  });
  return stdout;
}

/** Formats of images that it may read. */
const imageFormats =
  'qoi_pipe,exr_pipe,pcx_pipe,j2k_pipe,jpegls_pipe,psd_pipe,tiff_pipe,dds_pipe,sgi_pipe,sunrast_pipe,pgm_pipe,ppm_pipe,pbm_pipe,pam_pipe,hdr_pipe';

/** Whether ffprobe may read an image as well, in which our own reader has recognized this format, or none. */
export function canCompare(imageType: string | undefined): boolean {
  return imageType === undefined || /^(?:dds|j2c|jp2|pnm|psd|tiff)$/.test(imageType);
}

/** The facts from ffprobe, if it is on PATH: images for image/*, videos for video/*. Never rejects. */
export async function probeWithFfprobe({path, contentType}: MediaFile): Promise<MediaFacts> {
  const isImage = contentType.startsWith('image/');
  const input = {path, formats: isImage ? imageFormats : ffmpegContainers};
  const entries = 'format=duration:stream=codec_type,codec_name,width,height:stream_disposition=attached_pic';
  const report = ['-of', 'json', '-show_entries', entries];
  const output = await runFfmpeg('ffprobe', input, report, 1024 * 1024).catch(() => '');
  const facts = parseObject(output.toString()) ?? {};
  const streams = Array.isArray(facts['streams']) ? facts['streams'].filter(isObject) : [];
  const [video] = streams.filter(
    ({codec_type: type, disposition: is}) => type === 'video' && !(isObject(is) && is['attached_pic'] === 1),
  );
  if (video === undefined) return {};
  const {width, height, codec_name: codec} = video;
  const format = isObject(facts['format']) ? facts['format'] : {};
  const milliseconds = Math.round(Number(format['duration']) * 1_000);
  const hasSize = isCount(width) && isCount(height);
  // Our own readers know the other formats of images.
  const isOnlyHere = isImage && /^(?:exr|jpegls|pcx|qoi|sgi)$/.test(String(codec));
  return omitUndefined({
    ...(hasSize ? {width, height} : {}),
    imageType: isOnlyHere ? String(codec).replace('jpegls', 'jls') : undefined,
    duration: !isImage && isCount(milliseconds) ? milliseconds / 1_000 : undefined,
  });
}

/** What two readers say where neither contradicts the other. */
export function agreeingFacts(one: Findings, other: MediaFacts): MediaFacts {
  const {width, height, duration, imageType} = {...other, ...one};
  const isSameSize = (other.width ?? width) === width && (other.height ?? height) === height;
  const isSameDuration = Math.abs((duration ?? 0) - (other.duration ?? duration ?? 0)) <= 0.1;
  return omitUndefined({
    ...(isSameSize && width !== undefined && height !== undefined ? {width, height} : {}),
    imageType,
    duration: isSameDuration && !one.isDurationDoubtful ? duration : undefined,
  });
}
