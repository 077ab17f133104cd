import {MediaError} from '../errors.ts';
import {uploadUrl} from '../service/client.ts';
import type {UploadPathVerdict} from '../service/probe.ts';
import {correctBaseUrl} from '../settings/hint-options.ts';
import type {Settings} from '../settings/settings.ts';

/** The result of checking the upload path, in words. */
export type UploadPathAdvice =
  | {status: 'ok' | 'warning' | 'unverified'; message: string}
  | {status: 'failed'; error: MediaError};

/** Describes the verdict on the upload path of a base URL, with a hint if it is wrong. */
export function adviseOnUploadPath(
  verdict: UploadPathVerdict,
  baseUrl: URL,
  settings: Pick<Settings, 'baseUrlSource' | 'profileOption'>,
): UploadPathAdvice {
  const {href} = uploadUrl(baseUrl);
  const hint = `Uploads go to /v1/media/upload below the base URL. ${correctBaseUrl(settings)}`;
  switch (verdict.status) {
    case 'accepts':
      return {
        status: 'ok',
        message: `${href} accepts uploads (returned ${verdict.httpStatus} for a test request)`,
      };
    case 'unverified':
      return {status: 'unverified', message: `not verified: ${verdict.reason}`};
    case 'doubtful':
      return {status: 'warning', message: doubt(verdict, href)};
    case 'wrong':
      return {
        status: 'failed',
        error: new MediaError('not_found', `Nothing accepts uploads at ${href} (404).`, {status: 404, hint}),
      };
    case 'redirected':
      return {
        status: 'failed',
        error: new MediaError(
          'redirected',
          `${href} redirects${verdict.location === undefined ? '' : ` to ${verdict.location}`} (${verdict.httpStatus}), which uploads do not follow.`,
          {status: verdict.httpStatus, hint},
        ),
      };
  }
}

function doubt(
  {httpStatus, message}: Extract<UploadPathVerdict, {status: 'doubtful'}>,
  href: string,
): string {
  const answer = `${href} returned ${httpStatus}${message === undefined ? '' : `, "${message}",`}`;
  if (httpStatus === 403 || httpStatus === 404)
    return `${answer} for a test request: the key may lack the permission to upload, or the base URL may be wrong`;
  const cause =
    httpStatus === 405 || httpStatus < 300
      ? 'the base URL may be wrong'
      : 'a proxy or another program may have responded instead of the service';
  return `${answer} for a test request: ${cause}`;
}
