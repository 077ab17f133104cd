import {MediaError} from '../errors.ts';
import {type Patch, patched, planGeotags, UnstrippableError} from '../geotags/geotags.ts';
import type {SentInput} from '../journal/journal.ts';
import {type RandomAccess, readAt} from '../lib/files/random-access.ts';
import type {OpenSource} from '../sources/open/source.ts';
import type {AttemptOptions} from './attempt/attempt.ts';
import type {Ending} from './ending.ts';
import {geotagTransform, type TransferOptions} from './options.ts';

/** How a file is sent without its location, and how the journal records that. */
export type Stripped = Pick<SentInput, 'transform' | 'onSentUnchanged'> & Pick<AttemptOptions, 'transformed'>;

/**
 * Searches a file for its location. `strip`: returns how it is sent without one, or rejects with `geotags_unstrippable` if that is
 * not certain to be possible. `warn`: warns of it.
 */
export async function applyGeotags(
  mode: TransferOptions['geotags'],
  opened: OpenSource,
  ending: Ending,
): Promise<Stripped | undefined> {
  const {facts} = ending;
  try {
    const plan = await planGeotags(windowsOf(opened));
    facts.geotags = plan.geotags;
    if (plan.geotags === 'none') return undefined;
    if (mode === 'strip') {
      facts.geotags = 'stripped';
      return stripped(plan.patches, ending);
    }
    ending.warn('It tells where it was taken.');
  } catch (error) {
    if (!(error instanceof UnstrippableError)) throw error;
    if (mode === 'strip') throw unstrippable(facts.name, error);
    ending.warn(`It may tell where it was taken: ${error.place} could not be checked.`);
  }
  return undefined;
}

/** Most values are near each other: this much is read at once, and the beginning of the file is kept. */
const windowBytes = 64 * 1024;

/** Remembers what was read last, and the beginning. */
function windowsOf(opened: OpenSource): RandomAccess {
  const {size} = opened;
  const windows: {start: number; bytes: Buffer}[] = [];
  const read = async (position: number, length: number) => {
    let window = windows.find(
      ({start, bytes}) => start <= position && position + length <= start + bytes.length,
    );
    if (window === undefined) {
      const bytes = await readAt(opened, position, Math.max(length, windowBytes));
      window = {start: position, bytes};
      windows[Math.min(windows.length, 1)] = window;
    }
    return window.bytes.subarray(position - window.start, position - window.start + length);
  };
  return {size, read};
}

function stripped(patches: readonly Patch[], ending: Ending): Stripped {
  return {
    transform: geotagTransform,
    transformed: (bytes, position) => patched(bytes, position, patches),
    onSentUnchanged: uploads => ending.warn(stillPublic(uploads)),
  };
}

function unstrippable(name: string, error: UnstrippableError): MediaError {
  const sentence = `${name} is not sent: it may hold a location that cannot be removed, in ${error.place}.`;
  return new MediaError('geotags_unstrippable', sentence, {
    hint: 'Export it without its location, and upload that.',
    cause: error,
  });
}

function stillPublic(uploads: number): string {
  return uploads === 1
    ? 'An earlier upload tells where it was taken, and stays public until you delete it at the service.'
    : `${uploads} earlier uploads tell where it was taken, and stay public until you delete them at the service.`;
}
