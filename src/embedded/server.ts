import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import {systemCode} from '../lib/system-code.ts';
import type {Service} from './api/context.ts';
import {routeOf} from './api/routes.ts';
import {answerRaw, answerRefusal} from './exchange/answer.ts';
import {type ServedConnection, ServedConnections} from './exchange/connection.ts';
import {checkHost, type Exchange, exchangeOf, isBodyPending} from './exchange/exchange.ts';
import {Refusal, refusalOf, refusalOfMalformed} from './exchange/refusal.ts';

/** An HTTP server over the routes. */
export interface RoutedServer {
  readonly server: Server;
  /** Resolves when nothing is being worked on that came before the call and arrived whole. */
  whole(): Promise<void>;
  /** Resolves when nothing at all is being worked on. */
  idle(): Promise<void>;
}

/** Makes the HTTP server; every failure is answered with an error record. */
export function createRoutedServer(service: Service): RoutedServer {
  const connections = new ServedConnections();
  const running = new Map<Exchange, Promise<void>>();
  const commonHeaders: Record<string, string> = service.idempotency ? {'Accept-Idempotency-Key': '?1'} : {};
  const server = createServer({
    headersTimeout: service.pace.headMs,
    connectionsCheckingInterval: Math.min(30_000, service.pace.headMs),
    // However long an upload takes, it is an honest one while it keeps its pace, which is watched where bodies are read.
    requestTimeout: 0,
    // Node's own answer to a missing Host would be no error record.
    requireHostHeader: false,
    insecureHTTPParser: false,
    highWaterMark: 256 * 1024,
  });
  // Node would leave out what comes after the 2,000th field; the size of all is limited in any case.
  server.maxHeadersCount = 0;
  // Otherwise a client that ends its side after the body, as it may, gets no answer.
  Object.assign(server, {httpAllowHalfOpen: true});

  const take = (acceptBody: (response: ServerResponse) => void, refusal?: Refusal) => {
    return (request: IncomingMessage, response: ServerResponse): void => {
      const connection = connections.of(request.socket);
      const accept = () => acceptBody(response);
      const exchange = exchangeOf(request, response, connection, service, commonHeaders, accept);
      if (connection.closing) {
        request.resume();
        return;
      }
      const done = work(exchange, service, refusal).finally(() => running.delete(exchange));
      running.set(exchange, done);
      observe(exchange, service, done);
    };
  };
  const unexpected = new Refusal(417, 'The only expectation that can be met is 100-continue.');
  const goOn = (response: ServerResponse) => response.writeContinue();
  server.on('request', take(ignore));
  server.on('checkContinue', take(goOn));
  server.on('checkExpectation', take(ignore, unexpected));
  server.on('connect', (_request, socket) => {
    // Node hands this socket over: no one else would close it.
    socket.on('error', ignore).once('finish', () => socket.destroy());
    const refusal = new Refusal(405, 'This is not a proxy.', {Allow: 'GET, HEAD, POST'});
    answerRaw(socket, refusal, commonHeaders, service.clock);
  });
  server.on('clientError', (error, socket) =>
    onClientError(error, socket, connections.of(socket), service, commonHeaders),
  );
  return {
    server,
    whole: async () => {
      const posts = [...running].filter(
        ([{method, request}]) => method === 'POST' && !isBodyPending(request),
      );
      await Promise.all(posts.map(([, done]) => done));
    },
    idle: async () => {
      await Promise.all(running.values());
    },
  };
}

async function work(exchange: Exchange, service: Service, refusal: Refusal | undefined): Promise<void> {
  try {
    if (refusal !== undefined) throw refusal;
    checkHost(exchange, service.port());
    await routeOf(exchange)(exchange, service);
  } catch (error) {
    const known = refusalOf(error);
    if (known === undefined) service.observer.onError(error);
    answerRefusal(exchange, known ?? new Refusal(500, 'Internal error.'));
  }
}

/** What the parser cannot read, and what becomes of a socket, arrives here: at times in the middle of a request. */
function onClientError(
  error: Error,
  socket: Duplex,
  connection: ServedConnection,
  service: Service,
  commonHeaders: Readonly<Record<string, string>>,
): void {
  if (connection.closing) return;
  connection.fail(error);
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
  } else if (connection.pending === 0) {
    connection.closing = true;
    answerRaw(socket, refusalOfMalformed(error), commonHeaders, service.clock);
  }
  // With a request pending, its answer is the last on this connection, and closes it.
}

function observe(exchange: Exchange, {observer}: Service, done: Promise<void>): void {
  const {request, response, connection, clock, method, path} = exchange;
  const start = clock.monotonic();
  connection.pending += 1;
  // A client that leaves makes a read or a write fail; there is nobody to tell.
  request.on('error', ignore);
  response.on('error', ignore);
  response.once('close', async () => {
    connection.pending -= 1;
    if (connection.failure !== undefined && !connection.closing) request.socket.destroySoon();
    // When the client left, the connection closes first and the status is decided after.
    await done;
    observer.onRequest({
      method,
      path,
      status: response.statusCode,
      bytes: exchange.received || exchange.sent,
      elapsedMs: clock.monotonic() - start,
    });
  });
}

function ignore(): void {}
