import type {MediaError} from '../errors.ts';

/** The error with the `options` of this run (its profile, its service) in the upload that its hint tells to run. */
export function inTermsOfRun(error: MediaError, options: string): MediaError {
  if (error.hint === undefined) return error;
  const hint = error.hint.replace(/(: media upload)(?= \S)/, `$1${options.replaceAll('$', '$$$$')}`);
  return hint === error.hint ? error : error.reworded({hint});
}
