/** A result that is on its way, and needs no worker any more. */
export interface Later<Result> {
  result: Promise<Result>;
}

/**
 * Works on the items of a stream, up to `concurrency` at a time, and yields results as they come. An item is asked for
 * only when a worker is free, and when no more results wait to be taken than there are workers: memory stays bounded on
 * both sides. An item that comes when `isOver` is dropped, and none is asked for after it. Rejects, once all work has
 * ended, with what the first failing item or the stream itself rejected with.
 */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Later<Result>>,
  isOver: () => boolean = () => false,
): AsyncGenerator<Result> {
  const results: Later<Result>[] = [];
  const failures: unknown[] = [];
  const waitingForRoom: (() => void)[] = [];
  let onProgress = () => {};
  let working = concurrency;
  let hasEnded = false;

  // One generator between the items and all workers: it answers them in turn, and asks for nothing after the end.
  const taken = (async function* () {
    for await (const item of items) {
      if (hasEnded || isOver()) return;
      yield item;
      if (hasEnded) return;
    }
  })();
  const fail = (error: unknown) => {
    failures.push(error);
    hasEnded = true;
  };
  const workOnItems = async () => {
    for (let next = await taken.next(); !next.done; next = await taken.next()) {
      const later = await work(next.value);
      // It may fail before anybody waits for it.
      later.result.catch(() => {});
      results.push(later);
      onProgress();
      while (results.length >= concurrency && !hasEnded)
        await new Promise<void>(resolve => waitingForRoom.push(resolve));
    }
  };
  const workers = Array.from({length: concurrency}, async () => {
    await workOnItems().catch(fail);
    working -= 1;
    onProgress();
  });

  try {
    while (working > 0 || results.length > 0) {
      const first = results.shift();
      waitingForRoom.shift()?.();
      if (first === undefined) {
        await new Promise<void>(resolve => {
          onProgress = resolve;
        });
      } else {
        const settled = await first.result.then(value => ({value}), fail);
        if (settled !== undefined) yield settled.value;
      }
    }
  } finally {
    hasEnded = true;
    for (const goOn of waitingForRoom) goOn();
    await Promise.all(workers);
    await Promise.allSettled(results.map(({result}) => result));
    await taken.return();
  }
  if (failures.length > 0) throw failures[0];
}
