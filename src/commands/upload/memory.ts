import type {Invocation} from '../../cli/invocation.ts';
import type {Session} from '../../cli/session.ts';
import type {StopSignal} from '../../host.ts';
import type {Journal, JournalMemory} from '../../journal/journal.ts';
import type {Shard} from '../../sources/find/shard.ts';
import type {UploadFlags} from './flags.ts';

/** Opens the journal of a run about a service and a part of the inputs, where there is to be one. */
export async function openRunJournal(
  {journal}: UploadFlags,
  {host, report}: Invocation,
  {session, shard, stop}: {session: Session | undefined; shard: Shard | undefined; stop: StopSignal},
): Promise<Journal | undefined> {
  if (journal === undefined || session === undefined) return undefined;
  const {openJournal} = await import('../../journal/journal.ts');
  const scope = scopeOf(session.identity, shard);
  return openJournal(journal, host, {scope, note: text => report.note(text), stop});
}

/** What a dry run knows of earlier runs. Without a base URL, nobody can tell whether they were about its service. */
export async function readRunMemory(
  {journal, dryRun}: UploadFlags,
  {host, globals}: Invocation,
  shard: Shard | undefined,
): Promise<JournalMemory | undefined> {
  if (journal === undefined || !dryRun) return undefined;
  const [{readMemory}, {resolveSettings}, {serviceIdentity}] = await Promise.all([
    import('../../journal/journal.ts'),
    import('../../settings/settings.ts'),
    import('../../service/client.ts'),
  ]);
  const {baseUrl} = await resolveSettings(host, globals, {readKey: false});
  const scope = baseUrl?.kind === 'service' ? scopeOf(serviceIdentity(baseUrl.url), shard) : undefined;
  return readMemory(journal, host.cwd(), scope);
}

/** What a journal has to be about for a run to go on with it. */
function scopeOf(service: string, shard: Shard | undefined): {service: string; shard?: string} {
  return {service, ...(shard === undefined ? {} : {shard: `${shard.index}/${shard.count}`})};
}
