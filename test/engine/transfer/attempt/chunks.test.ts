import {describe, expect, test} from 'vitest';
import type {OpenSource} from '../../../../src/engine/sources/open/source.ts';
import {ChunkPace, chunksOf} from '../../../../src/engine/transfer/attempt/chunks.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const wire = {connectMs: 0, unsentBytes: 0};

/** A source of which each 64 KiB are filled with another byte than those before. */
function striped(size: number): OpenSource {
  return {
    size,
    async read(position, length, into = Buffer.alloc(length)) {
      const bytes = into.subarray(0, Math.min(length, size - position));
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, at + 64 * kibibyte - ((position + at) % (64 * kibibyte)));
        bytes.fill(stripe(position + at), at, end);
        at = end;
      }
      return bytes;
    },
    verify: async () => 'unchanged',
    close: async () => {},
  };
}

function stripe(position: number): number {
  return Math.floor(position / (64 * kibibyte)) % 251;
}

/** Takes all chunks, each of which takes so many milliseconds; returns their sizes, and fails if a byte is wrong. */
async function sizesOf(
  size: number,
  pace: ChunkPace,
  elapsedMs: (sent: number) => number,
): Promise<number[]> {
  const sizes: number[] = [];
  let position = 0;
  for await (const chunk of chunksOf(striped(size), pace, wire)) {
    for (let at = 0; at < chunk.length; at += kibibyte)
      if (chunk[at] !== stripe(position + at)) throw new Error(`The byte at ${position + at} is wrong.`);
    position += chunk.length;
    sizes.push(chunk.length);
    pace.learn(chunk.length, elapsedMs(position));
  }
  expect(position).toBe(size);
  return sizes;
}

describe('the chunks of a file', () => {
  test('on a fast connection: 64 KiB at first, 1 MiB after 16 MiB, the rest at last', async () => {
    const sizes = await sizesOf(24 * mebibyte + 5, new ChunkPace(undefined), () => 1);
    expect(sizes.slice(0, 4)).toEqual([64, 128, 64, 256].map(size => size * kibibyte));
    const [early, late] = [sizes.slice(0, 32), sizes.slice(-4)];
    expect(Math.max(...early)).toBe(256 * kibibyte);
    expect(Math.max(...late)).toBe(mebibyte);
    expect(Math.max(...sizes)).toBe(mebibyte);
  });

  test('on one that is slow after 20 MiB: 64 KiB again', async () => {
    const sizes = await sizesOf(22 * mebibyte, new ChunkPace(undefined), sent =>
      sent < 20 * mebibyte ? 1 : 200,
    );
    expect(sizes.slice(-8)).toEqual(Array(8).fill(64 * kibibyte));
  });

  test('on one that is neither: as they are', async () => {
    const sizes = await sizesOf(2 * mebibyte, new ChunkPace(undefined), () => 50);
    expect(new Set(sizes)).toEqual(new Set([64 * kibibyte]));
  });

  test('with a rate limit: as it says', async () => {
    const sizes = await sizesOf(mebibyte, new ChunkPace(1000), () => 1);
    expect(Math.max(...sizes)).toBe(1000);
  });
});

describe('the memory of a file that was sent', () => {
  /** Takes all chunks of a file; returns the last one, a copy of it, and the memory of all. */
  async function sent(unsentBytes: number) {
    const size = mebibyte;
    const changing = {...wire};
    const memory = new Set<unknown>();
    let chunk: Uint8Array = Buffer.alloc(0);
    let copy = Buffer.alloc(0);
    let position = 0;
    for await (chunk of chunksOf(striped(size), new ChunkPace(undefined), changing)) {
      memory.add(chunk.buffer);
      copy = Buffer.from(chunk);
      position += chunk.length;
      if (position === size) changing.unsentBytes = unsentBytes;
    }
    return {chunk, copy, memory};
  }

  test('is used for the next file', async () => {
    const [first, second] = [await sent(0), await sent(0)];
    expect([...second.memory].every(block => first.memory.has(block))).toBe(true);
  });

  test('is not while its last chunk is being sent', async () => {
    const first = await sent(1);
    const others = [await sent(0), await sent(0)];
    expect(others.some(({memory}) => memory.has(first.chunk.buffer))).toBe(false);
    expect(first.copy.equals(first.chunk)).toBe(true);
  });
});
