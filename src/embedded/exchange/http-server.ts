import {once} from 'node:events';
import {createServer, IncomingMessage, ServerResponse} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {systemCode} from '../../lib/system-code.ts';
import {connectionOf, type Exchange, ExchangeOver, exchangeOf, isBodyPending} from './http-exchange.ts';
import {Refusal, refusalOf, refusalOfMalformed} from './refusal.ts';
import {respondRefusal} from './respond.ts';

/** What a server does with its requests. */
export interface Handling extends Pick<Exchange, 'clock' | 'pace' | 'commonHeaders'> {
  /** Responds to a request, or rejects: with the refusal to send, or any other error, for which a 500 is sent. */
  handle(exchange: Exchange): Promise<void>;
  /** Called with each error that is none of the client's. */
  onError(error: unknown): void;
  /** Called once for each request, when its response was sent or its connection was lost. */
  onEnd?(exchange: Exchange, elapsedMs: number): void;
}

/** Makes an HTTP server; every failure gets a response with an error record. */
export function createHttpServer({handle, onError, onEnd = () => {}, ...options}: Handling) {
  const {clock, pace} = options;
  const running = new Map<Exchange, Promise<void>>();
  const server = createServer({
    headersTimeout: pace.headMs,
    connectionsCheckingInterval: Math.min(30_000, pace.headMs),
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

  // Handles an exchange; a failure becomes its response.
  const runHandler = async (exchange: Exchange) => {
    try {
      await handle(exchange);
    } catch (error) {
      if (error instanceof ExchangeOver) return;
      const refusal = refusalOf(error);
      if (refusal === undefined) onError(error);
      respondRefusal(exchange, refusal ?? new Refusal(500, 'Internal error.'));
    }
  };
  // Runs the handler of the next request of a connection, unless the client has gone by then.
  const run = async (exchange: Exchange) => {
    if (exchange.request.socket.destroyed) {
      exchange.response.statusCode = 0;
      return;
    }
    const done = runHandler(exchange).finally(() => running.delete(exchange));
    running.set(exchange, done);
    await done;
  };
  // Begins the exchange of a request, unless the last response of its connection was sent.
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = exchangeOf(request, response, options);
    if (exchange.connection.closing) {
      request.resume();
      return;
    }
    const start = clock.monotonic();
    // One at a time, so that requests that are sent ahead take no more from others than a single one.
    const done = exchange.connection.turn.then(() => run(exchange));
    exchange.connection.turn = done;
    const stopWatching = watchClient(exchange);
    void waitForEnd(exchange, done).then(() => {
      stopWatching();
      onEnd(exchange, clock.monotonic() - start);
    });
  };
  // What reads the body sends a 100, which is all that a client may expect; others are ignored (RFC 9110, 10.1.1).
  server.on('request', begin).on('checkContinue', begin).on('checkExpectation', begin);
  // Errors of the parser and the socket, which may come in the middle of a request.
  server.on('clientError', (error, socket: Socket) => {
    const {closing, failed, pending} = connectionOf(socket);
    if (closing) return;
    failed.abort(error);
    if (systemCode(error) === 'ECONNRESET' || !socket.writable) socket.destroy();
    // If a request is pending, its response is the last on this connection, and closes it.
    else if (pending === 0) {
      const request = new IncomingMessage(socket);
      const response = new ServerResponse(request);
      response.assignSocket(socket);
      respondRefusal(exchangeOf(request, response, options), refusalOfMalformed(error));
    }
  });
  return {
    /** Listens on a port of an address; resolves to the port. Rejects with the system's error. */
    listen: async (place: {host: string; port: number}): Promise<number> => {
      await once(server.listen(place), 'listening');
      // Failing to accept a connection, for example without file descriptors, must not end the service.
      server.on('error', onError);
      return (server.address() as AddressInfo).port;
    },
    /** Stops listening, responds to the uploads that have arrived completely, and closes all connections. */
    close: async (): Promise<void> => {
      const closeEvent = once(server, 'close');
      server.close();
      const whole = [...running].filter(
        ([{method, request}]) => method === 'POST' && !isBodyPending(request),
      );
      await Promise.all(whole.map(([, done]) => done));
      server.closeAllConnections();
      await closeEvent;
      // An upload that lost its connection still removes its temporary file.
      await Promise.all(running.values());
    },
  };
}

/** Resolves when a response was sent or its connection was lost. */
async function waitForEnd({request, response, connection}: Exchange, done: Promise<void>): Promise<void> {
  connection.pending += 1;
  // Reads and writes fail when the client disconnects; there is nobody to inform.
  request.on('error', () => {});
  response.on('error', () => {});
  const closeEvent = new Promise<void>(resolve => {
    response.once('close', () => {
      connection.pending -= 1;
      if (connection.failed.aborted && !connection.closing) request.socket.destroySoon();
      resolve();
    });
  });
  await done;
  // If the client disconnected, the connection closes before the status is decided. A connection on which there will be
  // no response may stay open for long.
  if (response.statusCode !== 0) await closeEvent;
}

/** Closes the connection of a client that reads too slowly; returns a function that stops watching. */
function watchClient({request: {socket}, clock, pace: {bytesPerSecond, windowMs}}: Exchange): () => void {
  let [bytesTaken, hasWaited] = [0, false];
  return clock.every(windowMs, () => {
    const waiting = socket.writableLength;
    const before = bytesTaken;
    bytesTaken = socket.bytesWritten - waiting;
    // Only if something waited for the client during the whole window.
    if (hasWaited && waiting > 0 && bytesTaken - before < (bytesPerSecond * windowMs) / 1000)
      socket.destroy();
    hasWaited = waiting > 0;
  });
}
