import {MediaError} from '../errors.ts';
import type {MediaRecord} from '../service/record.ts';
import type {Outcome} from './outcome.ts';

/** A sentence about a size in the record that differs from the file's; undefined if they agree or the record has no size. */
export function sizeWarning(outcome: Outcome): string | undefined {
  if (outcome.status !== 'uploaded') return undefined;
  const {size} = outcome.received.record;
  if (typeof size !== 'number' || outcome.size === undefined || size === outcome.size) return undefined;
  return `The service stored ${size} bytes of the ${outcome.size} that were sent; a proxy may have changed them.`;
}

/** Where the record of a stored file differs from the file; undefined if it does not, as far as both are known. */
export function mismatchOf(outcome: Outcome): MediaError | undefined {
  if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return undefined;
  const found = differences(outcome, outcome.received.record);
  if (found.length === 0) return undefined;
  return new MediaError(
    'record_mismatch',
    `${outcome.name} is stored, but its record differs from the file: ${found.join(', ')}.`,
  );
}

function differences({size, contentType, dimensions}: Outcome, record: MediaRecord): string[] {
  const found: string[] = [];
  const compare = (what: string, stored: unknown, here: number | string | undefined) => {
    if (typeof stored === typeof here && stored !== here) found.push(`${what} ${stored} instead of ${here}`);
  };
  compare('size', record.size, size);
  // Other types may be of any file.
  if (record.type === 'IMAGE' || record.type === 'VIDEO')
    compare('type', record.type, contentType?.split('/')[0]?.toUpperCase());
  if (dimensions === undefined || isTurned(record, dimensions)) return found;
  compare('width', record.width, dimensions.width);
  compare('height', record.height, dimensions.height);
  return found;
}

/** Whether a picture that its reader is to turn has the size that it then has. */
function isTurned({width, height}: MediaRecord, here: NonNullable<Outcome['dimensions']>): boolean {
  return here.mayBeTurned && width === here.height && height === here.width;
}
