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
