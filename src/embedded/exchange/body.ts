import {type Exchange, isBodyPending} from './exchange.ts';
import {ClientGone, Refusal} from './refusal.ts';

/** Reads the whole body as UTF-8; rejects with a 413 beyond `limit` bytes, and if the connection ends before the body. */
export function readBody(exchange: Exchange, limit: number): Promise<string> {
  const {request, connection} = exchange;
  const tooLong = () => new Refusal(413, `The body may have at most ${limit} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLong());
  return new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const settle = (error?: Refusal) => {
      stopListening();
      stopWatching();
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      request.pause();
      if (error === undefined) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      exchange.received += chunk.length;
      if (exchange.received > limit) settle(tooLong());
      else chunks.push(chunk);
    };
    const onEnd = () => settle();
    const onClose = () => settle(new ClientGone());
    const stopListening = connection.onFailure(() => settle(new ClientGone()));
    const stopWatching = watchPace(exchange, () => false, settle);
    if (connection.failure !== undefined || (request.destroyed && !request.complete)) {
      settle(new ClientGone());
      return;
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    exchange.acceptBody();
  });
}

/**
 * Watches the body of a request and calls `onTooSlow` when too few bytes arrive in a window; windows in which the service
 * itself was too slow (`isBehind`) do not count. Returns a function that stops watching.
 */
export function watchPace(
  exchange: Exchange,
  isBehind: () => boolean,
  onTooSlow: (refusal: Refusal) => void,
): () => void {
  const {bytesPerSecond, windowMs} = exchange.pace;
  const share = (bytesPerSecond * windowMs) / 1000;
  let before = exchange.received;
  return exchange.clock.every(windowMs, () => {
    const brought = exchange.received - before;
    before = exchange.received;
    if (brought >= share || isBehind() || !isBodyPending(exchange.request)) return;
    onTooSlow(
      new Refusal(
        408,
        `The body came too slowly: less than ${bytesPerSecond} bytes a second for ${windowMs / 1000} s.`,
      ),
    );
  });
}
