import type {Service} from '../api/context.ts';
import type {Exchange} from '../exchange/exchange.ts';

/** Responds to a request, or rejects with the error response to send. */
type PageRoute = (exchange: Exchange, service: Service) => Promise<void>;

/** The route of a request for a page, its style sheet or its script; undefined for any other request. */
export function pageRouteOf({path, method, request}: Exchange): PageRoute | undefined {
  const isRead = method === 'GET' || method === 'HEAD';
  // Other clients get the description of the service here.
  const isFront = path === '/' && isRead && /\btext\/html\b/i.test(request.headers.accept ?? '');
  if (!isFront && !/^\/(?:profile|media|assets|sign-out)(?:\/|$)/.test(path)) return undefined;
  return async (exchange, service) => {
    // Loaded on first use, since most runs of the service never show a page.
    const {showPage} = await import('./pages.ts');
    await showPage(exchange, service);
  };
}
