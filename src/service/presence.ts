import {isUnreachable, MediaError} from '../errors.ts';
import type {HttpAnswer} from '../http/http.ts';

/** Sends a request without a body to the upload path; resolves to undefined if there is no response in time. */
export type Ask = (method: 'GET' | 'POST', waitMs: number) => Promise<HttpAnswer | undefined>;

const postWaitMs = 1_000;
/** A gateway may try for several seconds to reach a service before it gives up. */
const getWaitMs = 10_000;

/**
 * Why a service accepts no requests; undefined if it does. It is sent the head of a POST, which many servers answer at
 * once, and a GET if there is no response: servers and gateways that wait for the body answer that. Neither can store
 * anything.
 */
export async function whyAway(ask: Ask): Promise<string | undefined> {
  try {
    const answer = await answerToProbe(ask);
    if (answer === undefined) return 'It did not respond.';
    const {status} = answer;
    return status >= 502 && status <= 504 ? `It answered ${status}.` : undefined;
  } catch (error) {
    if (error instanceof MediaError) return isUnreachable(error) ? error.message : undefined;
    throw error;
  }
}

/** The response to the first of the two requests that gets one. */
export async function answerToProbe(ask: Ask): Promise<HttpAnswer | undefined> {
  return (await ask('POST', postWaitMs)) ?? ask('GET', getWaitMs);
}

/** The identity of the service in a response; undefined if it is absent or malformed: 1 to 128 characters that URLs may have. */
export function serviceIdIn({headers}: Pick<HttpAnswer, 'headers'>): string | undefined {
  return /^[\w.~-]{1,128}$/.exec(headers['media-service-id'] ?? '')?.[0];
}
