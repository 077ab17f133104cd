import type {Service} from './api/context.ts';
import {respondTo} from './api/routes.ts';
import {crossOriginHeaders, respondsToPreflight} from './exchange/cross-origin.ts';
import {checkHost, type Exchange} from './exchange/http-exchange.ts';
import {createHttpServer} from './exchange/http-server.ts';
import {Refusal, reads} from './exchange/refusal.ts';
import {respond} from './exchange/respond.ts';

/** The HTTP server of the service and its pages, not yet listening. */
export function createRoutedServer(service: Service) {
  const {clock, pace, observer} = service;
  return createHttpServer({
    ...{clock, pace, onError: observer.onError},
    commonHeaders: {
      'Media-Service-Id': service.store.identity,
      ...(service.idempotency && {'Accept-Idempotency-Key': '?1'}),
    },
    handle: exchange => handle(exchange, service).catch(error => showError(exchange, error)),
    onEnd: ({response, method, path, disturbance, received, sent}, elapsedMs) => {
      const faults = disturbance?.appliedFaults ?? [];
      observer.onRequest({
        ...{method, path, status: response.statusCode, bytes: received || sent, elapsedMs},
        ...(faults.length === 0 ? {} : {faults}),
      });
    },
  });
}

/** Checks a request before its route: /healthz skips every check, and a preflight gets no faults. */
async function handle(exchange: Exchange, service: Service): Promise<void> {
  const {path, request, commonHeaders} = exchange;
  const corsHeaders = crossOriginHeaders(path, request.headers.origin, service.allowOrigins);
  exchange.commonHeaders = {...commonHeaders, ...corsHeaders};
  // A health check may use any address, so its Host field is not checked.
  if (path === '/healthz') return respondTo(exchange, service);
  checkHost(exchange, service.port(), service.allowHosts);
  if (!(await service.store.isInPlace())) throw movedAwayRefusal(service);
  // Faults are meant for requests of the page, not for the browser's question whether it may send them.
  if (respondsToPreflight(exchange)) return;
  exchange.disturbance = service.faults?.disturbanceOf(exchange, service.closing);
  await exchange.disturbance?.at('head');
  if (!isForPage(exchange)) return respondTo(exchange, service);
  // Loaded on first use, since most runs of the service never show a page.
  const {showPage} = await import('./pages/pages.ts');
  await showPage(exchange, service);
}

/** Whether a request is for a page, its style sheet or its script. Other clients get the API's description at /. */
function isForPage(exchange: Exchange): boolean {
  const {path} = exchange;
  return (path === '/' && readsHtml(exchange)) || /^\/(?:profile|media|assets|sign-out)(?:\/|$)/.test(path);
}

/** Shows an error as a page where a browser is to show it; throws it again for programs, which get an error record. */
async function showError(exchange: Exchange, error: unknown): Promise<void> {
  if (!readsHtml(exchange)) throw error;
  respond(exchange, (await import('./pages/pages.ts')).errorPage(exchange, error));
}

/** Whether a request is one that a browser makes for a page. */
function readsHtml({method, request}: Exchange): boolean {
  return reads.includes(method) && /\btext\/html\b/i.test(request.headers.accept ?? '');
}

/** Without the data directory no key or file is known, which clients must not take for a fact about either. */
function movedAwayRefusal({store, observer}: Service): Refusal {
  const why = `${store.dataDirectory} is no longer there: it was moved, removed or unmounted.`;
  observer.onError(Object.assign(new Error(why), {hint: 'Put it back, or stop this media serve.'}));
  return new Refusal(503, 'The data directory of the service is not there.');
}
