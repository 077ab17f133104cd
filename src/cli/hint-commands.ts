import type {MediaError} from '../errors.ts';

/** The error with the `options` of this run (its profile, its service) added to the upload command in its hint. */
export function withRunOptions(error: MediaError, options: string): MediaError {
  if (error.hint === undefined) return error;
  const hint = error.hint.replace(/(: media upload)(?= \S)/, `$1${options.replaceAll('$', '$$$$')}`);
  return hint === error.hint ? error : error.reworded({hint});
}
