import {expect, it} from 'vitest';
import {tellStory} from '../story.ts';

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
