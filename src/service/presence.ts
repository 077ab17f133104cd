import {isUnreachable, MediaError} from '../errors.ts';
import type {HttpAnswer} from '../http/http.ts';

/** Sends a request without a body to the upload path; resolves to undefined if there is no response in time. */
export type Ask = (method: 'GET' | 'POST', waitMs: number) => Promise<HttpAnswer | undefined>;

/** A gateway may try for several seconds to reach a service before it gives up. */
const getWaitMs = 10_000;
const postWaitMs = 1_000;

/**
 * Why a service accepts no requests; undefined if it does. A GET comes first, since gateways that wait for the body of
 * a POST forward it; the head of a POST follows, since other gateways use a different service for each method. Neither
 * can store anything.
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
