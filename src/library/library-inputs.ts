import {setMaxListeners} from 'node:events';
import {fromPath, normalizeName} from '../engine/sources/find/walk/names.ts';
import type {Disk} from '../engine/sources/open/disk.ts';
import {filesIn} from '../engine/sources/open/file-source.ts';
import type {Source} from '../engine/sources/open/source.ts';
import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import {toText} from '../lib/files/typed-path.ts';
import {itemsUnlessStopped, Stop} from '../lib/stop.ts';
import {kindOf} from './option-checks.ts';
import {isFile, sourceOf, type UploadInput} from './sources.ts';

/** Lets any number of calls share a signal: Node warns of a leak if more than ten listen to one. */
export function allowManyListeners(signal: StopSignal | undefined): void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
}

/** The items of an iterable. Once stopped, it ends the iterable without waiting for the next item. */
export function itemsOf<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  stop: StopSignal<Error>,
  clock: Clock,
): AsyncGenerator<Item> {
  const late = new Stop<Error>();
  // Not at once: an item that `items` has already handed over would be lost.
  stop.addEventListener('abort', () => clock.after(0, () => late.abort(stop.reason as Error)));
  return itemsUnlessStopped(items, late);
}

/** The sources of inputs; paths are relative to `cwd`. Rejects with a MediaError `usage` for anything else. */
export async function* sourcesFrom(
  inputs: AsyncIterable<UploadInput>,
  cwd: string,
  disk: Disk,
): AsyncGenerator<Source> {
  const fileSource = filesIn(cwd, disk);
  for await (const input of inputs) {
    if (typeof input === 'string' && input !== '')
      yield {...fileSource(input), relativePath: toText(normalizeName(fromPath(input)))};
    else if (isFile(input)) yield sourceOf(input.name, input);
    else if (typeof input === 'object' && typeof input?.open === 'function' && typeof input.name === 'string')
      yield input;
    else {
      const hint = 'Give content a name: sourceOf(name, content).';
      throw new MediaError(
        'usage',
        `A file is given as a path, a File or a source, not as ${kindOf(input)}.`,
        {hint},
      );
    }
  }
}
