import {isRetryableRefusal, refusalIn} from '../../engine/service/uploader.ts';
import {type ErrorCode, MediaError, type PlainError, unlessBug} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import {correctBaseUrl} from '../settings/hint-options.ts';
import type {Session} from './session.ts';

/** The result of checking the upload path, in words. */
export type UploadPathResult =
  | {status: 'ok' | 'warning' | 'unverified'; message: string}
  | {status: 'failed'; error: PlainError};

/** A service that waits for the body that is announced and never sent is not waited for longer. */
const waitMs = 3_000;

/** Sends the upload path text of one byte, without that byte, which it must refuse (interface, 4.1, rules 1 and 2). */
export async function checkUploadPath(
  {client, settings}: Pick<Session, 'client' | 'settings'>,
  signal: StopSignal,
): Promise<UploadPathResult> {
  const response = await client.askUploadPath('POST', waitMs, signal).catch(unlessBug);
  if (response instanceof MediaError) return unverifiedResult(response.message);
  if (response === undefined)
    return unverifiedResult(`no response within ${waitMs / 1000} s to a request without its body`);
  const {status, message, words, location} = refusalIn(response);
  const {href} = client.uploadUrl;
  const failed = (code: ErrorCode, text: string): UploadPathResult => {
    const hint = `Uploads go to /v1/media/upload below the base URL. ${correctBaseUrl(settings)}`;
    return {status: 'failed', error: new MediaError(code, text, {status, hint})};
  };
  // The service would respond with an error record.
  if (status === 404 && message === undefined)
    return failed('not_found', `Nothing accepts uploads at ${href} (404).`);
  if (status >= 300 && status < 400) {
    const to = location === undefined ? '' : ` to ${location}`;
    return failed('redirected', `${href} redirects${to} (${status}), which uploads do not follow.`);
  }
  if (status === 401) return unverifiedResult('the key is not accepted (401)');
  if (isRetryableRefusal(status) || status >= 500) return unverifiedResult(`the response was ${status}`);
  // A success is as wrong as a 404, since nothing was sent that could be stored.
  const isElsewhere = status < 300 || status === 403 || status === 404 || status === 405;
  // Servers in front of the service refuse requests too, but not the type of an upload.
  if (!isElsewhere && (message !== undefined || status === 415))
    return {status: 'ok', message: `${href} accepts uploads (returned ${status} for a test request)`};
  const serviceMessage = message ?? (words || undefined);
  const sentence = `${href} returned ${status}${serviceMessage === undefined ? '' : `, "${serviceMessage}",`} for a test request`;
  return {status: 'warning', message: `${sentence}: ${doubt(status, isElsewhere)}`};
}

function unverifiedResult(reason: string): UploadPathResult {
  return {status: 'unverified', message: `not verified: ${reason}`};
}

/** What a response that is not clearly the service's refusal may mean, as a clause. */
function doubt(status: number, isElsewhere: boolean): string {
  if (status === 403 || status === 404)
    return 'the key may lack the permission to upload, or the base URL may be wrong';
  return isElsewhere
    ? 'the base URL may be wrong'
    : 'a proxy or another program may have responded instead of the service';
}
