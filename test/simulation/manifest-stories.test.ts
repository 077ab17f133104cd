import {expect, it} from 'vitest';
import {slowTest} from '../support/patience.ts';
import {tellManifestStory} from './manifest-story.ts';

it(
  'a manifest through 300 stories: lost nothing, nothing stored twice that it knew, and nothing to do after a clean run',
  async () => {
    const again = new Map<string, number>();
    for (let seed = 1; seed <= 300; seed += 1) {
      const told = await tellManifestStory(seed);
      expect(told.broken, [`seed ${seed}`, ...told.story].join('\n')).toEqual([]);
      for (const [why, count] of Object.entries(told.again)) again.set(why, (again.get(why) ?? 0) + count);
    }
    expect([...again.keys()].sort()).toEqual(['in another commit', 'lost with its machine', 'replaced']);
  },
  slowTest.timeout,
);
