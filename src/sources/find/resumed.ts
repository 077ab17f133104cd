/** What has been taken of an iterator already, then the rest of it. */
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
