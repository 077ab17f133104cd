import {describe, expect, it} from 'vitest';
import {slowTest} from '../support/patience.ts';
import {tellStory} from './story.ts';

const stories = 2000;
const inOne = 200;

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

  it.each(Array.from({length: stories / inOne}, (_, part) => [1 + part * inOne, (part + 1) * inOne]))(
    'stories %i to %i: nothing stored twice or lost, nothing said that is not so',
    async (from, to) => {
      for (let seed = from; seed <= to; seed += 1) {
        const {broken, story} = await tellStory(seed);
        if (broken.length > 0) expect(broken, [`seed ${seed}`, ...story].join('\n')).toEqual([]);
      }
    },
    slowTest.timeout,
  );
});
