import {setMaxListeners} from 'node:events';
import {describe, expect, it} from 'vitest';
import {RateLimit} from '../../../../src/engine/transfer/attempt/rate-limit.ts';
import {MediaError} from '../../../../src/errors.ts';
import {ManualClock, settled} from '../../../support/manual-clock.ts';

const never = new AbortController().signal;
// A listener for each of many workers.
setMaxListeners(0, never);
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** How many bytes so many workers may send in a time, each asking for the next chunk when the last one is sent. */
class Senders {
  bytes = 0;
  readonly #clock: ManualClock;
  readonly #limit: RateLimit;

  constructor(limit: RateLimit, clock: ManualClock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  async send(workers: number, ms: number): Promise<number> {
    const before = this.bytes;
    const end = this.#clock.monotonic() + ms;
    const all = Array.from({length: workers}, () => this.#work(end));
    await this.#clock.advance(ms);
    const sent = this.bytes - before;
    // What they still wait for is not sent any more.
    await this.#clock.advance(3_600_000);
    await Promise.all(all);
    return sent;
  }

  async #work(end: number): Promise<void> {
    const {chunkBytes} = this.#limit;
    for (;;) {
      await this.#limit.take(chunkBytes, never);
      if (this.#clock.monotonic() > end) return;
      this.bytes += chunkBytes;
    }
  }
}

/** Timers that are late by up to 20 ms, as on a busy machine. */
function busy(): () => number {
  let turn = 0;
  return () => {
    turn += 1;
    return (turn * 7) % 21;
  };
}

const rates = [1_000, 64 * kibibyte, mebibyte, 10 * mebibyte];

describe('over 10 s', () => {
  const cases = rates.flatMap(rate => [1, 8, 32].map(workers => ({rate, workers})));

  it.each(cases)('$rate bytes a second by $workers workers: within 5 %', async ({rate, workers}) => {
    for (const late of [undefined, busy()]) {
      const clock = new ManualClock(late);
      const sent = await new Senders(new RateLimit(rate, clock), clock).send(workers, 10_000);
      expect(sent / (10 * rate)).toBeGreaterThan(0.95);
      expect(sent / (10 * rate)).toBeLessThan(1.05);
    }
  });

  it('after a pause of a minute: no more than that', async () => {
    const clock = new ManualClock();
    const senders = new Senders(new RateLimit(mebibyte, clock), clock);
    await senders.send(4, 1_000);
    await clock.advance(60_000);
    expect((await senders.send(4, 10_000)) / (10 * mebibyte)).toBeLessThan(1.05);
  });
});

describe('whoever takes', () => {
  /** When each of these takings was granted, or why it was not. */
  function takings(limit: RateLimit, clock: ManualClock, ...wanted: [bytes: number, signal?: AbortSignal][]) {
    return wanted.map(([bytes, signal]) => {
      const seen: {at?: number; rejected?: unknown} = {};
      limit.take(bytes, signal ?? never).then(
        () => {
          seen.at = clock.monotonic();
        },
        error => {
          seen.rejected = error;
        },
      );
      return seen;
    });
  }

  it('waits as long as its bytes take, in the order of asking; a tenth of a second is free', async () => {
    const clock = new ManualClock();
    await clock.advance(1_000);
    const seen = takings(new RateLimit(1_000, clock), clock, [100], [500], [1_000], [250]);
    await clock.advance(10_000);
    expect(seen).toEqual([{at: 1_000}, {at: 1_500}, {at: 2_500}, {at: 2_750}]);
  });

  it('is let go at once when it is told to stop, and the others keep their time', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const reason = new MediaError('interrupted', 'The run was stopped by SIGINT.');
    const seen = takings(new RateLimit(1_000, clock), clock, [100], [500, stop.signal], [400]);
    await clock.advance(200);
    stop.abort(reason);
    await settled();
    expect(seen).toEqual([{at: 0}, {rejected: reason}, {}]);
    await clock.advance(10_000);
    expect(seen).toEqual([{at: 0}, {rejected: reason}, {at: 900}]);
  });

  it('is told to stop before: it is not granted anything', async () => {
    const clock = new ManualClock();
    const [seen] = takings(new RateLimit(1_000, clock), clock, [500, AbortSignal.abort('stopped')]);
    await clock.advance(10_000);
    expect(seen).toEqual({rejected: 'stopped'});
  });
});

describe('a chunk', () => {
  it.each([
    [1_000, 256],
    [10_000, 500],
    [100 * kibibyte, 5 * kibibyte],
    [200 * mebibyte, 64 * kibibyte],
  ])('at %i bytes a second is of %i bytes: a twentieth of a second, within reason', (rate, bytes) => {
    expect(new RateLimit(rate, new ManualClock()).chunkBytes).toBe(bytes);
  });
});
