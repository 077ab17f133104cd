import type {Invocation} from '../../cli/invocation.ts';
import {openSession} from '../../cli/session.ts';
import {MediaError} from '../../errors.ts';
import {type JournalReader, refuseOtherStore} from '../../journal/journal.ts';
import {Stop} from '../../lib/stop.ts';

/** Rejects unless the service is the one that the journals belong to; without a key for it, says that this was not verified. */
export async function verifyService(readers: readonly JournalReader[], invocation: Invocation) {
  const {scope, shown = ''} = readers.find(reader => reader.scope?.serviceId !== undefined) ?? {};
  if (scope === undefined) return;
  const session = await openSession(invocation).catch(error => {
    if (error instanceof MediaError) return undefined;
    throw error;
  });
  try {
    if (session?.identity === scope.service)
      await refuseOtherStore(scope, () => session.client.serviceId(new Stop()), shown);
    else invocation.report.note(`not verified: there is no key for ${scope.service}, so it was not asked.`);
  } finally {
    await session?.close();
  }
}
