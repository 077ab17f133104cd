import fc from 'fast-check';
import {describe, expect} from 'vitest';
import {parseDuration, parseRate, wholeNumber} from '../../../../src/cli/session/values.ts';
import {isRetryableRefusal} from '../../../../src/engine/service/uploader.ts';
import {explain} from '../../../../src/engine/transfer/attempt/explain.ts';
import {
  backoffMs,
  type Failure,
  judge,
  type Phase,
  parseRetryAfter,
} from '../../../../src/engine/transfer/attempt/judge.ts';
import {RetryPolicy} from '../../../../src/engine/transfer/retry-policy.ts';
import type {TransferOptions} from '../../../../src/engine/transfer/transfer-options.ts';
import {type ErrorCode, exitStatusOf, MediaError} from '../../../../src/errors.ts';
import {anyText, holdsFor} from '../../../support/property.ts';

const phases: fc.Arbitrary<Phase> = fc.constantFrom('opening', 'connecting', 'sending', 'released');
const errors = fc
  .constantFrom(...(Object.keys(exitStatusOf) as ErrorCode[]))
  .map(code => new MediaError(code, 'It failed.'));
const statuses = fc.integer({min: 100, max: 999});
const failures: fc.Arbitrary<Failure> = fc.oneof(
  errors.map((error): Failure => ({kind: 'error', error})),
  fc.constant<Failure>({kind: 'connection', cause: new Error('reset')}),
  fc.constant<Failure>({kind: 'stall', afterMs: 1}),
  fc.constant<Failure>({kind: 'response-timeout', afterMs: 1}),
  statuses.map((status): Failure => ({kind: 'unreadable', status, problem: 'empty'})),
  statuses.map((status): Failure => ({kind: 'premature', status})),
  fc
    .tuple(statuses, anyText, anyText)
    .map(([status, message, location]): Failure => ({kind: 'refused', status, message, location})),
  errors.map((error): Failure => ({kind: 'stopped', error})),
);

describe('what to do about a failure', () => {
  holdsFor(
    'before release: never unknown, for nothing can have been stored',
    [phases, failures],
    (phase, failure) => {
      if (phase !== 'released') expect(judge(phase, failure).action).not.toBe('unknown');
    },
  );

  holdsFor('after release: sent again only after a refusal', [failures], failure => {
    const isRefusal = failure.kind === 'refused' && isRetryableRefusal(failure.status);
    // A failure with a sentence of its own is one of connecting, before which there is no release.
    if (failure.kind !== 'error' && !isRefusal) expect(judge('released', failure).action).not.toBe('retry');
  });

  holdsFor(
    'a refusal that says so: never tried again in any phase',
    [phases, fc.integer({min: 300, max: 499})],
    (phase, status) => {
      if (status !== 408 && !isRetryableRefusal(status))
        expect(judge(phase, {kind: 'refused', status}).action).toBe('fail');
    },
  );

  holdsFor(
    'any failure: a sentence, a known code, and status 5 for the unknown alone',
    [phases, failures],
    (phase, failure) => {
      const verdict = judge(phase, failure);
      const error = explain(failure, verdict, 'api.example.com');
      expect(error.message).toMatch(/[.!?)]$/);
      if (verdict.action === 'unknown') expect(exitStatusOf[error.code]).toBe(5);
      else if (failure.kind !== 'error' && failure.kind !== 'stopped')
        expect(exitStatusOf[error.code]).not.toBe(5);
    },
  );
});

describe('how long to wait', () => {
  const chance = fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true});
  holdsFor(
    'a backoff: never above its cap, 20 s at most',
    [fc.integer({min: 0, max: 2_000}), chance],
    (attempt, random) => {
      const wait = backoffMs(attempt, () => random);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(Math.min(20_000, 500 * 2 ** Math.min(attempt, 20)));
    },
  );

  const moments = fc.date({min: new Date(0), max: new Date('9000-01-01'), noInvalidDate: true});
  holdsFor(
    'Retry-After: seconds, or a date, or nothing',
    [anyText, fc.nat({max: 999_999_999}), moments, moments],
    (text, seconds, at, now) => {
      const parsed = parseRetryAfter(text, now.getTime());
      if (parsed !== undefined) expect(parsed).toBeGreaterThanOrEqual(0);
      expect(parseRetryAfter(` ${seconds} `, now.getTime())).toBe(seconds * 1000);
      const whole = Math.floor(at.getTime() / 1000) * 1000;
      expect(parseRetryAfter(at.toUTCString(), now.getTime())).toBe(Math.max(0, whole - now.getTime()));
    },
  );

  const steps = fc.array(fc.oneof(fc.constant<number | 'take'>('take'), fc.nat({max: 5})), {maxLength: 300});
  holdsFor('the budget: never more retries than 100 and what stored files gave back', [steps], taken => {
    const budget = new RetryPolicy({} as TransferOptions);
    let given = 0;
    let allowed = 100;
    for (const step of taken) {
      if (step === 'take') given += budget.take() ? 1 : 0;
      else {
        budget.refund(step);
        allowed += Math.max(step, 0.2);
      }
      expect(given).toBeLessThanOrEqual(allowed + 1e-6);
    }
  });
});

/** What a parser of an option makes of a text; undefined where it refuses it in words. */
function parsed(parse: (text: string) => number, text: string): number | undefined {
  try {
    return parse(text);
  } catch (error) {
    expect((error as Error).message).toMatch(/^Use /);
    return undefined;
  }
}

describe('values of options', () => {
  const amounts = fc.integer({min: 1, max: 1_000_000});
  holdsFor(
    'durations: their unit counts, and nothing is ever 0, negative or endless',
    [anyText, amounts],
    (text, amount) => {
      const any = parsed(parseDuration, text);
      if (any !== undefined) expect(any > 0 && Number.isFinite(any)).toBe(true);
      expect(parseDuration(`${amount}s`)).toBe(1_000 * parseDuration(`${amount}ms`));
      expect(parseDuration(`${amount}h`)).toBe(60 * parseDuration(`${amount}m`));
    },
  );

  holdsFor('rates: K, M and G are powers of 1024, in capitals or not', [anyText, amounts], (text, amount) => {
    const any = parsed(parseRate, text);
    if (any !== undefined) expect(any).toBeGreaterThanOrEqual(1);
    expect(parseRate(`${amount}k`)).toBe(1024 * parseRate(String(amount)));
    expect(parseRate(`${amount}GB`)).toBe(1024 * parseRate(`${amount}M`));
  });

  holdsFor(
    'whole numbers: within their bounds',
    [anyText, fc.integer(), fc.nat(), fc.nat()],
    (text, number, least, span) => {
      for (const given of [text, String(number)]) {
        const any = parsed(wholeNumber(least, least + span), given);
        if (any !== undefined)
          expect(any >= least && any <= least + span && Number.isInteger(any)).toBe(true);
      }
    },
  );
});
