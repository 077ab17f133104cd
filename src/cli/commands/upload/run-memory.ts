import {hash} from 'node:crypto';
import {dirname, join} from 'node:path';
import type {Journal, JournalLookup, Scope} from '../../../engine/journal/journal.ts';
import type {Shard} from '../../../engine/sources/find/shard.ts';
import {MediaError} from '../../../errors.ts';
import {command, hint} from '../../../hint.ts';
import type {StopSignal} from '../../../host.ts';
import {makeDirectory} from '../../../lib/files/durable.ts';
import {ownershipProblem} from '../../../lib/files/ownership.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {systemReason} from '../../../lib/system-code.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {Session} from '../../session/session.ts';
import {dataDirectory, journalDirectory, stateUnwritableError} from '../../settings/paths.ts';
import {speedSettings} from '../../settings/profile.ts';
import {resolveSettings, type Settings} from '../../settings/settings.ts';
import type {UploadFlags} from './flags.ts';

/** How long a run waits for another one that uses this machine's own journal. */
const oncePatienceMs = 30_000;

/** Throws a usage error for two memories, options without their manifest, and --prune with a part of the inputs. */
export function refuseContradictions(flags: UploadFlags): void {
  const {journal, manifest, check, prune, once, shard, filesFrom} = flags;
  const namesOf = (options: Record<string, unknown>) =>
    Object.entries(options).flatMap(([name, value]) => (value ? [name] : []));
  const refuse = (names: readonly string[], how: string, hint: string): never => {
    throw new MediaError('usage', `${names.join(' and ')} ${how}.`, {hint});
  };
  const [first = '', second] = namesOf({'--once': once, '--journal': journal, '--manifest': manifest});
  if (second !== undefined)
    refuse([first, second], 'were given together', 'Each is a memory of its own; leave one of them out.');
  const [lonely] = manifest === undefined ? namesOf({'--check': check, '--prune': prune}) : [];
  if (lonely !== undefined) refuse([lonely], 'was given without --manifest', 'Add --manifest FILE.');
  const [partial] = prune ? namesOf({'--shard': shard, '--files-from': filesFrom}) : [];
  if (partial !== undefined) refuse(['--prune', partial], 'were given together', `Leave one of them out.`);
}

/** The files that a run may write, with the options that name them. */
export async function ownFiles({journal, manifest}: Partial<UploadFlags>, host: Invocation['host']) {
  if (journal !== undefined) return [{what: '--journal', path: journal}];
  if (manifest === undefined) return [];
  const {manifestPath} = await import('../../../engine/manifest/manifest-store.ts');
  const journalPath = `${await manifestPath(manifest, host)}.journal`;
  return [
    {what: '--manifest', path: manifest},
    {what: 'The journal of the manifest', path: journalPath},
  ];
}

/**
 * Opens the journal of a run for its service and its part of the inputs; undefined without a journal. In place of the
 * session, a run with a manifest may have the error that keeps it from sending.
 */
export async function openRunJournal(
  flags: Partial<UploadFlags>,
  invocation: Pick<Invocation, 'host' | 'globals'> & {report: Pick<Invocation['report'], 'note'>},
  {session, shard, stop}: {session: Session | MediaError; shard: Shard | undefined; stop: StopSignal},
): Promise<Journal | undefined> {
  const {host, globals, report} = invocation;
  const {journal, manifest} = flags;
  const note = (text: string) => report.note(text);
  const identify = async () => {
    if (session instanceof MediaError) throw session;
    return session.client.serviceId(stop);
  };
  if (manifest !== undefined) {
    const {openManifest} = await import('../../../engine/manifest/run-manifest.ts');
    const unsendable = session instanceof MediaError ? session : undefined;
    const service =
      session instanceof MediaError
        ? await identityOf(await resolveSettings(host, globals, {readKey: false}), host)
        : session.identity;
    const prunes = flags.prune ? flags : undefined;
    const isPart = shard !== undefined;
    return openManifest(manifest, host, {service, identify, unsendable, prunes, isPart, note, stop});
  }
  if (session instanceof MediaError) throw session;
  const {identity, settings} = session;
  const {account, profile, profileName} = settings;
  if (journal === undefined && !(flags.once ?? profile.once === 'true')) return undefined;
  const {openJournal} = await import('../../../engine/journal/journal.ts');
  const identifyAccount = async () => account ?? session.identifyAccount?.(stop);
  const common = {note, stop, identify, identifyAccount};
  if (journal !== undefined)
    return openJournal(journal, host, {scope: scopeOf(identity, account, shard), ...common});
  const path = await ownJournal(host, identity, profileName);
  await makeDirectory(dirname(path), host.files, 0o700).catch(cause => {
    throw stateUnwritableError(host, `${dirname(path)} could not be created: ${systemReason(cause)}.`, cause);
  });
  // Without the shard: this machine's journal serves all shards.
  const options = {scope: scopeOf(identity, account), patienceMs: oncePatienceMs, ...common};
  return openJournal(path, host, options).catch(error => {
    const {code, cause} = error instanceof MediaError ? error : {};
    const advice = hint`Wait until that run has ended${command('uploadWithoutOnce')}`;
    if (code === 'journal_in_use') throw error.reword({hint: advice});
    throw code === 'journal_unusable' && cause ? stateUnwritableError(host, error.sentence, cause) : error;
  });
}

