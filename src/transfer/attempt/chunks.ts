import {MediaError} from '../../errors.ts';
import type {Wire} from '../../http/http.ts';
import {returnMemory, takeMemory} from '../../lib/files/spare-memory.ts';
import type {OpenSource} from '../../sources/open/source.ts';

/** The size of a read, in bytes, and the largest chunk until much has been sent. */
const blockBytes = 256 * 1024;

/** The largest chunk and read of all: on a fast connection, they take a quarter less CPU time than those of `blockBytes`. */
const largestChunk = 1024 * 1024;

/** The smallest chunk without a rate limit, in bytes. */
export const smallestChunk = 64 * 1024;

/** The size of chunks: large for throughput, small on a slow connection, where each chunk restarts the stall timeout. */
export class Pace {
  readonly #isFixed: boolean;
  #sent = 0;
  chunkBytes: number;

  constructor(fixedBytes: number | undefined) {
    this.#isFixed = fixedBytes !== undefined;
    this.chunkBytes = fixedBytes ?? smallestChunk;
  }

  /** Adapts the size to the time that the last chunk took. */
  learn(bytes: number, elapsedMs: number): void {
    if (this.#isFixed) return;
    this.#sent += bytes;
    const doubled = 2 * this.chunkBytes;
    // A slow connection is as fast as memory until the buffers on the way are full.
    const most = Math.max(blockBytes, Math.min(largestChunk, this.#sent / 16));
    if (elapsedMs < 10 && doubled <= most) this.chunkBytes = doubled;
    else if (elapsedMs > 100) this.chunkBytes = smallestChunk;
  }
}

/**
 * The bytes of a source in order, read one block ahead. A chunk may be overwritten when the next one is asked for, so that
 * two blocks of memory are enough for a file of any size: one is sent while the other is read. Rejects with
 * `source_changed` if the bytes end before the source's size.
 */
export async function* chunksOf(source: OpenSource, pace: Pace, wire: Wire): AsyncGenerator<Uint8Array> {
  const memory = new Blocks(source.size, wire);
  let position = 0;
  const read = () => {
    const bytes = Math.max(blockBytes, pace.chunkBytes);
    return source.read(position, bytes, memory.next(bytes));
  };
  let next = read();
  while (position < source.size) {
    const block = await next;
    if (block.length === 0) throw await cutShort(source);
    position += block.length;
    if (position < source.size) {
      next = read();
      // It is awaited later.
      next.catch(() => {});
    }
    for (let start = 0; start < block.length; ) {
      const end = Math.min(block.length, start + pace.chunkBytes);
      yield block.subarray(start, end);
      start = end;
    }
  }
  memory.end();
}

const blockCount = 2;

/** The memory that blocks are read into, used in turn. */
class Blocks {
  readonly #isReused: boolean;
  readonly #wire: Wire;
  readonly #blocks: Uint8Array[] = [];
  #turn = 0;

  constructor(size: number, wire: Wire) {
    // A source that fits into one block gets memory of its own size.
    this.#isReused = size > blockBytes;
    this.#wire = wire;
  }

  /** The memory for the next block of up to this many bytes; undefined if it takes new memory. */
  next(bytes: number): Uint8Array | undefined {
    if (!this.#isReused) return undefined;
    const turn = this.#turn++ % blockCount;
    const used = this.#blocks[turn];
    // Otherwise wrong bytes would arrive unnoticed.
    if (used !== undefined && this.#wire.unsentBytes > 0)
      throw new Error('A chunk was requested before the last one had been sent.');
    if (used !== undefined && used.length >= bytes) return used;
    const block = takeMemory(bytes);
    this.#blocks[turn] = block;
    return block;
  }

  /** Leaves the memory to other files, unless the last chunk is still being sent from it. */
  end(): void {
    if (this.#wire.unsentBytes === 0) this.#blocks.forEach(returnMemory);
  }
}

/** The error for a file that ended before its size; it says how the file changed, if that is visible. */
export async function cutShort(source: OpenSource): Promise<unknown> {
  return source.verify().then(
    () =>
      new MediaError(
        'source_changed',
        'The file ended before its size: it changed while it was being uploaded.',
      ),
    (error: unknown) => error,
  );
}
