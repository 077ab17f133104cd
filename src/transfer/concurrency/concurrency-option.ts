import type {Clock} from '../../host.ts';
import {AdaptiveConcurrency} from './adaptive-concurrency.ts';
import {type Concurrency, fixedConcurrency} from './concurrency.ts';

/** A fixed number of files at a time, or as many as raise the throughput, up to `most`. */
export type ConcurrencyOption = number | {readonly most: number};

/** The concurrency of a run. */
export function concurrencyOf(
  option: ConcurrencyOption,
  clock: Pick<Clock, 'monotonic' | 'after'>,
): Concurrency {
  return typeof option === 'number' ? fixedConcurrency(option) : new AdaptiveConcurrency(clock, option.most);
}
