import {expect, test} from 'vitest';
import {CompactMap} from '../../src/lib/compact-map.ts';

test('20,000 texts, some of them set again: each is found with its last value, and no other is', () => {
  const map = new CompactMap();
  const textOf = (index: number) => `/photos/${index}.png`;
  for (let index = 0; index < 20_000; index += 1) map.set(textOf(index), index);
  for (let index = 0; index < 20_000; index += 7) map.set(textOf(index), 0);
  const wrong: number[] = [];
  for (let index = 0; index < 20_000; index += 1)
    if (map.get(textOf(index)) !== (index % 7 === 0 ? 0 : index)) wrong.push(index);
  expect(wrong).toEqual([]);
  expect(map.size).toBe(20_000);
  expect(map.get('/photos/20000.png')).toBeUndefined();
  expect(map.get('/photos/\u00ff.png')).toBeUndefined();
});
