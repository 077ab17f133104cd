import type {Invocation} from '../../../cli/invocation.ts';
import type {Session} from '../../../cli/session.ts';
import {MediaError} from '../../../errors.ts';
import type {JournalMemory, RunJournal} from '../../../journal/journal.ts';
import type {Stop} from '../../../lib/stop.ts';
import type {UploadFlags} from './flags.ts';
import type {Inputs} from './inputs.ts';
import {openRunJournal, rehearse} from './memory.ts';

/** What a run keeps open: the service, its journal, or what a dry run knows of earlier runs. */
export interface Resources {
  session?: Session | undefined;
  journal?: RunJournal | undefined;
  memory?: JournalMemory | undefined;
  /** Whether the service honours Idempotency-Key, as far as that was declared. */
  idempotencyHonoured: boolean;
}

/** Opens what the options ask for; if one of them fails, the others and the inputs are closed again. */
export async function openResources(
  options: UploadFlags,
  invocation: Invocation,
  inputs: Pick<Inputs, 'shard' | 'close'>,
  stop: Stop<MediaError>,
): Promise<Resources> {
  const {shard} = inputs;
  const resources: Resources = {idempotencyHonoured: false};
  try {
    resources.session = await openSessionFor(options, invocation, stop);
    const {session} = resources;
    resources.journal = await openRunJournal(options, invocation, {session, shard, stop});
    if (session === undefined) Object.assign(resources, await rehearse(options, invocation, {shard, stop}));
    else resources.idempotencyHonoured = session.idempotencyHonoured;
    return resources;
  } catch (error) {
    await closeResources(resources);
    await inputs.close();
    throw error;
  }
}

/** A dry run needs no service. */
async function openSessionFor(
  {dryRun}: UploadFlags,
  invocation: Invocation,
  stop: Stop<MediaError>,
): Promise<Session | undefined> {
  if (dryRun) return undefined;
  const {openSession} = await import('../../../cli/session.ts');
  return openSession(invocation, stop);
}

/** Closes all of them; resolves to the error that kept the last lines of the journal from being written, if any. */
export async function closeResources({session, journal, memory}: Resources): Promise<MediaError | undefined> {
  await session?.close();
  await memory?.reader.close();
  try {
    await journal?.close();
    return undefined;
  } catch (error) {
    if (error instanceof MediaError) return error;
    throw error;
  }
}
