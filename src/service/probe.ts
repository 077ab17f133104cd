import {isUnreachable, MediaError} from '../errors.ts';
import type {HttpAnswer} from '../http/http.ts';

/** Sends a request without a body to the upload path; resolves to undefined if there is no response in time. */
type Ask = (method: 'GET' | 'POST', waitMs: number) => Promise<HttpAnswer | undefined>;

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
