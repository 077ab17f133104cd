import {type Exchange, isBodyPending} from './exchange.ts';
import {Refusal} from './refusal.ts';

/**
 * Watches the body of a request arrive and calls `onTooSlow` when a window brought less than its share; a window in
 * which the service itself was behind (`isBehind`) does not count. Returns the function that ends the watch.
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
