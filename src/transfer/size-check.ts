import type {Outcome} from './outcome.ts';

/** What is wrong with the size in the record of an upload, as a sentence; undefined when it is the file's, or is not told. */
export function sizeWarning(outcome: Outcome): string | undefined {
  if (outcome.status !== 'uploaded') return undefined;
  const {size} = outcome.received.record;
  if (typeof size !== 'number' || outcome.size === undefined || size === outcome.size) return undefined;
  return `The service stored ${size} bytes of the ${outcome.size} that were sent; a proxy may have changed them.`;
}
