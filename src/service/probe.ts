import {isUnreachable, MediaError} from '../errors.ts';
import type {StopSignal} from '../host.ts';
import type {HttpAnswer} from '../http/http.ts';
import {defined} from '../lib/object.ts';
import {asksForFewer, refusalIn} from './uploader.ts';

/** Sends a request without a body to the upload path; resolves to undefined if there is no response in time. */
export type Ask = (method: 'GET' | 'POST', waitMs: number) => Promise<HttpAnswer | undefined>;

const postWaitMs = 1_000;
/** A gateway may try for several seconds to reach a service before it gives up. */
const getWaitMs = 10_000;

/** Why a service accepts no requests, if so: asked by the head of a POST, and by a GET, since some wait for the body. */
export async function probeAvailability(ask: Ask): Promise<string | undefined> {
  try {
    const answer = await answerToProbe(ask);
    if (answer === undefined) return 'It did not respond.';
    const {status} = answer;
    return status >= 502 && status <= 504 ? `It returned ${status}.` : undefined;
  } catch (error) {
    if (error instanceof MediaError) return isUnreachable(error) ? error.message : undefined;
    throw error;
  }
}

/** The response to the first of the two requests that gets one. */
export async function answerToProbe(ask: Ask): Promise<HttpAnswer | undefined> {
  return (await ask('POST', postWaitMs)) ?? ask('GET', getWaitMs);
}

/** The result of checking the upload path. */
export type UploadPathVerdict =
  /** It refuses the request with an error record, or for its content type, as it must. */
  | {status: 'accepts'; httpStatus: number}
  /** A 404 without an error record of the service: nothing accepts uploads there. */
  | {status: 'wrong'; httpStatus: 404}
  /** Redirects are not followed, so uploads will fail. */
  | {status: 'redirected'; httpStatus: number; location?: string}
  /** The key may lack permission, the base URL may be wrong, or a proxy has answered; `message` holds the words of the response. */
  | {status: 'doubtful'; httpStatus: number; message?: string}
  /** No conclusive response, and why. */
  | {status: 'unverified'; reason: string};

const waitMs = 3_000;

/** Sends the upload path text of one byte, without that byte, which it must refuse (interface, 4.1, rules 1 and 2). */
export async function checkUploadPath(
  client: {askUploadPath(...parameters: [...Parameters<Ask>, StopSignal]): ReturnType<Ask>},
  signal: StopSignal,
): Promise<UploadPathVerdict> {
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

function judge(answer: HttpAnswer): UploadPathVerdict {
  const {status, message, words, location} = refusalIn(answer);
  if (status === 404 && message === undefined) return {status: 'wrong', httpStatus: 404};
  if (status >= 300 && status < 400)
    return {status: 'redirected', httpStatus: status, ...defined({location})};
  if (status === 401) return {status: 'unverified', reason: 'the key is not accepted (401)'};
  if (asksForFewer(status) || status >= 500)
    return {status: 'unverified', reason: `the response was ${status}`};
  // A success is as wrong as a 404, since nothing was sent that could be stored.
  const isElsewhere = status < 300 || status === 403 || status === 404 || status === 405;
  // Servers in front of the service refuse requests too, but not the type of an upload.
  if (isElsewhere || (message === undefined && status !== 415))
    return {status: 'doubtful', httpStatus: status, ...defined({message: message ?? (words || undefined)})};
  return {status: 'accepts', httpStatus: status};
}
