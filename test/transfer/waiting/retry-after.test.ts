import {describe, expect, it} from 'vitest';
import {judge} from '../../../src/transfer/attempt/judge.ts';
import {Gate} from '../../../src/transfer/waiting/gate.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';

const stop = new AbortController().signal;
const tooMany = judge('held', {kind: 'refused', status: 429});
const stored = {availability: 'stored'} as const;
type Report = typeof tooMany | typeof stored;
const minute = 60_000;

/** Has 8 workers upload one file after the other to a service, for a minute; returns what the service answered. */
async function minuteOf(answer: (asked: number) => Report, retries = 5) {
  const clock = new ManualClock();
  const gate = new Gate({clock, retryMaxWaitMs: minute, random: () => 0.5, retries});
  const answers: Report[] = [];
  const upload = async () => {
    answers.push(answer(answers.length));
    await clock.sleep(1);
    return answers.at(-1) ?? tooMany;
  };
  const work = async () => {
    while (clock.monotonic() < minute && answers.length < 1_000) {
      await gate.pass(stop);
      const sentAt = clock.monotonic();
      gate.learn(await upload(), sentAt);
    }
  };
  const workers = Array.from({length: 8}, work);
  for (let second = 0; second < 2 * minute; second += 500) await clock.advance(500);
  await settled();
  await Promise.all(workers);
  return answers;
}

describe('refusals without Retry-After', () => {
  it('of all files: fewer and fewer are sent, instead of all in a second', async () => {
    const answers = await minuteOf(() => tooMany);
    expect(answers.length).toBeGreaterThan(8);
    expect(answers.length).toBeLessThan(600);
  });

  it('of all files, without retries: none waits', async () => {
    const answers = await minuteOf(() => tooMany, 0);
    expect(answers).toHaveLength(1_000);
  });

  it('of half of the files: none waits', async () => {
    const answers = await minuteOf(asked => (asked % 2 === 0 ? tooMany : stored));
    expect(answers).toHaveLength(1_000);
  });
});
