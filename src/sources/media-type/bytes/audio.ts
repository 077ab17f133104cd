import type {RandomAccess} from './bytes.ts';

/** This many consecutive frames are no coincidence. */
const enoughFrames = 4;

/** Kilobits per second by the index in a frame's header (ISO/IEC 11172-3, 2.4.2.3; 13818-3, 2.4.2.3). */
const bitRates = {
  layer1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  layer2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  layer3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  lowLayer1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  low: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};

const sampleRates = [44100, 48000, 32000];

/**
 * Whether a part of a file contains frames of MPEG audio, AAC or AC-3: several in a row or, in a short file, frames up to its
 * exact end.
 */
export async function holdsAudioFrames(bytes: RandomAccess, start: number, end: number): Promise<boolean> {
  let position = start;
  for (let frames = 0; frames < enoughFrames; frames += 1) {
    if (frames > 0 && position === end) return true;
    const header = await bytes.read(position, Math.min(64, end - position));
    const length = frameLength(header);
    if (length === undefined) return false;
    if (position + length > end) return isInfoFrame(header);
    position += length;
  }
  return true;
}

// Many files begin with a silent frame that describes the rest; part of that frame is enough to recognise it.
function isInfoFrame(header: Uint8Array): boolean {
  return /Xing|Info|VBRI/.test(String.fromCharCode(...header));
}

/** The length of a frame in bytes, from its header; undefined if it is not a frame. */
function frameLength(header: Uint8Array): number | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = header;
  if (first === 0x0b && second === 0x77) return dolbyLength(third, fourth, fifth, sixth);
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  if (layer === 4) return (second & 0xf0) === 0xf0 ? adtsLength(third, fourth, fifth, sixth) : undefined;
  const isFull = version === 3;
  const bitRate = rowOf(layer, isFull)[(third >> 4) - 1];
  const sampleRate = sampleRates[(third >> 2) & 3];
  if (version === 1 || bitRate === undefined || sampleRate === undefined) return undefined;
  const rate = sampleRate / (isFull ? 1 : version === 2 ? 2 : 4);
  const padding = (third >> 1) & 1;
  if (layer === 1) return (Math.floor((12_000 * bitRate) / rate) + padding) * 4;
  return Math.floor(((layer === 3 && !isFull ? 72_000 : 144_000) * bitRate) / rate) + padding;
}

function rowOf(layer: number, isFull: boolean): readonly number[] {
  if (!isFull) return layer === 1 ? bitRates.lowLayer1 : bitRates.low;
  return layer === 1 ? bitRates.layer1 : layer === 2 ? bitRates.layer2 : bitRates.layer3;
}

/** Kilobits per second of AC-3 by every second size code (ATSC A/52, table 5.18). */
const dolbyRates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

// E-AC-3 contains its length; AC-3's is computed from its rates, with one more word in every other frame at 44.1 kHz.
function dolbyLength(third: number, fourth: number, fifth: number, sixth: number): number | undefined {
  const version = sixth >> 3;
  if (version > 16) return undefined;
  if (version > 10) return ((((third & 7) << 8) | fourth) + 1) * 2;
  const bitRate = dolbyRates[(fifth & 63) >> 1];
  const sampleRate = [48000, 44100, 32000][fifth >> 6];
  if (bitRate === undefined || sampleRate === undefined) return undefined;
  const words = Math.floor((96_000 * bitRate) / sampleRate);
  return (words + (sampleRate === 44100 ? fifth & 1 : 0)) * 2;
}

// The last three sampling rates are reserved, and a frame is longer than its header (ISO/IEC 13818-7, 6.2).
function adtsLength(third: number, fourth: number, fifth: number, sixth: number): number | undefined {
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
  return ((third >> 2) & 15) < 13 && length > 7 ? length : undefined;
}

/** mediabunny skips tags and cover pictures of any length; after this many bytes it is stopped. */
const mostBytes = 2 ** 20;

/**
 * Whether a file has consecutive frames of MP3 or AAC, according to mediabunny; file-type only checks eleven bits. Loading
 * mediabunny takes 50 to 100 ms, so it is only done for files that look like audio.
 */
export async function isAudioStream(bytes: RandomAccess): Promise<boolean> {
  const {ADTS, CustomSource, Input, Logging, LogLevel, MP3} = await import('mediabunny');
  // By default mediabunny writes to the console.
  Logging.level = LogLevel.Silent;
  let left = mostBytes;
  const source = new CustomSource({
    getSize: () => bytes.size,
    read: async (start, end) => {
      left -= end - start;
      if (left < 0) throw new RangeError('no frames within reach');
      return new Uint8Array(await bytes.read(start, end - start));
    },
    handleUnhandledError: () => undefined,
  });
  const input = new Input({formats: [MP3, ADTS], source});
  try {
    return await input.canRead();
  } catch {
    return false;
  } finally {
    input.dispose();
  }
}
