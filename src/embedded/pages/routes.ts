import type {Service} from '../api/context.ts';
import type {Exchange} from '../exchange/exchange.ts';

/** Responds to a request, or rejects with the refusal to send. */
type PageRoute = (exchange: Exchange, service: Service) => Promise<void>;

/** The route of a request for a page, or for what a page consists of; undefined for any other. */
export function pageRouteOf({path, method, request}: Exchange): PageRoute | undefined {
  const isRead = method === 'GET' || method === 'HEAD';
  // Programs get the description of the service there.
  const isFront = path === '/' && isRead && /\btext\/html\b/i.test(request.headers.accept ?? '');
  if (!isFront && !/^\/(?:profile|media|assets|sign-out)(?:\/|$)/.test(path)) return undefined;
  return async (exchange, service) => {
    // Loaded on first use, since most services show no page.
    const {showPage} = await import('./pages.ts');
    await showPage(exchange, service);
  };
}
