import {isUnreachable, MediaError} from '../errors.ts';
import type {HttpAnswer} from '../http/http.ts';

/** Sends a request without a body to the upload path; resolves to undefined if there is no response in time. */
export type Ask = (method: 'GET' | 'POST', waitMs: number) => Promise<HttpAnswer | undefined>;

/** Gateways may try for some seconds to reach a service before they give up. */
const getWaitMs = 10_000;
const postWaitMs = 1_000;

/**
 * Why a service takes no requests, or undefined. A GET comes first, since gateways that wait for the body of a POST pass it on;
 * the head of a POST follows, since others have a service of its own for each method. Neither can store anything.
 */
export async function whyAway(ask: Ask): Promise<string | undefined> {
  try {
    const answer = await ask('GET', getWaitMs);
    const said = gatewaySays(answer);
    if (said !== undefined) return said;
    const other = await ask('POST', postWaitMs);
    if (answer === undefined && other === undefined) return 'It did not respond.';
    return gatewaySays(other);
  } catch (error) {
    if (error instanceof MediaError) return isUnreachable(error) ? error.message : undefined;
    throw error;
  }
}

function gatewaySays(answer: HttpAnswer | undefined): string | undefined {
  const status = answer?.status ?? 0;
  return status >= 502 && status <= 504 ? `It answered ${status}.` : undefined;
}
