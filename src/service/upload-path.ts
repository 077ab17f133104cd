import {MediaError} from '../errors.ts';
import type {StopSignal} from '../host.ts';
import type {HttpAnswer} from '../http/http.ts';
import {defined} from '../lib/defined.ts';
import type {ServiceClient} from './client.ts';
import {parseErrorRecord} from './record.ts';

/** The result of checking the upload path. */
export type UploadPathVerdict =
  /** It refuses the request, as it must. */
  | {status: 'accepts'; httpStatus: number}
  /** A 404 without an error record of the service: nothing accepts uploads there. */
  | {status: 'wrong'; httpStatus: 404}
  /** Redirects are not followed, so uploads will fail. */
  | {status: 'redirected'; httpStatus: number; location?: string}
  /** The key may lack permission, or the base URL may be wrong; `message` is the service's. */
  | {status: 'doubtful'; httpStatus: number; message?: string}
  /** No conclusive response, and why. */
  | {status: 'unverified'; reason: string};

const waitMs = 3_000;

/**
 * Sends the upload path a request that it must refuse (interface, 4.1, rules 1 and 2): text of one byte, which is never sent.
 * This cannot store anything.
 */
export async function checkUploadPath(client: ServiceClient, signal: StopSignal): Promise<UploadPathVerdict> {
  try {
    const answer = await client.askUploadPath('POST', waitMs, signal);
    return answer === undefined
      ? {status: 'unverified', reason: `no response within ${waitMs / 1000} s to a request without its body`}
      : judge(answer);
  } catch (error) {
    if (error instanceof MediaError) return {status: 'unverified', reason: error.message.replace(/\.$/, '')};
    throw error;
  }
}

function judge({status, headers, body}: HttpAnswer): UploadPathVerdict {
  const record = parseErrorRecord(body.toString());
  const {location} = headers;
  if (status === 404 && record === undefined) return {status: 'wrong', httpStatus: 404};
  if (status >= 300 && status < 400)
    return {status: 'redirected', httpStatus: status, ...defined({location})};
  if (status === 401) return {status: 'unverified', reason: 'the key is not accepted (401)'};
  if (status === 429 || status >= 500) return {status: 'unverified', reason: `the response was ${status}`};
  // A success is as wrong as a 404, since nothing was sent that could be stored.
  if (status < 300 || status === 403 || status === 404 || status === 405)
    return {status: 'doubtful', httpStatus: status, ...defined({message: record?.message})};
  return {status: 'accepts', httpStatus: status};
}
