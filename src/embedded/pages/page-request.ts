import type {Service} from '../api/context.ts';
import type {Exchange} from '../exchange/exchange.ts';
import type {BrowserSession} from '../store/sessions.ts';

/** A request for a page by somebody who has signed in. */
export interface PageRequest {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly session: BrowserSession;
}

/** The cookies of a host go to all its ports, so that the name tells one service from another. */
export function cookieNameOf({port}: Service): string {
  return `media-session-${port()}`;
}

/** The query of a request. */
export function queryOf({request}: Exchange): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(request.url ?? '')?.[1] ?? '');
}
