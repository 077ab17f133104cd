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

/** Yields the items that were already taken from an iterator, then the rest. */
export async function* resumed<Item>(
  taken: readonly IteratorResult<Item>[],
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    for (const {done, value} of taken) {
      if (done) return;
      yield value;
    }
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
