import {describe, expect, it} from 'vitest';
import {testStories} from './numbered-stories.ts';
import {tellStory} from './story.ts';

describe('whole runs on simulated disks, networks and clocks', () => {
  it('a seed tells the same story each time, whatever the real clock says', async () => {
    const {bigint} = process.hrtime;
    let jumps = 0n;
    for (let seed = 1; seed <= 8; seed += 1) {
      const first = await tellStory(seed);
      process.hrtime.bigint = () => {
        jumps += 10n ** 9n;
        return bigint() + jumps;
      };
      const second = await tellStory(seed).finally(() => {
        process.hrtime.bigint = bigint;
      });
      expect(second.story).toEqual(first.story);
      expect(first.story.length).toBeGreaterThan(10);
    }
  });

  it('a writer wakes after another has taken its journal over: its failure does not settle what the other has sent', async () => {
    expect((await tellStory(352564180)).broken).toEqual([]);
  });

  testStories(1, 300);
});
