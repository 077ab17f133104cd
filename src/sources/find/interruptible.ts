import {MediaError} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';

/**
 * The items of an iterator, until a signal interrupts the run: then its next item is not waited for, since a disk may hang, and the
 * iteration rejects with the signal's reason. A deadline does not end it, since the items that are left are reported.
 */
export function interruptible<Item>(
  items: AsyncIterable<Item>,
  signal: StopSignal<Error>,
): AsyncIterableIterator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  const isInterrupted = () => signal.reason instanceof MediaError && signal.reason.code === 'interrupted';
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () =>
      new Promise((resolve, reject) => {
        const onStop = () => {
          if (isInterrupted()) reject(signal.reason);
        };
        signal.addEventListener('abort', onStop, {once: true});
        iterator
          .next()
          .finally(() => signal.removeEventListener('abort', onStop))
          .then(resolve, reject);
      }),
    async return() {
      const ended = iterator.return?.();
      if (isInterrupted()) ended?.catch(() => {});
      else await ended;
      return {done: true, value: undefined};
    },
  };
}
