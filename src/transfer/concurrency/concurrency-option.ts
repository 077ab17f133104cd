import type {Clock} from '../../host.ts';
import {AdaptiveConcurrency} from './adaptive-concurrency.ts';
import {type Concurrency, fixedConcurrency} from './concurrency.ts';
import {modest} from './setbacks.ts';

/** A fixed number of files at a time, or as many as raise the throughput, up to `most`. */
export type ConcurrencyOption = number | {readonly most: number};

/** The concurrency of a run. Without retries, a file that is refused for being one too many is lost: no higher limit is tried. */
export function concurrencyOf(
  option: ConcurrencyOption,
  clock: Pick<Clock, 'monotonic' | 'idle' | 'after'>,
  retries: number,
): Concurrency {
  if (typeof option === 'number') return fixedConcurrency(option);
  return new AdaptiveConcurrency(clock, retries === 0 ? Math.min(modest, option.most) : option.most);
}