/** Reads the journal or manifest of a dry run, which sends nothing. Without a base URL, it may be of any service. */
export async function readDryRunMemory(
  flags: UploadFlags,
  invocation: Invocation,
  {shard, stop}: {shard: Shard | undefined; stop: StopSignal},
): Promise<{journal?: JournalLookup | undefined; onUnknown?: Settings['onUnknown'] | undefined}> {
  const {host, globals, report} = invocation;
  const {journal, once, manifest, check, prune} = flags;
  const ofManifest = async (service?: string) => {
    const {lookUpInManifest} = await import('../../../engine/manifest/run-manifest.ts');
    const note = (text: string) => report.note(text);
    return lookUpInManifest(manifest ?? '', host, {service, check, note, prunes: prune ? flags : undefined});
  };
  if (check) return {journal: await ofManifest()};
  const isNamed = journal !== undefined || manifest !== undefined;
  if (!isNamed && once === false) return {};
  const settings = await resolveSettings(host, globals, {readKey: false});
  // Nothing is sent, but a wrong value is found.
  await speedSettings(settings);
  if (!isNamed && !(once ?? settings.profile.once === 'true')) return {};
  const {account, onUnknown} = settings;
  const identity = await identityOf(settings, host);
  if (manifest !== undefined) return {journal: await ofManifest(identity), onUnknown};
  const isEmbedded = settings.baseUrl === 'embedded';
  const {readLookup} = await import('../../../engine/journal/journal.ts');
  /** Opens the service only for one question, which a journal of another service asks first. */
  const ask = async <Result>(question: (session: Session) => Promise<Result>) => {
    const {openSession, withSession} = await import('../../session/session.ts');
    return withSession(await openSession(invocation, stop), question);
  };
  const questions = {
    identify: () => ask(({client}) => client.serviceId(stop)),
    // Without a key, nobody can be asked.
    identifyAccount: async () =>
      account ?? (await ask(async session => session.identifyAccount?.(stop)).catch(() => undefined)),
  };
  const part = journal === undefined ? undefined : shard;
  const scope = identity === undefined ? undefined : scopeOf(identity, account, part);
  const path = journal ?? (scope && (await ownJournal(host, scope.service, settings.profileName)));
  const lookup = path === undefined ? undefined : readLookup(path, host, scope, isEmbedded ? {} : questions);
  return {journal: await lookup, onUnknown};
}

/** How a journal identifies the service of the settings; undefined without a base URL or an embedded service yet. */
async function identityOf({baseUrl}: Settings, host: Invocation['host']): Promise<string | undefined> {
  if (baseUrl === undefined) return undefined;
  if (baseUrl instanceof URL) {
    const {serviceIdentity} = await import('../../../engine/service/client.ts');
    return serviceIdentity(baseUrl);
  }
  const {embeddedIdentity} = await import('../../session/start-embedded.ts');
  const identity = await embeddedIdentity(dataDirectory(host));
  return identity === undefined ? undefined : `embedded:${identity}`;
}

/** The path of this machine's journal for a service and a profile; `state_unwritable` if others may write it. */
async function ownJournal(host: Invocation['host'], service: string, profile: string): Promise<string> {
  const directory = journalDirectory(host);
  const digest = hash('sha256', `${service}\n${profile}`, 'hex').slice(0, 16);
  const path = join(directory, `${digest}.ndjson`);
  for (const one of [dirname(directory), directory, path]) {
    const stats = await host.files.stat(one).catch(() => undefined);
    const problem = stats && ownershipProblem(one, stats, host, host.groupId());
    if (problem !== undefined)
      throw stateUnwritableError(host, `${problem.why}, so it is not trusted.`).reword({
        hint: problem.remedy,
      });
  }
  return path;
}

/** The service, account and part that a journal must belong to, so that this run can use it. */
function scopeOf(service: string, account: string | undefined, shard?: Shard): Scope {
  const part = shard === undefined ? undefined : `${shard.index}/${shard.count}`;
  return {service, ...omitUndefined({account, shard: part})};
}
