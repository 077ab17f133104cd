import type {Clock} from '../../host.ts';
import type {Uploader} from '../../service/uploader.ts';
import {isOfService, parseRetryAfter} from '../attempt/retry.ts';
import type {Gate} from './gate.ts';
import {Refusals} from './refusals.ts';

export interface RetryAfterOptions {
  clock: Clock;
  gate: Gate;
  /** The longest Retry-After to wait for, in milliseconds. */
  maxWaitMs: number;
}

/**
 * An uploader that closes the gate for all workers for as long as the service asks, and marks refusals that ask for
 * longer. If refusals that do not say how long follow one another, each file waits at the gate, unless nothing is to be retried.
 */
export function heedingRetryAfter(
  uploader: Uploader,
  {clock, gate, maxWaitMs, random, retries}: RetryAfterOptions & {random: () => number; retries: number},
): Uploader {
  const refusals = new Refusals();
  if (retries > 0) gate.waitMs = () => refusals.waitMs(random);
  return {
    async upload(request) {
      const sentAt = clock.monotonic();
      const answer = await uploader.upload(request);
      if (answer.kind === 'stored') refusals.stored();
      if (answer.kind !== 'refused' || (answer.status !== 429 && answer.status !== 503)) return answer;
      const {retryAfter} = answer;
      const waitMs = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, clock.now());
      if (waitMs === undefined) {
        if (answer.status === 429 || isOfService(answer)) refusals.refused(sentAt, clock.monotonic());
        return answer;
      }
      if (waitMs > maxWaitMs) return {...answer, longWaitMs: waitMs};
      gate.closeFor(waitMs);
      return answer;
    },
  };
}
