import {MediaError} from '../../../errors.ts';
import {keepMemory, takeMemory} from '../../../lib/memory.ts';
import type {Wire} from '../../http/http.ts';
import type {OpenSource} from '../../sources/open/source.ts';

/** The size of a read, in bytes, and the largest chunk until much has been sent. */
const blockBytes = 256 * 1024;

/** The largest chunk and read: on a fast link, they take a quarter less CPU time than those of `blockBytes`. */
const largestChunk = 1024 * 1024;

/** The smallest chunk without a rate limit, in bytes. */
export const smallestChunk = 64 * 1024;

/** The size of chunks: large for throughput, small on a slow link, where each chunk restarts the stall timeout. */
export class ChunkPace {
  readonly #isFixed: boolean;
  #sent = 0;
  chunkBytes: number;

  /** `fixedBytes`: the size of each chunk, as a rate limit needs it; undefined if the size adapts. */
  constructor(fixedBytes: number | undefined) {
    this.#isFixed = fixedBytes !== undefined;
    this.chunkBytes = fixedBytes ?? smallestChunk;
  }

  /** Adapts the size to how long the last chunk of this many bytes took to leave. */
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

/** The blocks of memory that a file is read into. */
const blockCount = 2;

/**
 * The bytes of a source in order, read one block ahead. A chunk may be overwritten when the next one is asked for: two
 * blocks of memory are enough, one to send and one to read. Rejects with `source_changed` if the source ends early.
 */
export async function* chunksOf(source: OpenSource, pace: ChunkPace, wire: Wire): AsyncGenerator<Uint8Array> {
  /** The memory in use; the first is the one that was read before the others. */
  const blocks: Uint8Array[] = [];
  let position = 0;
  /** Begins to read the next block, into the memory of the block before the last one. */
  const read = () => {
    const bytes = Math.max(blockBytes, pace.chunkBytes);
    // A source that fits into one block gets memory of its own size.
    if (source.size <= blockBytes) return source.read(position, bytes);
    const used = blocks.length < blockCount ? undefined : blocks.shift();
    // Otherwise wrong bytes would arrive unnoticed.
    if (used !== undefined && wire.unsentBytes > 0)
      throw new Error('A chunk was requested before the last one had been sent.');
    const block = used !== undefined && used.length >= bytes ? used : takeMemory(bytes);
    blocks.push(block);
    return source.read(position, bytes, block);
  };
  let next = read();
  while (position < source.size) {
    const block = await next;
    if (block.length === 0) await refuseCutShort(source);
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
  // The last chunk may still be being sent from it.
  if (wire.unsentBytes === 0) keepMemory(...blocks);
}

/** Rejects for a file that ended before its size; the error says how the file has changed, if that is visible. */
export async function refuseCutShort(source: OpenSource): Promise<never> {
  await source.verify();
  const sentence = 'The file ended before its size: it changed while it was being uploaded.';
  throw new MediaError('source_changed', sentence);
}
