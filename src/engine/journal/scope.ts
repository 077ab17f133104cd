import {isUnreachable, MediaError} from '../../errors.ts';
import {command, type Hint, hint, option} from '../../hint.ts';
import {omitUndefined} from '../../lib/object.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {unusableJournalError} from './journal-errors.ts';
import type {ParsedLine, Scope} from './line.ts';

/** Questions to the service; each resolves to undefined if the service does not say. */
export interface ServiceQuestions {
  /** Asks for the ID of the service; rejects without a connection. A journal with an ID needs the same one. */
  identify?: (() => Promise<string | undefined>) | undefined;
  /** Asks for the account of the key; used only if the journal belongs to an account. */
  identifyAccount?: (() => Promise<string | undefined>) | undefined;
}

/** The scope in a header; throws if the line is not a header, or the header is of another version. */
export function scopeOf(parsed: ParsedLine | undefined, displayPath: string): Scope {
  if (parsed?.event !== 'header') {
    throw unusableJournalError(
      `${displayPath} is not a journal written by media`,
      'Use a journal, or a file that does not exist yet. This file was not changed.',
    );
  }
  const {version, service, account, shard, serviceId, honoursKeys} = parsed;
  if (version === 2 && service !== undefined)
    return {service, ...omitUndefined({account, shard, serviceId, honoursKeys})};
  const text = String(JSON.stringify(version)).slice(0, 40);
  throw unusableJournalError(
    version === 2
      ? `The journal ${displayPath} does not name a service`
      : `${displayPath} is a journal of version ${text}, but this version of media reads only version 2`,
    'Use the version of media that wrote it, or another file. This file was not changed.',
  );
}

/** The common scope of journals, with a shard if all have the same; throws unless all have one service and account. */
export function commonScope(
  journals: readonly {displayPath: string; scope: Scope | undefined}[],
): Scope | undefined {
  let common: Scope | undefined;
  for (const {displayPath, scope} of journals) {
    if (scope === undefined) continue;
    const other = journals.find(one => one.scope !== undefined && !scopesAgree(one.scope, scope));
    if (other?.scope !== undefined)
      throw mixedServicesError(displayPath, scope, other.displayPath, other.scope);
    // Members of the later journal win.
    const {shard, ...whole} = {...common, ...scope};
    const hasOneShard = common === undefined || common.shard === scope.shard;
    common = {...whole, ...omitUndefined({shard: hasOneShard ? shard : undefined})};
  }
  return common;
}

/** Throws unless a journal, or a manifest, belongs to the service, account and shard of the run. */
export function requireSameScope(
  journalScope: Scope,
  runScope: Scope,
  displayPath: string,
  kind: 'journal' | 'manifest' = 'journal',
): void {
  if (journalScope.service !== runScope.service) {
    throw otherOwnerError(
      `The ${kind} ${displayPath} belongs to ${serviceText(journalScope.service)}, but this run uploads to ${serviceText(runScope.service)}.`,
      hint`Nothing was sent. Keep a ${kind} for each service: use another file with ${option(kind)}.`,
    );
  }
  if (!scopesAgree(journalScope, runScope)) {
    throw otherOwnerError(
      `The journal ${displayPath} belongs to ${ownerText(journalScope)}, but the key of this run belongs to account ${runScope.account}.`,
      hint`Nothing was sent. Keep a journal for each account: use another file with ${option('journal')}${hint`, or another ${option('profile')} with ${option('once')}`}.`,
    );
  }
  if (journalScope.shard === runScope.shard) return;
  const [writer, run] = [journalScope, runScope].map(({shard}) =>
    shard === undefined ? 'no shard' : `shard ${shard}`,
  );
  throw unusableJournalError(
    `The journal ${displayPath} was written for ${writer}, but this run is for ${run}`,
    hint`Nothing was sent. Keep a journal for each part; ${command('mergeJournals')} combines them into one for runs without ${option('shard')}.`,
  );
}

/** Asks the service, and rejects unless it has the service ID and the account in the journal's scope. */
export async function requireSameService(
  journalScope: Scope | undefined,
  {identify, identifyAccount}: ServiceQuestions,
  displayPath: string,
  kind?: 'manifest',
): Promise<void> {
  if (journalScope === undefined) return;
  const account = journalScope.account === undefined ? undefined : await identifyAccount?.();
  if (account !== undefined) requireSameScope(journalScope, {...journalScope, account}, displayPath);
  const {serviceId} = journalScope;
  if (serviceId === undefined || identify === undefined) return;
  const reported = await identify().catch(error => {
    if (error instanceof MediaError && isUnreachable(error)) return error;
    throw error;
  });
  if (reported === serviceId) return;
  if (typeof reported === 'string') throw otherServiceError(serviceId, reported, displayPath, kind);
  const why = reported === undefined ? '' : ` ${reported.message}`;
  throw new MediaError(
    'journal_unverified',
    `${journalScope.service} did not say whether it is the service of the ${kind ?? 'journal'} ${displayPath}, with the ID ${serviceId}.${why}`,
    {hint: 'Nothing was skipped or sent. Try again when the service responds.', cause: reported},
  );
}

/** The error for a journal whose base URL now leads to another service. */
export function otherServiceError(
  serviceId: string | undefined,
  reportedServiceId: string | undefined,
  displayPath: string,
  kind: 'journal' | 'manifest' = 'journal',
): MediaError {
  return otherOwnerError(
    `The ${kind} ${displayPath} belongs to the service with the ID ${serviceId}, but the one at its URL now has the ID ${reportedServiceId}.`,
    `Nothing was sent. If the other service will not come back, remove its ${kind}: rm ${shellQuoted(displayPath)}`,
  );
}

/** Whether two scopes have the same service, and the same account and service ID where both have one. */
function scopesAgree(one: Scope, other: Scope): boolean {
  const agree = (a: string | undefined, b = a) => a === undefined || a === b;
  const isOwnerOne = agree(one.account, other.account) && agree(one.serviceId, other.serviceId);
  return one.service === other.service && isOwnerOne;
}

function mixedServicesError(displayPath: string, one: Scope, otherPath: string, other: Scope): MediaError {
  const isOneName = ownerText(one) === ownerText(other);
  const nameIn = (scope: Scope) => `${ownerText(scope)}${isOneName ? ` (ID ${scope.serviceId})` : ''}`;
  return otherOwnerError(
    `${displayPath} belongs to ${nameIn(one)}, and ${otherPath} to ${nameIn(other)}.`,
    'Keep a file of its own for each service and account.',
  );
}

/** The error for a journal or manifest of another service or account. */
function otherOwnerError(sentence: string, advice: Hint): MediaError {
  return new MediaError('journal_of_other_service', sentence, {hint: advice});
}

/** The service for messages, with the account if the scope has one. */
function ownerText({service, account}: Scope): string {
  return account === undefined ? serviceText(service) : `account ${account} of ${serviceText(service)}`;
}

/** The service for messages. */
function serviceText(service: string): string {
  return service.startsWith('embedded:')
    ? `the embedded service (${service.slice('embedded:'.length)})`
    : service;
}
