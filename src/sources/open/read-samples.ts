/** Consecutive reads of the same length, with the checksum of their samples. */
interface Run {
  readonly start: number;
  readonly length: number;
  count: number;
  checksum: number;
}

/** Reads this many bytes at a position; fewer only at the end of the file. */
type Read = (position: number, length: number) => Promise<Uint8Array>;

/** The length of a sample in bytes: the beginning of each read, since a checksum of everything would slow down uploads. */
const wholeRead = 16 * 1024;
const sampleBytes = 1024;

/** Samples of what was read from a file, in little memory: they reveal most changes of the content, but not all. */
export class ReadSamples {
  readonly #runs: Run[] = [];

  /** Records a read at a position. */
  add(position: number, bytes: Uint8Array): void {
    const {length} = bytes;
    const sample = bytes.subarray(0, sampleLength(length));
    const last = this.#runs.at(-1);
    if (last?.length === length && last.start + last.count * length === position) {
      last.checksum = checksumOf(sample, last.checksum);
      last.count += 1;
    } else this.#runs.push({start: position, length, count: 1, checksum: checksumOf(sample, 0)});
  }

  /** Whether reading the samples again gives the same bytes. */
  async areIn(read: Read): Promise<boolean> {
    for (const {start, length, count, checksum} of [...this.#runs]) {
      let found = 0;
      for (let index = 0; index < count; index += 1)
        found = checksumOf(await read(start + index * length, sampleLength(length)), found);
      if (found !== checksum) return false;
    }
    return true;
  }
}

function sampleLength(length: number): number {
  return length <= wholeRead ? length : sampleBytes;
}

/** FNV-1a: a different content of the same length rarely has the same checksum. */
function checksumOf(bytes: Uint8Array, begun: number): number {
  let sum = begun;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x0100_0193);
  return sum;
}
