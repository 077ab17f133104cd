import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {journalCodes} from '../file/errors.ts';
import type {Scope} from '../file/lines.ts';
import {type Identify, refuseOtherScope, refuseOtherStore} from '../file/scope.ts';
import {JournalMemory} from './memory.ts';
import {type JournalReader, readJournals} from './reader.ts';

/**
 * Reads a journal for a run that sends nothing, without writing or locking. Resolves to undefined if there is none;
 * rejects as openJournal() does. The caller closes its reader.
 */
export async function readMemory(
  path: string,
  host: Pick<Host, 'cwd' | 'files'>,
  asked: Scope | undefined,
  identify?: Identify,
): Promise<JournalMemory | undefined> {
  let reader: JournalReader | undefined;
  try {
    [reader] = await readJournals([path], host);
    if (reader === undefined) return undefined;
    if (asked !== undefined && reader.scope !== undefined) refuseOtherScope(reader.scope, asked, path);
    await refuseOtherStore(reader.scope, identify, path);
    return new JournalMemory(reader);
  } catch (error) {
    await reader?.close();
    if (error instanceof MediaError && error.code === journalCodes.missing) return undefined;
    throw error;
  }
}
