import type {Service} from '../api/context.ts';
import type {Exchange} from '../exchange/exchange.ts';
import type {BrowserSession} from '../keys/sessions.ts';

/** A request for a page, from a browser that has signed in. */
export interface PageRequest {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly session: BrowserSession;
}

/** Browsers send a host's cookies to all its ports, so the name of the cookie distinguishes services. */
export function cookieNameOf({port}: Service): string {
  return `media-session-${port()}`;
}

/** The query of a request. */
export function queryOf({request}: Exchange): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(request.url ?? '')?.[1] ?? '');
}
