import type {Clock} from '../../host.ts';
import type {Uploader} from '../../service/uploader.ts';
import {parseRetryAfter} from '../attempt/retry.ts';
import type {Gate} from './gate.ts';

export interface RetryAfterOptions {
  clock: Clock;
  gate: Gate;
  /** The longest Retry-After to wait for, in milliseconds. */
  maxWaitMs: number;
}

/**
 * An uploader that closes the gate for all workers for as long as the service asks, and marks refusals that ask for
 * longer.
 */
export function heedingRetryAfter(uploader: Uploader, {clock, gate, maxWaitMs}: RetryAfterOptions): Uploader {
  return {
    async upload(request) {
      const answer = await uploader.upload(request);
      if (answer.kind !== 'refused' || answer.retryAfter === undefined) return answer;
      const waitMs = parseRetryAfter(answer.retryAfter, clock.now());
      if (waitMs === undefined || (answer.status !== 429 && answer.status !== 503)) return answer;
      if (waitMs > maxWaitMs) return {...answer, longWaitMs: waitMs};
      gate.closeFor(waitMs);
      return answer;
    },
  };
}
