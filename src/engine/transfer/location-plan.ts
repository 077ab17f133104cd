import {MediaError} from '../../errors.ts';
import {fact, phrase} from '../../hint.ts';
import {applyPatches, planGeotags, UnstrippableError} from '../../media/location/location.ts';
import type {InputVariant} from '../journal/journal.ts';
import type {OpenSource} from '../sources/open/source.ts';
import type {AttemptOptions} from './attempt/attempt.ts';
import type {OutcomeBuilder} from './outcome-builder.ts';
import {geotagTransform, type TransferOptions} from './transfer-options.ts';

/** How a file is sent without its location, and how the journal records that. */
export type Stripped = Pick<InputVariant, 'transform' | 'onEarlierOriginals'> &
  Pick<AttemptOptions, 'transformed'>;

/** Plans to send a file without its location (`strip`; rejects with `geotags_unstrippable`), or warns of it. */
export async function applyGeotags(
  mode: TransferOptions['geotags'],
  opened: OpenSource,
  outcome: OutcomeBuilder,
): Promise<Stripped | undefined> {
  const {facts} = outcome;
  try {
    const plan = await planGeotags(opened);
    facts.geotags = plan.geotags;
    if (plan.geotags === 'none') return undefined;
    if (mode === 'strip') {
      facts.geotags = 'stripped';
      return {
        transform: geotagTransform,
        transformed: (bytes, position) => applyPatches(bytes, position, plan.patches),
        onEarlierOriginals: uploads => outcome.warn(publicLocationWarning(uploads)),
      };
    }
    outcome.warn('It tells where it was taken.', 'tell where they were taken.');
  } catch (error) {
    if (!(error instanceof UnstrippableError)) throw error;
    if (mode === 'strip') throw unstrippableError(facts.file, error);
    const where = `: ${error.place} could not be checked.`;
    outcome.warn(`It may tell where it was taken${where}`, `may tell where they were taken${where}`);
  }
  return undefined;
}

/** The error for a file whose location may not be removed completely. */
function unstrippableError(name: string, cause: UnstrippableError): MediaError {
  const sentence = phrase`${fact('subject', name)} is not sent: it may hold a location that cannot be removed, in ${cause.place}.`;
  const hint = 'Export it without its location, and upload that.';
  return new MediaError('geotags_unstrippable', sentence, {hint, cause});
}

/** The warning that earlier uploads of the same file still show its location. */
function publicLocationWarning(uploads: number): string {
  return uploads === 1
    ? 'An earlier upload tells where it was taken, and stays public until you delete it at the service.'
    : `${uploads} earlier uploads tell where it was taken, and stay public until you delete them at the service.`;
}
