import type {RandomAccess} from '../bytes/random-access.ts';

/** mediabunny skips tags and covers of any length; past this many bytes it is stopped. */
const mostBytes = 2 ** 20;

/**
 * Whether frames of MP3 or AAC follow one another, which mediabunny tells: file-type concludes it from eleven bits.
 * Loading mediabunny takes a tenth of a second, so it is done for files that look like audio only.
 */
export async function isAudioStream(bytes: RandomAccess): Promise<boolean> {
  const {ADTS, CustomSource, Input, Logging, LogLevel, MP3} = await import('mediabunny');
  // The console is not ours to write on.
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
