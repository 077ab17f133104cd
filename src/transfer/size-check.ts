import type {Outcome} from './outcome.ts';

/** A sentence about a size in the record that differs from the file's; undefined if they agree or the record has no size. */
export function sizeWarning(outcome: Outcome): string | undefined {
  if (outcome.status !== 'uploaded') return undefined;
  const {size} = outcome.received.record;
  if (typeof size !== 'number' || outcome.size === undefined || size === outcome.size) return undefined;
  return `The service stored ${size} bytes of the ${outcome.size} that were sent; a proxy may have changed them.`;
}
