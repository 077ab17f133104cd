import {type ErrorCode, MediaError} from '../errors.ts';
import type {UploadPathVerdict} from '../service/probe.ts';
import {correctBaseUrl} from '../settings/hint-options.ts';
import type {Session} from './session.ts';

/** The result of checking the upload path, in words. */
export type UploadPathAdvice =
  | {status: 'ok' | 'warning' | 'unverified'; message: string}
  | {status: 'failed'; error: MediaError};

/** Describes the verdict on the upload path of a service, with a hint if it is wrong. */
export function adviseOnUploadPath(
  verdict: UploadPathVerdict,
  {client, settings}: Pick<Session, 'client' | 'settings'>,
): UploadPathAdvice {
  const {href} = client.uploadUrl;
  if (verdict.status === 'unverified')
    return {status: 'unverified', message: `not verified: ${verdict.reason}`};
  const {httpStatus} = verdict;
  if (verdict.status === 'accepts')
    return {status: 'ok', message: `${href} accepts uploads (returned ${httpStatus} for a test request)`};
  if (verdict.status === 'doubtful') return {status: 'warning', message: doubt(verdict, href)};
  const hint = `Uploads go to /v1/media/upload below the base URL. ${correctBaseUrl(settings)}`;
  const failed = (code: ErrorCode, message: string): UploadPathAdvice => ({
    status: 'failed',
    error: new MediaError(code, message, {status: httpStatus, hint}),
  });
  if (verdict.status === 'wrong') return failed('not_found', `Nothing accepts uploads at ${href} (404).`);
  const to = verdict.location === undefined ? '' : ` to ${verdict.location}`;
  return failed('redirected', `${href} redirects${to} (${httpStatus}), which uploads do not follow.`);
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
