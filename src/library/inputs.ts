import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import {toText} from '../lib/files/typed-path.ts';
import {Stop, unlessStopped} from '../lib/stop.ts';
import {fromTyped, normalizeName} from '../sources/find/walk/names.ts';
import type {Disk} from '../sources/open/disk.ts';
import {filesIn} from '../sources/open/file.ts';
import type {Source} from '../sources/open/source.ts';

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
  disk: Disk,
): AsyncGenerator<Source> {
  const fileNamed = filesIn(cwd, disk);
  for await (const input of inputs) {
    if (typeof input === 'string')
      yield {...fileNamed(input), relativePath: toText(normalizeName(fromTyped(input)))};
    else if (typeof input?.open === 'function' && typeof input.name === 'string') yield input;
    else throw new MediaError('usage', `A file is given as a path or a source, not as ${kindOf(input)}.`);
  }
}

/** Throws a MediaError `usage` for an option whose name is not among `names` (separated by spaces). */
export function refuseUnknown(options: object, names: string): void {
  const unknown = Object.keys(options ?? {}).find(name => !names.split(' ').includes(name));
  if (unknown === undefined) return;
  throw new MediaError('usage', `There is no option "${unknown}".`, {hint: `The options: ${names}.`});
}

/** Throws a MediaError `usage` for what is not a list of any kind; a text and bytes count as one item, not as a list. */
export function refuseSingle(list: unknown): void {
  const isObject = typeof list === 'object' && list !== null && !ArrayBuffer.isView(list);
  if (isObject && (Symbol.iterator in list || Symbol.asyncIterator in list)) return;
  const hint = "Put a single one into an array: ['photo.png'].";
  throw new MediaError('usage', `Files are given as an array or another iterable, not as ${kindOf(list)}.`, {
    hint,
  });
}

/** Throws a MediaError `usage` for a value that is given and not among those allowed. */
export function refuseOthers(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new MediaError('usage', `${name} must be ${allowed.join(' or ')}, not ${kindOf(value)}.`);
}

/** A value as a message shows it, in few characters. */
export function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.slice(0, 60) ?? typeof value;
  return `an object (${value.constructor?.name ?? 'without a prototype'})`;
}
