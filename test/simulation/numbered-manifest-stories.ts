import {expect, it} from 'vitest';
import {slowTest} from '../support/patience.ts';
import {tellManifestStory} from './manifest-story.ts';

/** Tests the stories with these seeds; `why`: all reasons for which they have a file stored again. */
export function testManifestStories(first: number, last: number, why: readonly string[]): void {
  it(
    `a manifest through stories ${first} to ${last}: lost nothing, nothing stored twice that it knew, and nothing to do after a clean run`,
    async () => {
      const again = new Set<string>();
      for (let seed = first; seed <= last; seed += 1) {
        const told = await tellManifestStory(seed);
        expect(told.broken, [`seed ${seed}`, ...told.story].join('\n')).toEqual([]);
        for (const reason of Object.keys(told.again)) again.add(reason);
      }
      expect([...again].sort()).toEqual(why);
    },
    slowTest.timeout,
  );
}
