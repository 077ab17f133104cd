import type {Clock} from '../../host.ts';

/** Longer than a run that is to end waits for responses, in milliseconds. */
const longestPauseMs = 5_500;

/**
 * Calls `quit` once a run that is to end has brought no further result for 5.5 s, as `count` tells: it waits for a disk that
 * hangs. Returns a function that stops watching.
 */
export function watchForHang(clock: Clock, count: () => number, quit: () => void): () => void {
  const before = count();
  let cancel = clock.after(longestPauseMs, () => {
    if (count() === before) quit();
    else cancel = watchForHang(clock, count, quit);
  });
  return () => cancel();
}
