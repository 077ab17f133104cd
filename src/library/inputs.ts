import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import {Stop, unlessStopped} from '../lib/stop.ts';
import {fromTyped, normalizeName, toText} from '../sources/find/walk/names.ts';
import {filesIn} from '../sources/open/file.ts';
import type {Source} from '../sources/open/source.ts';
import {kindOf} from './bad-parameters.ts';

/** The items of an iterable. Once stopped, it is told to end, and its next item is not waited for: it may never come. */
export async function* itemsOf<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  stop: StopSignal<Error>,
  clock: Clock,
): AsyncGenerator<Item> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const late = new Stop<Error>();
  // An item that is there already has been taken.
  stop.addEventListener('abort', () => clock.after(0, () => late.abort(stop.reason as Error)));
  let isWaiting = true;
  try {
    for (;;) {
      const {done, value} = await unlessStopped(Promise.resolve(iterator.next()), late);
      if (done) return;
      isWaiting = false;
      yield value;
      isWaiting = true;
    }
  } finally {
    const ended = Promise.resolve(iterator.return?.());
    if (isWaiting) ended.catch(() => {});
    else await ended;
  }
}

/** The sources that inputs stand for; paths are relative to `cwd`. Rejects with a MediaError `usage` for anything else. */
export async function* sourcesOf(
  inputs: AsyncIterable<string | Source>,
  cwd: string,
): AsyncGenerator<Source> {
  const fileNamed = filesIn(cwd);
  for await (const input of inputs) {
    if (typeof input === 'string')
      yield {...fileNamed(input), relativePath: toText(normalizeName(fromTyped(input)))};
    else if (typeof input?.open === 'function' && typeof input.name === 'string') yield input;
    else throw new MediaError('usage', `A file is given as a path or a source, not as ${kindOf(input)}.`);
  }
}
