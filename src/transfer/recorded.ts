import {MediaError} from '../errors.ts';
import type {JournalEntry} from '../journal/journal.ts';
import {unrecorded} from './attempt/explain.ts';
import type {Halt} from './halt.ts';
import type {Outcome} from './outcome.ts';

type Uploaded = Outcome & {status: 'uploaded'};

/** A stored file counts as uploaded even if the journal cannot record it, but then nothing more is sent. */
export async function recorded(outcome: Uploaded, entry: JournalEntry, halt: Halt): Promise<Outcome> {
  try {
    const {json, serviceId} = outcome.received;
    await entry.done(json, serviceId, error => halt.because(error));
    return outcome;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    halt.because(error);
    return {...outcome, unrecorded: unrecorded(outcome.name, error)};
  }
}
