import {MediaError} from '../../errors.ts';
import {defined} from '../../lib/defined.ts';
import {journalCodes, unusable} from './errors.ts';
import type {Scope} from './lines.ts';
import type {ParsedLine} from './parse.ts';

type Header = Extract<ParsedLine, {event: 'header'}>;

/** The scope in a header; throws for a file that is not a journal, or one of another version. */
export function scopeOf(parsed: ParsedLine | undefined, shown: string): Scope {
  if (parsed?.event !== 'header') {
    throw unusable(
      `${shown} is not a journal written by media`,
      'Use a journal, or a file that does not exist yet. This file was not changed.',
    );
  }
  const {version, service, account, shard} = parsed;
  if (version !== 2 || service === undefined) throw ofOtherVersion(parsed, shown);
  return {service, ...defined({account, shard})};
}

function ofOtherVersion({version}: Header, shown: string): MediaError {
  const text = String(JSON.stringify(version)).slice(0, 40);
  return unusable(
    version === 2
      ? `The journal ${shown} names no service`
      : `${shown} is a journal of version ${text}, but this version of media reads only version 2`,
    'Use the version of media that wrote it, or another file. This file was not changed.',
  );
}

/** The scope of several journals in one file: they must be of the same service; with several shards, it has none. */
export function joinedScope(before: Scope | undefined, next: Scope, shown: string): Scope {
  if (before === undefined) return next;
  if (!isOfOne(before, next))
    throw ofServices(`The journal ${shown} was merged from journals of ${ownerOf(before)}`, next);
  const {service} = next;
  const shard = before.shard === next.shard ? next.shard : undefined;
  return {service, ...defined({account: before.account ?? next.account, shard})};
}

/** The common scope of journals; throws unless all belong to the same service. */
export function commonScope(
  journals: readonly {shown: string; scope: Scope | undefined}[],
): Scope | undefined {
  let common: {shown: string; scope: Scope} | undefined;
  for (const {shown, scope} of journals) {
    if (scope === undefined) continue;
    if (common !== undefined && !isOfOne(common.scope, scope))
      throw ofServices(`${common.shown} is a journal of ${ownerOf(common.scope)}`, scope, shown);
    // The first one that names an account is compared with all after it.
    if (common === undefined || common.scope.account === undefined) common = {shown, scope};
  }
  if (common === undefined) return undefined;
  const {service, account} = common.scope;
  return {service, ...defined({account})};
}

/** Throws unless a run with the scope `asked` may continue a journal. */
export function refuseOtherScope(there: Scope, asked: Scope, shown: string): void {
  if (there.service !== asked.service) {
    throw new MediaError(
      journalCodes.otherService,
      `The journal ${shown} belongs to ${nameOf(there.service)}, but this run uploads to ${nameOf(asked.service)}.`,
      {hint: 'Nothing was sent. Keep a journal for each service: use another file with --journal.'},
    );
  }
  if (!isOfOne(there, asked)) {
    throw new MediaError(
      journalCodes.otherService,
      `The journal ${shown} belongs to ${ownerOf(there)}, but the key of this run belongs to account ${asked.account}.`,
      {
        hint: 'Nothing was sent. Keep a journal for each account: use another file with --journal, or another --profile with --once.',
      },
    );
  }
  if (there.shard === asked.shard) return;
  const [writer, run] = [there, asked].map(({shard}) =>
    shard === undefined ? 'no shard' : `shard ${shard}`,
  );
  throw unusable(
    `The journal ${shown} was written for ${writer}, but this run is for ${run}`,
    'Nothing was sent. Keep a journal for each part; media journal merge combines them into one for runs without --shard.',
  );
}

/** Whether two scopes are of the same service and, as far as both tell, the same account. */
function isOfOne(one: Scope, other: Scope): boolean {
  const isAccountKnown = one.account !== undefined && other.account !== undefined;
  return one.service === other.service && (!isAccountKnown || one.account === other.account);
}

function ofServices(one: string, other: Scope, where?: string): MediaError {
  return new MediaError(
    journalCodes.otherService,
    `${one}, ${where === undefined ? 'and of' : `${where} one of`} ${ownerOf(other)}.`,
    {hint: 'A journal is valid for one service and account only: keep one for each.'},
  );
}

/** The name of the service for messages, with the account if there is one. */
function ownerOf({service, account}: Scope): string {
  return account === undefined ? nameOf(service) : `account ${account} of ${nameOf(service)}`;
}

/** The name of a service for messages. */
function nameOf(service: string): string {
  return service.startsWith('embedded:')
    ? `the embedded service (${service.slice('embedded:'.length)})`
    : service;
}
