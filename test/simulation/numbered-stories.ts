import {expect, it} from 'vitest';
import {slowTest} from '../support/patience.ts';
import {tellStory} from './story.ts';

const inOne = 100;

/** Declares tests of the stories with these seeds, both included, a hundred in one test. */
export function testStories(first: number, last: number): void {
  const parts = Array.from({length: (last - first + 1) / inOne}, (_, part) => first + part * inOne);
  it.each(parts.map(from => [from, from + inOne - 1]))(
    'stories %i to %i: nothing stored twice or lost, nothing said that is not so',
    async (from, to) => {
      for (let seed = from; seed <= to; seed += 1) {
        const {broken, story} = await tellStory(seed);
        expect(broken, [`seed ${seed}`, ...story].join('\n')).toEqual([]);
      }
    },
    slowTest.timeout,
  );
}
