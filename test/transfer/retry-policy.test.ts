import {describe, expect, test} from 'vitest';
import type {TransferOptions} from '../../src/transfer/options.ts';
import {RetryPolicy} from '../../src/transfer/retry-policy.ts';

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
