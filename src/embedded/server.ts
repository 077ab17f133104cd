import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import {systemCode} from '../lib/system-code.ts';
import type {Service} from './api/context.ts';
import {respondTo, showHealth} from './api/routes.ts';
import {answersPreflight, crossOriginHeaders} from './exchange/cross-origin.ts';
import {
  checkHost,
  connectionOf,
  type Exchange,
  ExchangeOver,
  exchangeOf,
  isBodyPending,
} from './exchange/exchange.ts';
import {Refusal, refusalOf, refusalOfMalformed} from './exchange/refusal.ts';
import {respondRaw, respondRefusal} from './exchange/respond.ts';

/** Makes the HTTP server; every failure gets a response with an error record. */
export function createRoutedServer(service: Service) {
  const running = new Map<Exchange, Promise<void>>();
  const commonHeaders: Record<string, string> = {
    'Media-Service-Id': service.identity,
    ...(service.idempotency && {'Accept-Idempotency-Key': '?1'}),
  };
  const server = createServer({
    headersTimeout: service.pace.headMs,
    connectionsCheckingInterval: Math.min(30_000, service.pace.headMs),
    // An upload may take any time while it keeps its pace, which is checked where bodies are read.
    requestTimeout: 0,
    // Node's 5 s are so short that clients on a busy machine send a request as the connection closes.
    keepAliveTimeout: 65_000,
    // Node's own response to a missing Host would not be an error record.
    requireHostHeader: false,
    insecureHTTPParser: false,
    highWaterMark: 256 * 1024,
  });
  // Node would drop fields after the 2,000th; the size of all fields is limited anyway.
  server.maxHeadersCount = 0;
  // Otherwise a client that closes its side after the body, as it may, would get no response.
  Object.assign(server, {httpAllowHalfOpen: true});

  const take = (acceptBody: (response: ServerResponse) => void, refusal?: Refusal) => {
    return (request: IncomingMessage, response: ServerResponse): void => {
      const {clock, pace} = service;
      const conditions = {clock, pace, commonHeaders, acceptBody: () => acceptBody(response)};
      const exchange = exchangeOf(request, response, conditions);
      const shared = crossOriginHeaders(exchange.path, request.headers.origin, service.allowOrigins);
      exchange.commonHeaders = {...commonHeaders, ...shared};
      if (exchange.connection.closing) {
        request.resume();
        return;
      }
      const done = work(exchange, service, refusal).finally(() => running.delete(exchange));
      running.set(exchange, done);
      observe(exchange, service, done);
    };
  };
  const unexpected = new Refusal(417, 'The only supported expectation is 100-continue.');
  const goOn = (response: ServerResponse) => response.writeContinue();
  server.on('request', take(ignore));
  server.on('checkContinue', take(goOn));
  server.on('checkExpectation', take(ignore, unexpected));
  server.on('connect', (_request, socket) => {
    // Node passes on this socket and does not close it.
    socket.on('error', ignore).once('finish', () => socket.destroy());
    const refusal = new Refusal(405, 'This is not a proxy.', {Allow: 'GET, HEAD, POST'});
    respondRaw(socket, refusal, commonHeaders, service.clock);
  });
  server.on('clientError', (error, socket) => onClientError(error, socket, service, commonHeaders));
  return {
    server,
    /** Stops listening, responds to the uploads that have arrived completely, and closes all connections. */
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      const whole = [...running].filter(
        ([{method, request}]) => method === 'POST' && !isBodyPending(request),
      );
      await Promise.all(whole.map(([, done]) => done));
      server.closeAllConnections();
      await closed;
      // An upload that lost its connection still removes its temporary file.
      await Promise.all(running.values());
    },
  };
}

async function work(exchange: Exchange, service: Service, refusal: Refusal | undefined): Promise<void> {
  try {
    if (refusal !== undefined) throw refusal;
    // A probe may use any address.
    if (exchange.path === '/healthz') return await showHealth(exchange, service);
    checkHost(exchange, service.port(), service.allowHosts);
    if (!(await service.store.isInPlace())) throw movedAway(service);
    // Faults are meant for requests of the page, not for the browser's question whether it may send them.
    if (answersPreflight(exchange)) return;
    exchange.disturbance = service.faults?.disturbanceOf(exchange);
    await exchange.disturbance?.at('head');
    if (isForPage(exchange)) {
      // Loaded on first use, since most runs of the service never show a page.
      const {showPage} = await import('./pages/pages.ts');
      await showPage(exchange, service);
    } else await respondTo(exchange, service);
  } catch (error) {
    if (error instanceof ExchangeOver) return;
    const known = refusalOf(error);
    if (known === undefined) service.observer.onError(error);
    respondRefusal(exchange, known ?? new Refusal(500, 'Internal error.'));
  }
}

/** Whether a request is for a page, its style sheet or its script. Other clients get the description of the service at /. */
function isForPage({path, method, request}: Exchange): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  if (path === '/' && isRead && /\btext\/html\b/i.test(request.headers.accept ?? '')) return true;
  return /^\/(?:profile|media|assets|sign-out)(?:\/|$)/.test(path);
}

/** Without it no key would be known, and no file: clients must not take that for an answer. */
function movedAway({store, observer}: Service): Refusal {
  const why = `${store.dataDirectory} is no longer there: it was moved, removed or unmounted.`;
  observer.onError(Object.assign(new Error(why), {hint: 'Put it back, or stop this media serve.'}));
  return new Refusal(503, 'The data directory of the service is not there.');
}

/** Handles errors of the parser and the socket, which may come in the middle of a request. */
function onClientError(
  error: Error,
  socket: Duplex,
  service: Service,
  commonHeaders: Readonly<Record<string, string>>,
): void {
  const connection = connectionOf(socket);
  if (connection.closing) return;
  connection.fail(error);
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
  } else if (connection.pending === 0) {
    connection.closing = true;
    respondRaw(socket, refusalOfMalformed(error), commonHeaders, service.clock);
  }
  // If a request is pending, its response is the last on this connection, and closes it.
}

function observe(exchange: Exchange, {observer}: Service, done: Promise<void>): void {
  const {request, response, connection, clock, method, path} = exchange;
  const start = clock.monotonic();
  connection.pending += 1;
  // Reads and writes fail when the client disconnects; there is nobody to inform.
  request.on('error', ignore);
  response.on('error', ignore);
  const closed = new Promise<void>(resolve => {
    response.once('close', () => {
      connection.pending -= 1;
      if (connection.failure !== undefined && !connection.closing) request.socket.destroySoon();
      resolve();
    });
  });
  const report = () => {
    const faults = exchange.disturbance?.applied ?? [];
    observer.onRequest({
      method,
      path,
      status: response.statusCode,
      bytes: exchange.received || exchange.sent,
      elapsedMs: clock.monotonic() - start,
      ...(faults.length === 0 ? {} : {faults}),
    });
  };
  // If the client disconnected, the connection closes before the status is decided. A connection on which there will be no
  // response may stay open for long.
  void done.then(() => (response.statusCode === 0 ? undefined : closed)).then(report);
}

function ignore(): void {}
