import type {RandomAccess} from '../../../lib/files/random-access.ts';

/** Whether a file has consecutive frames of MP3 or AAC. Loads mediabunny (100 ms) only for likely audio. */
export async function isAudioStream(bytes: RandomAccess): Promise<boolean> {
  const {ADTS, CustomSource, Input, Logging, LogLevel, MP3} = await import('mediabunny');
  // By default mediabunny writes to the console.
  Logging.level = LogLevel.Silent;
  // mediabunny skips tags and cover pictures of any length; after 1 MiB it is stopped.
  let remaining = 2 ** 20;
  const source = new CustomSource({
    getSize: () => bytes.size,
    read: async (start, end) => {
      remaining -= end - start;
      if (remaining < 0) throw new RangeError('no frames within reach');
      return new Uint8Array(await bytes.read(start, end - start));
    },
    handleUnhandledError: () => undefined,
  });
  const input = new Input({formats: [MP3, ADTS], source});
  const canRead = input.canRead().catch(() => false);
  return canRead.finally(() => input.dispose());
}
