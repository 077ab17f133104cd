import {isUnreachable, MediaError} from '../errors.ts';
import {defined} from '../lib/object.ts';
import {shellQuoted} from '../lib/shell.ts';
import {unusable} from './errors.ts';
import type {ParsedLine, Scope} from './line.ts';

/** What only the service can tell; it resolves to undefined if it does not. */
export interface ServiceQuestions {
  /** Asks which service is there; rejects without a connection. A journal that knows its own is refused if it is another one, or if it does not say. */
  identify?: (() => Promise<string | undefined>) | undefined;
  /** Asks whose key the run uses, for a journal that belongs to an account. */
  identifyAccount?: (() => Promise<string | undefined>) | undefined;
}

/** The scope in a header; throws for a file that is not a journal, or one of another version. */
export function scopeOf(parsed: ParsedLine | undefined, shown: string): Scope {
  if (parsed?.event !== 'header') {
    throw unusable(
      `${shown} is not a journal written by media`,
      'Use a journal, or a file that does not exist yet. This file was not changed.',
    );
  }
  const {version, service, account, shard, serviceId, honoursKeys} = parsed;
  if (version === 2 && service !== undefined)
    return {service, ...defined({account, shard, serviceId, honoursKeys})};
  const text = String(JSON.stringify(version)).slice(0, 40);
  throw unusable(
    version === 2
      ? `The journal ${shown} does not name a service`
      : `${shown} is a journal of version ${text}, but this version of media reads only version 2`,
    'Use the version of media that wrote it, or another file. This file was not changed.',
  );
}

/** The common scope of journals, or of parts of one; throws unless all belong to the same service. It has a shard if all have that one. */
export function commonScope(
  journals: readonly {shown: string; scope: Scope | undefined}[],
): Scope | undefined {
  let common: Scope | undefined;
  for (const {shown, scope} of journals) {
    if (scope === undefined) continue;
    const other = journals.find(one => one.scope !== undefined && !scopesAgree(one.scope, scope));
    if (other?.scope !== undefined) throw mixedServicesError(shown, scope, other.shown, other.scope);
    // What was declared last counts.
    const {shard, ...whole} = {...common, ...scope};
    const hasOneShard = common === undefined || common.shard === scope.shard;
    common = {...whole, ...defined({shard: hasOneShard ? shard : undefined})};
  }
  return common;
}

/** Throws unless a run with the scope `asked` may continue a journal. */
export function requireSameScope(journalScope: Scope, runScope: Scope, shown: string): void {
  if (journalScope.service !== runScope.service) {
    throw new MediaError(
      'journal_of_other_service',
      `The journal ${shown} belongs to ${serviceText(journalScope.service)}, but this run uploads to ${serviceText(runScope.service)}.`,
      {hint: 'Nothing was sent. Keep a journal for each service: use another file with --journal.'},
    );
  }
  if (!scopesAgree(journalScope, runScope)) {
    throw new MediaError(
      'journal_of_other_service',
      `The journal ${shown} belongs to ${ownerText(journalScope)}, but the key of this run belongs to account ${runScope.account}.`,
      {
        hint: 'Nothing was sent. Keep a journal for each account: use another file with --journal, or another --profile with --once.',
      },
    );
  }
  if (journalScope.shard === runScope.shard) return;
  const [writer, run] = [journalScope, runScope].map(({shard}) =>
    shard === undefined ? 'no shard' : `shard ${shard}`,
  );
  throw unusable(
    `The journal ${shown} was written for ${writer}, but this run is for ${run}`,
    'Nothing was sent. Keep a journal for each part; media journal merge combines them into one for runs without --shard.',
  );
}

/** Rejects if the key is of another account than a journal, or unless the service says that it is the one of the journal, if that knows which one. */
export async function requireSameService(
  journalScope: Scope | undefined,
  {identify, identifyAccount}: ServiceQuestions,
  shown: string,
): Promise<void> {
  const account = journalScope?.account === undefined ? undefined : await identifyAccount?.();
  if (journalScope !== undefined && account !== undefined)
    requireSameScope(journalScope, {...journalScope, account}, shown);
  const serviceId = journalScope?.serviceId;
  if (serviceId === undefined || identify === undefined) return;
  const reported = await identify().catch(error => {
    if (error instanceof MediaError && isUnreachable(error)) return error;
    throw error;
  });
  if (reported === serviceId) return;
  if (typeof reported === 'string') throw otherServiceError(serviceId, reported, shown);
  const why = reported === undefined ? '' : ` ${reported.message}`;
  throw new MediaError(
    'journal_unverified',
    `${journalScope?.service} did not say whether it is the service of the journal ${shown}, with the ID ${serviceId}.${why}`,
    {hint: 'Nothing was skipped or sent. Try again when the service responds.', cause: reported},
  );
}

/** The error for a journal whose base URL leads to another service now. */
export function otherServiceError(
  serviceId: string | undefined,
  reportedServiceId: string | undefined,
  shown: string,
) {
  const sentence = `The journal ${shown} belongs to the service with the ID ${serviceId}, but the one at its URL now has the ID ${reportedServiceId}.`;
  const hint = `Nothing was sent. If the other service will not come back, remove its journal: rm ${shellQuoted(shown)}`;
  return new MediaError('journal_of_other_service', sentence, {hint});
}

/** Whether two scopes are of the same service and, as far as both tell, the same store and account. */
function scopesAgree(one: Scope, other: Scope): boolean {
  const agree = (a: string | undefined, b = a) => a === undefined || a === b;
  const isOwnerOne = agree(one.account, other.account) && agree(one.serviceId, other.serviceId);
  return one.service === other.service && isOwnerOne;
}

function mixedServicesError(shown: string, one: Scope, otherShown: string, other: Scope): MediaError {
  const isOneName = ownerText(one) === ownerText(other);
  const nameIn = (scope: Scope) => `${ownerText(scope)}${isOneName ? ` (ID ${scope.serviceId})` : ''}`;
  const sentence = `${shown} is a journal of ${nameIn(one)}, and ${otherShown} of ${nameIn(other)}.`;
  return new MediaError('journal_of_other_service', sentence, {
    hint: 'A journal is valid for one service and account only: keep one for each.',
  });
}

/** The name of the service for messages, with the account if there is one. */
function ownerText({service, account}: Scope): string {
  return account === undefined ? serviceText(service) : `account ${account} of ${serviceText(service)}`;
}

/** The name of a service for messages. */
function serviceText(service: string): string {
  return service.startsWith('embedded:')
    ? `the embedded service (${service.slice('embedded:'.length)})`
    : service;
}
