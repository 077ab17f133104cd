import type {StopSignal} from '../host.ts';

/** Stops a run or an attempt; an AbortController takes 5 % of a small upload's CPU, and warns of many listeners. */
export class Stop<Reason = unknown> implements StopSignal<Reason> {
  aborted = false;
  reason: Reason | undefined;
  readonly #listeners = new Set<() => void>();

  /** Calls every listener once. Only the first call has an effect. */
  abort(reason: Reason): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** The result of a call; rejects once the signal is aborted, since a disk or a service may never respond. */
export function unlessStopped<Result>(call: Promise<Result>, signal: StopSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onStop = () => reject(signal.reason);
    if (signal.aborted) onStop();
    signal.addEventListener('abort', onStop);
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', onStop));
  });
}

/** The items of an iterable, closed at the end. Rejects once the signal is aborted, without waiting for an item. */
export async function* itemsUnlessStopped<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  signal: StopSignal,
): AsyncGenerator<Item> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isWaiting = true;
  try {
    for (;;) {
      // What is taken from now on would be lost.
      signal.throwIfAborted();
      const {done, value} = await unlessStopped(Promise.resolve(iterator.next()), signal);
      if (done) return;
      isWaiting = false;
      yield value;
      isWaiting = true;
    }
  } finally {
    const end = Promise.resolve(iterator.return?.());
    if (isWaiting) end.catch(() => {});
    else await end;
  }
}
