import {describe, expect, test} from 'vitest';
import {judge} from '../../../src/engine/transfer/attempt/judge.ts';
import {Retries, RetryPolicy} from '../../../src/engine/transfer/retry-policy.ts';
import type {TransferOptions} from '../../../src/engine/transfer/transfer-options.ts';
import {MediaError} from '../../../src/errors.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {ManualClock} from '../../support/manual-clock.ts';
import {noObserver} from '../service/support.ts';

describe('the retries of a batch', () => {
  test('an outage: 100 retries and no more', () => {
    const budget = new RetryPolicy({} as TransferOptions);
    expect(Array.from({length: 102}, () => budget.take())).toEqual([...Array(100).fill(true), false, false]);
  });

  test('a stored file gives its retries back, five without any give one', () => {
    const budget = new RetryPolicy({} as TransferOptions);
    while (budget.take());
    budget.refund(2);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
    for (let file = 0; file < 5; file += 1) budget.refund(0);
    expect([budget.take(), budget.take()]).toEqual([true, false]);
  });

  test('it never holds more than it began with', () => {
    const budget = new RetryPolicy({} as TransferOptions);
    budget.refund(1_000);
    let taken = 0;
    while (budget.take()) taken += 1;
    expect(taken).toBe(100);
  });
});

describe('the retries of a file', () => {
  const error = new MediaError('service_failed', 'media.example failed (502).');
  const verdict = judge('sending', {kind: 'refused', status: 502});

  function retriesOf(retries: number) {
    const waits: (number | undefined)[] = [];
    const observer = {
      ...noObserver,
      retrying: (_position: number, _name: string, _error: MediaError, waitMs: number | undefined) =>
        waits.push(waitMs),
    };
    const clock = new ManualClock();
    const options = {retries, clock, observer, random: () => 0, stop: new Stop<MediaError>()};
    const policy = new RetryPolicy(options as unknown as TransferOptions);
    const facts = {file: 'a.png', position: 0, attempts: 0, elapsedMs: 0};
    const one = new Retries(facts, policy);
    const next = async (afterOutage: boolean) => {
      facts.attempts += 1;
      const result = one.next(error, verdict, afterOutage);
      await clock.advance(0);
      return result;
    };
    return {one, next, waits, policy};
  }

  test('those after an outage are not limited, and are made at once', async () => {
    const {one, next, waits, policy} = retriesOf(1);
    while (policy.take());
    for (let outage = 0; outage < 3; outage += 1) expect(await next(true)).toBe(true);
    policy.refund(1);
    expect([await next(false), await next(false)]).toEqual([true, false]);
    expect(waits).toEqual([undefined, undefined, undefined, 0]);
    expect(one.withAttempts(error).message).toBe('media.example failed (502). (Attempt 5 of 5.)');
  });

  test('without retries there are none after an outage either', async () => {
    expect(await retriesOf(0).next(true)).toBe(false);
  });
});
