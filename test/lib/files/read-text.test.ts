import {expect, test} from 'vitest';
import {textOf} from '../../../src/lib/files/read-text.ts';

test('a stream that is too long, perhaps without an end: read no further', async () => {
  let read = 0;
  async function* chunks() {
    for (; read < 1_000; read += 1) yield 'x'.repeat(10);
  }
  await expect(textOf(chunks(), 100)).rejects.toThrow('it is longer than');
  expect(read).toBe(10);
});
