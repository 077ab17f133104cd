import {Writable} from 'node:stream';
import {type Exchange, isBodyPending} from './http-exchange.ts';
import {Refusal} from './refusal.ts';

const clientGoneRefusal = () => new Refusal(400, 'The connection ended before the body was complete.');

/** Reads the body as UTF-8; rejects with a 413 above `limit` bytes, and if the connection ends before the body. */
export async function readBody(exchange: Exchange, limit: number): Promise<string> {
  const tooLong = new Refusal(413, `The body may have at most ${limit} bytes.`);
  if (Number(exchange.request.headers['content-length'] ?? 0) > limit) throw tooLong;
  const chunks: Buffer[] = [];
  const text = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done(exchange.received > limit ? tooLong : null);
    },
  });
  await receiveBody(exchange, text);
  return Buffer.concat(chunks).toString();
}

/** Writes the body to `target`; rejects as soon as that or the connection fails; the response can still be sent. */
export function receiveBody(exchange: Exchange, target: Writable): Promise<void> {
  const {request, response, connection} = exchange;
  return new Promise<void>((resolve, reject) => {
    // Settles the promise: without an error, the body is complete and written.
    const finish = (error?: unknown) => {
      stopWatching();
      connection.failed.removeEventListener('abort', onFailure);
      request.off('data', onData).off('close', onClose);
      request.unpipe(target);
      if (error === undefined) return resolve();
      target.destroy();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      exchange.received += chunk.length;
    };
    const onClose = () => {
      if (!request.readableEnded) finish(clientGoneRefusal());
    };
    const onFailure = () => finish(connectionRefusal(exchange));
    const stopWatching = watchPace(exchange, () => target.writableLength > 0, finish);
    target.on('error', finish).on('finish', () => finish());
    if (connection.failed.aborted) return onFailure();
    connection.failed.addEventListener('abort', onFailure);
    // What came whole, but was not read before the connection was destroyed, can no longer be read.
    if (request.destroyed && !request.readableEnded) return finish(clientGoneRefusal());
    request.on('data', onData).on('close', onClose);
    request.pipe(target);
    // Only now, since a client need not send a body that is refused. HTTP/1.0 has no expectations.
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  });
}

/** Why a connection that has failed, or was closed, ends a request. */
export function connectionRefusal(exchange: Exchange): Refusal {
  if (isBodyPending(exchange.request) || exchange.request.socket.destroyed) return clientGoneRefusal();
  return new Refusal(400, 'The body is longer than Content-Length declares.');
}

/**
 * Calls `onTooSlow` with a 408 if too few bytes arrive in a window, unless the service `isBehind`: what has arrived is
 * not written yet. Returns a function that stops watching.
 */
function watchPace(exchange: Exchange, isBehind: () => boolean, onTooSlow: (refusal: Refusal) => void) {
  const {bytesPerSecond, windowMs} = exchange.pace;
  const leastBytes = (bytesPerSecond * windowMs) / 1000;
  let before = exchange.received;
  return exchange.clock.every(windowMs, () => {
    const bytes = exchange.received - before;
    before = exchange.received;
    if (bytes >= leastBytes || isBehind() || !isBodyPending(exchange.request)) return;
    onTooSlow(
      new Refusal(
        408,
        `The body came too slowly: less than ${bytesPerSecond} bytes a second for ${windowMs / 1000} s.`,
      ),
    );
  });
}
