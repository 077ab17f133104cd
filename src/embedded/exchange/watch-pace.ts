import {type Exchange, isBodyPending} from './exchange.ts';
import {Refusal} from './refusal.ts';

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
