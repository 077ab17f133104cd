import type {MediaError} from '../errors.ts';
import type {Known} from '../journal/journal.ts';
import {parseRecord, type ReceivedRecord} from '../service/record.ts';
import {unknownSince} from './attempt/explain.ts';
import type {TransferOptions} from './options.ts';

/** The outcome of a file that a journal knows; throws if its record in the journal is damaged. */
export async function endOfKnown(
  known: Known,
  name: string,
  {journal, memory}: Pick<TransferOptions, 'journal' | 'memory'>,
): Promise<{status: 'unknown'; error: MediaError} | {status: 'skipped'; received: ReceivedRecord}> {
  if (known.status === 'unknown') return {status: 'unknown', error: unknownSince(name)};
  const received = parseRecord(known.recordJson);
  if (!('problem' in received)) return {status: 'skipped', received};
  // Sending the file again would store it twice.
  const what = `holds a record that is ${received.problem}`;
  throw (await (journal ?? memory)?.reader.damage(known.entry, what)) ?? new Error(what);
}
