import {MediaError} from '../errors.ts';
import type {Outcome} from './outcome.ts';

/**
 * Compares the record of a stored file with the file: the fields that both know, and the error if they differ; undefined if it is not
 * stored.
 */
export function comparisonOf(
  outcome: Outcome,
): {verified: string[]; error: MediaError | undefined} | undefined {
  if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return undefined;
  const {name, size, contentType, dimensions: {width, height} = {}, received} = outcome;
  const {record} = received;
  const verified: string[] = [];
  const found: string[] = [];
  const compare = (what: string, stored: unknown, here: number | string | null | undefined) => {
    if (here == null || typeof stored !== typeof here) return;
    verified.push(what);
    if (stored !== here) found.push(`${what} ${stored} instead of ${here}`);
  };
  compare('size', record.size, size);
  // Other types may be of any file.
  if (record.type === 'IMAGE' || record.type === 'VIDEO')
    compare('type', record.type, contentType?.split('/')[0]?.toUpperCase());
  // Services may heed a rotation or not, and metadata may state one anywhere in a file.
  const isTurned = record.width === height && record.height === width;
  compare('width', record.width, isTurned ? height : width);
  compare('height', record.height, isTurned ? width : height);
  const sentence = `${name} is stored, but its record differs from the file: ${found.join(', ')}.`;
  return {verified, error: found.length === 0 ? undefined : new MediaError('record_mismatch', sentence)};
}
