import {MediaError} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import {Stop, unlessStopped} from '../../lib/stop.ts';

/**
 * The items of an iterator, until a signal interrupts the run: then its next item is not waited for, since a disk may hang, and the
 * iteration rejects with the signal's reason. A deadline does not end it, since the items that are left are reported.
 */
export function interruptible<Item>(
  items: AsyncIterable<Item>,
  signal: StopSignal<Error>,
): AsyncIterableIterator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  const interruption = interruptionOf(signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => unlessStopped(iterator.next(), interruption),
    async return() {
      const ended = iterator.return?.();
      if (interruption.aborted) ended?.catch(() => {});
      else await ended;
      return {done: true, value: undefined};
    },
  };
}

/** Aborted when the signal interrupts the run, but not at a deadline. */
function interruptionOf(signal: StopSignal<Error>): StopSignal<Error> {
  const interruption = new Stop<Error>();
  const onStop = () => {
    const {reason} = signal;
    if (reason instanceof MediaError && reason.code === 'interrupted') interruption.abort(reason);
  };
  signal.addEventListener('abort', onStop, {once: true});
  if (signal.aborted) onStop();
  return interruption;
}
