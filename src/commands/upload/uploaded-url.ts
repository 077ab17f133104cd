import {MediaError} from '../../errors.ts';
import {publicUrl} from '../../service/record.ts';
import type {LeftOut, Outcome} from '../../transfer/outcome.ts';

/** The URL of an uploaded file; throws why it was not uploaded, or `unexpected_answer` if its record has no URL. */
export function uploadedUrl(name: string, outcome: Outcome | LeftOut | undefined): string {
  if (outcome !== undefined && 'error' in outcome) throw outcome.error;
  const url = outcome !== undefined && 'received' in outcome ? publicUrl(outcome.received.record) : undefined;
  if (url !== undefined) return url;
  throw new MediaError('unexpected_answer', `${name} was uploaded, but its record has no URL.`);
}
