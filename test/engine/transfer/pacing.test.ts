import {describe, expect, it} from 'vitest';
import type {Refused} from '../../../src/engine/service/uploader.ts';
import {judge} from '../../../src/engine/transfer/attempt/judge.ts';
import type {ConcurrencyOption} from '../../../src/engine/transfer/concurrency.ts';
import {Pacing} from '../../../src/engine/transfer/pacing.ts';
import {MediaError} from '../../../src/errors.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';
import {noObserver} from '../service/support.ts';

const minute = 60_000;
const stored = {availability: 'stored'} as const;
const refused = (status: number, rest: Partial<Refused> = {}) =>
  judge('sending', {kind: 'refused', status, ...rest});
const tooMany = refused(429);
const asked = (seconds: number) => refused(429, {retryAfter: String(seconds)});

/** The pacing of a batch, and a way to take turns that notes when each began. */
function batch({retries = 5, several = false, concurrency = 8 as ConcurrencyOption} = {}) {
  const clock = new ManualClock();
  const abort = new Stop<MediaError>();
  const pacing = new Pacing(
    {
      ...{clock, retries, several, concurrency, retryMaxWaitMs: minute, random: () => 0.5},
      ...{host: 'media.example', uploader: {probeAvailability: async () => 'It returned 502.'}},
      observer: noObserver,
    },
    abort,
  );
  /** When each file got its turn, or the error that it got instead. */
  const turns: Record<number, unknown> = {};
  const take = async (...files: number[]) => {
    for (const file of files)
      void pacing.turn(file, 1).then(error => {
        turns[file] = error ?? clock.monotonic();
      });
    await settled();
    return turns;
  };
  return {clock, abort, pacing, turns, take};
}

describe('Retry-After', () => {
  it('holds all until its time is over, whenever they came', async () => {
    const {clock, pacing, turns, take} = batch();
    expect(await take(0)).toEqual({0: 0});
    pacing.report(0, asked(1));
    await take(1);
    await clock.advance(400);
    await take(2, 3);
    await clock.advance(599);
    expect(turns).toEqual({0: 0});
    await clock.advance(1);
    expect(turns).toEqual({0: 0, 1: 1_000, 2: 1_000, 3: 1_000});
    await clock.advance(20);
    expect(await take(4)).toMatchObject({4: 1_020});
  });

  it('of more while some wait: they wait for longer; a shorter time takes nothing away', async () => {
    const {clock, pacing, turns, take} = batch();
    await take(0, 1, 2);
    pacing.report(0, asked(1));
    await take(3);
    await clock.advance(500);
    pacing.report(1, asked(2));
    pacing.report(2, asked(0));
    await take(4);
    await clock.advance(10_000);
    expect(turns).toMatchObject({3: 2_500, 4: 2_500});
  });

  it.each(['the run', 'the batch'])('nobody waits once %s has ended', async what => {
    const {clock, abort, pacing, turns, take} = batch();
    await take(0);
    pacing.report(0, asked(60));
    await take(1, 2);
    await clock.advance(10);
    if (what === 'the run') pacing.end();
    else abort.abort(new MediaError('unauthorized', 'The key is not known.'));
    await settled();
    expect(turns).toEqual({0: 0, 1: 10, 2: 10});
    expect(await take(3)).toMatchObject({3: 10});
  });
});

describe('refusals without Retry-After', () => {
  it('of several files that were sent together: none waits; in a row: each waits', async () => {
    const {clock, pacing, turns, take} = batch();
    await take(0, 1, 2, 3, 4, 5, 6, 7);
    await clock.advance(10);
    for (let file = 0; file < 8; file += 1) pacing.report(file, tooMany, {sentAt: 0});
    expect(await take(8)).toMatchObject({8: 10});
    pacing.report(8, tooMany, {sentAt: 10});
    expect(Object.keys(await take(9))).toHaveLength(9);
    await clock.advance(1_000);
    expect(turns).toHaveProperty('9');
  });

  /** Has 8 workers upload one file after the other to a service, for a minute; returns how often it was asked. */
  async function minuteOf(answer: (asked: number) => typeof tooMany | typeof stored, retries = 5) {
    const {clock, pacing} = batch({retries});
    let requests = 0;
    const work = async (worker: number) => {
      while (clock.monotonic() < minute && requests < 1_000) {
        await pacing.turn(worker, 1);
        const sentAt = clock.monotonic();
        const result = answer(requests);
        requests += 1;
        await clock.sleep(1);
        pacing.report(worker, result, {sentAt});
      }
    };
    const workers = Array.from({length: 8}, (_, worker) => work(worker));
    for (let second = 0; second < 2 * minute; second += 500) await clock.advance(500);
    await settled();
    await Promise.all(workers);
    return requests;
  }

  it('of all files: fewer and fewer are sent, instead of all in a second', async () => {
    const requests = await minuteOf(() => tooMany);
    expect(requests).toBeGreaterThan(8);
    expect(requests).toBeLessThan(600);
  });

  it('of all files, without retries: none waits', async () => {
    expect(await minuteOf(() => tooMany, 0)).toBe(1_000);
  });

  it('of half of the files: none waits', async () => {
    expect(await minuteOf(requests => (requests % 2 === 0 ? tooMany : stored))).toBe(1_000);
  });
});

describe('as many files at a time as the service takes', () => {
  it('a file that is one too many lowers the limit to the others, and ends its turn', async () => {
    const {pacing, take} = batch({concurrency: {most: 16}});
    const first = Array.from({length: 16}, (_, file) => file);
    await take(...first);
    expect(pacing.limit).toBe(16);
    pacing.report(0, tooMany);
    expect(pacing.limit).toBe(15);
    // Its turn has ended already.
    pacing.finish(0);
    expect(Object.keys(await take(16))).toHaveLength(16);
    pacing.report(1, stored);
    expect(Object.keys(await take())).toHaveLength(17);
  });

  it('a broken connection halves it', async () => {
    const {pacing, take} = batch({concurrency: {most: 16}});
    await take(0, 1, 2, 3);
    pacing.report(0, judge('sending', {kind: 'connection', cause: new Error('reset')}));
    expect(pacing.limit).toBe(8);
  });

  it('a file whose attempt came to nothing ends its turn, too', async () => {
    const {pacing, turns, take} = batch({concurrency: {most: 1}});
    await take(0, 1);
    expect(turns).toEqual({0: 0});
    pacing.finish(0);
    expect(await take()).toEqual({0: 0, 1: 0});
  });
});

it('an outage: three files that say so hold the others; the first two spend their own retries', async () => {
  const {clock, pacing, take, turns} = batch({several: true});
  await take(0, 1, 2, 3);
  const away = refused(502);
  expect([0, 1, 2].map(file => pacing.report(file, away))).toEqual([false, false, true]);
  await take(4, 5);
  await clock.advance(30_000);
  expect(Object.keys(turns)).toHaveLength(4);
  pacing.report(3, stored);
  await clock.advance(60_000);
  expect(turns[4]).toMatchObject({code: 'outage'});
});
