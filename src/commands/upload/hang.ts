import type {Clock} from '../../host.ts';

/** Longer than an ending run waits for responses, in milliseconds. */
const longestPauseMs = 5_500;

/**
 * Calls `quit` when an ending run has produced no further result for 5.5 s, according to `count`: it is waiting for a
 * disk that hangs. Returns a function that stops watching.
 */
export function watchForHang(clock: Clock, count: () => number, quit: () => void): () => void {
  const before = count();
  let cancel = clock.after(longestPauseMs, () => {
    if (count() === before) quit();
    else cancel = watchForHang(clock, count, quit);
  });
  return () => cancel();
}
