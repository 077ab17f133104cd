import {expect, test} from 'vitest';
import {SeenPaths} from '../../../src/sources/find/seen-paths.ts';

test('20,000 paths, some of them as both: each is found with its last value, and no other is', () => {
  const paths = new SeenPaths();
  for (let index = 0; index < 20_000; index += 1) paths.set(`/photos/${index}.png`, index % 3 === 0);
  for (let index = 0; index < 20_000; index += 7) paths.set(`/photos/${index}.png`, true);
  const wrong: number[] = [];
  for (let index = 0; index < 20_000; index += 1)
    if (paths.get(`/photos/${index}.png`) !== (index % 3 === 0 || index % 7 === 0)) wrong.push(index);
  expect(wrong).toEqual([]);
  expect(paths.get('/photos/20000.png')).toBeUndefined();
  expect(paths.get('/photos/\u00ff.png')).toBeUndefined();
});
