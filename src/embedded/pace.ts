import {type Exchange, isBodyPending} from './exchange.ts';
import {Refusal} from './refusal.ts';

/** How slowly a request may arrive. An honest upload on a bad line is far above it; a connection held for harm is not. */
export interface Pace {
  /** How long a request's head may take, in milliseconds; a connection without a request ends after it too. */
  headMs: number;
  /** What a body has to bring in each window, on average; less is answered with 408. */
  bytesPerSecond: number;
  /** In milliseconds. */
  windowMs: number;
}

export const defaultPace: Pace = {headMs: 60_000, bytesPerSecond: 100, windowMs: 60_000};

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
