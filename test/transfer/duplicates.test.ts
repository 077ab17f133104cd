import {createHash} from 'node:crypto';
import {describe, expect, it} from 'vitest';
import type {OpenSource, Source} from '../../src/sources/open/source.ts';
import {Duplicates} from '../../src/transfer/duplicates.ts';
import {eventually} from '../support/eventually.ts';
import {collectGarbage, memoryUsed} from '../support/memory-used.ts';

const {signal} = new AbortController();

/** A source whose bytes are a text, repeated up to a size. */
function sourceOf(name: string, text: string, size = text.length): Source {
  return {name, typeName: name, open: async () => openedOf(text, size)};
}

function openedOf(text: string, size = text.length): OpenSource {
  return {
    size,
    read: async (position, length) => Buffer.alloc(Math.min(length, size - position), text),
    verify: async () => 'unchanged',
    close: async () => {},
  };
}

async function originalsOf(
  sources: readonly Source[],
  duplicates: Duplicates,
): Promise<(string | undefined)[]> {
  for (const [position, source] of sources.entries())
    await duplicates.add(position, source, await source.open(signal));
  return sources.map((_, position) => duplicates.originalOf(position));
}

describe('the duplicates of', () => {
  it('files of two sizes, the second file of each content', async () => {
    const sources = [
      sourceOf('a', 'same'),
      sourceOf('b', 'other'),
      sourceOf('c', 'same'),
      sourceOf('d', 'else'),
      sourceOf('e', 'else'),
      sourceOf('f', 'same'),
    ];
    expect(await originalsOf(sources, new Duplicates(signal))).toEqual([
      undefined,
      undefined,
      'a',
      undefined,
      'd',
      'a',
    ]);
  });
});

describe('32,000 files', () => {
  const count = 32_000;
  // In one piece, as names that are read from a disk are; V8 keeps the pieces of what is put together.
  const nameOf = (number: number) =>
    Buffer.from(`library/2024/album-${number % 500}/photograph-${number}.jpeg`).toString();

  it.each<[string, (number: number) => number]>([
    ['of 32,000 sizes', number => number + 1],
    ['of one size', () => 9],
    ['of 16,000 sizes', number => 20 + Math.floor(number / 2)],
  ])('%s are kept in less than 300 bytes each, and the duplicate of one is found', async (_name, sizeOf) => {
    const textOf = (number: number) => createHash('sha1').update(String(number)).digest('hex');
    const reopened: string[] = [];
    const duplicates = new Duplicates(signal, name => {
      reopened.push(name);
      const number = Number(/(\d+)\.jpeg$/.exec(name)?.[1]);
      return sourceOf(name, textOf(number), sizeOf(number));
    });
    collectGarbage();
    const before = memoryUsed();
    let found: string | undefined;
    for (let number = 0; number < count; number += 1) {
      const source = sourceOf(nameOf(number), textOf(number), sizeOf(number));
      await duplicates.add(number, source, openedOf(textOf(number), sizeOf(number)));
      found ??= duplicates.originalOf(number);
    }
    expect(found).toBeUndefined();
    await eventually(() => {
      collectGarbage();
      return memoryUsed() - before < 300 * count;
    });
    const copied = 31_313;
    await duplicates.add(count, sourceOf('copy.jpeg', ''), openedOf(textOf(copied), sizeOf(copied)));
    expect(duplicates.originalOf(count)).toBe(nameOf(copied));
    expect(reopened.length).toBeGreaterThan(0);
  });
});
