import {execa} from 'execa';
import {whatIsMissing} from '../../support/installed.ts';

/** What a program says about a medium; what it does not say is absent. */
export interface Reading {
  type?: string;
  width?: number;
  height?: number;
  /** Seconds. */
  duration?: number;
}

export const fields = ['type', 'width', 'height', 'duration'] as const;
export type Field = (typeof fields)[number];

/** The names of one format in exiftool, ffprobe, ImageMagick and image-size. */
const formats: Readonly<Record<string, RegExp>> = {
  apng: /^apng$/,
  avif: /^(?:avif|avifs)$/,
  bmp: /^(?:bmp[23]?|bmp_pipe)$/,
  cur: /^cur$/,
  dds: /^dds/,
  gif: /^(?:gif(?:87)?|gif_pipe)$/,
  heif: /^(?:heic|heif|heics|hif|msf1|mif1)$/,
  ico: /^ico$/,
  jpeg: /^(?:jpe?g|mjpeg|jpeg_pipe|image2)$/,
  jp2: /^(?:jp2|j2k|j2c|jpc|jpx|j2k_pipe|jpeg2000)$/,
  jxl: /^(?:jxl|jpegxl|jpegxl_pipe|jxl codestream)$/,
  png: /^(?:png|png_pipe)$/,
  pnm: /^(?:p[bgnp]m|p[bgp]m_pipe|p[bgp]mpipe)$/,
  psd: /^(?:psd|psd_pipe)$/,
  svg: /^(?:svg|svg_pipe|svgz|msvg|mvg)$/,
  tga: /^(?:tga|targa)$/,
  tiff: /^(?:tiff?|tiff64|btf|tiff_pipe|bigtiff)$/,
  webp: /^(?:webp|extended webp|webp_pipe)$/,
};

/** One name for a format of images, whatever program named it. */
export function formatOf(name: string | undefined): string | undefined {
  const known = name?.toLowerCase();
  return Object.keys(formats).find(format => formats[format]?.test(known ?? ''));
}

const timeout = 20_000;

/** Which of the programs are not installed, as a sentence; undefined if all are. */
export const missingJudges = whatIsMissing(['exiftool', 'ffprobe', 'identify']);

/** What exiftool says of many files, by path. */
export async function exiftool(paths: readonly string[]): Promise<Map<string, Reading>> {
  const wanted = ['-FileType', '-ImageWidth', '-ImageHeight', '-Duration'];
  const {stdout} = await execa('exiftool', ['-json', '-n', '-q', ...wanted, '-@', '-'], {
    input: paths.join('\n'),
    reject: false,
    timeout: 10 * timeout,
  });
  const found = JSON.parse(stdout || '[]') as Record<string, unknown>[];
  return new Map(
    found.map(entry => [
      String(entry['SourceFile']),
      reading({
        type: formatOf(String(entry['FileType'])),
        width: entry['ImageWidth'],
        height: entry['ImageHeight'],
        duration: entry['Duration'],
      }),
    ]),
  );
}

/** What ffprobe says of the largest video stream. */
export async function ffprobe(path: string): Promise<Reading> {
  const shown =
    'format=format_name,duration:stream=codec_type,codec_name,width,height:stream_disposition=attached_pic';
  const {stdout} = await execa('ffprobe', ['-v', 'error', '-of', 'json', '-show_entries', shown, path], {
    reject: false,
    timeout,
  });
  const {streams = [], format = {}} = parsed(stdout);
  const videos = streams.filter(
    (one: {codec_type: string; disposition?: {attached_pic: number}}) =>
      one.codec_type === 'video' && one.disposition?.attached_pic !== 1,
  );
  const {width, height, codec_name: codec} = videos[0] ?? {};
  const name = String(format.format_name ?? '');
  return reading({type: formatOf(name) ?? formatOf(codec), width, height, duration: Number(format.duration)});
}

/** What ImageMagick says of the first picture. */
export async function identify(path: string): Promise<Reading> {
  const limits = ['-limit', 'time', '15', '-limit', 'memory', '256MiB', '-limit', 'map', '512MiB'];
  const {stdout, exitCode} = await execa(
    'identify',
    [...limits, '-quiet', '-ping', '-format', '%m %w %h\n', `${path}[0]`],
    {reject: false, timeout},
  );
  const [type, width, height] = (stdout.split('\n')[0] ?? '').split(' ');
  return exitCode === 0 ? reading({type: formatOf(type), width: Number(width), height: Number(height)}) : {};
}

/** The output of a program that was stopped is no JSON. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function reading({
  type,
  width,
  height,
  duration,
}: {
  type: string | undefined;
  width: unknown;
  height: unknown;
  duration?: unknown;
}): Reading {
  const isLength = (value: unknown): value is number =>
    typeof value === 'number' && value > 0 && Number.isFinite(value);
  const hasSize = isLength(width) && isLength(height);
  return {
    ...(type === undefined ? {} : {type}),
    ...(hasSize ? {width, height} : {}),
    ...(isLength(duration) ? {duration} : {}),
  };
}

/** What at least two readings agree on, as each of them says it; nothing where they do not. */
export function agreed(readings: readonly Reading[], field: Field): (string | number)[] {
  const values = readings.map(one => one[field]).filter(value => value !== undefined);
  return values.filter((value, index) =>
    values.some((other, at) => at !== index && isSame(field, value, other)),
  );
}

/** Whether at least two readings agree on the format and the size of an image. */
export function isAgreed(readings: readonly Reading[]): boolean {
  return (['type', 'width', 'height'] as const).every(field => agreed(readings, field).length > 0);
}

/** Whether two values are the same; a duration by a tenth of a second, or by a frame of a long film. */
export function isSame(field: Field, one: string | number, other: string | number): boolean {
  if (field !== 'duration') return one === other;
  return Math.abs(Number(one) - Number(other)) <= Math.max(0.1, 0.01 * Number(one));
}
