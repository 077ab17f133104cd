import {MediaError} from '../../errors.ts';
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
  const {version, service, shard} = parsed;
  if (version !== 2 || service === undefined) throw ofOtherVersion(parsed, shown);
  return {service, ...(shard === undefined ? {} : {shard})};
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
  if (before === undefined || (before.service === next.service && before.shard === next.shard)) return next;
  if (before.service === next.service) return {service: next.service};
  throw ofServices(
    `The journal ${shown} was merged from journals of ${nameOf(before.service)}`,
    next.service,
  );
}

/** The common scope of journals; throws unless all belong to the same service. */
export function commonScope(
  journals: readonly {shown: string; scope: Scope | undefined}[],
): Scope | undefined {
  let first: {shown: string; scope: Scope | undefined} | undefined;
  for (const journal of journals) {
    if (journal.scope === undefined) continue;
    first ??= journal;
    if (first.scope?.service === journal.scope.service) continue;
    throw ofServices(
      `${first.shown} is a journal of ${nameOf(first.scope?.service ?? '')}`,
      journal.scope.service,
      journal.shown,
    );
  }
  return first?.scope === undefined ? undefined : {service: first.scope.service};
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
  if (there.shard === asked.shard) return;
  const [writer, run] = [there, asked].map(({shard}) =>
    shard === undefined ? 'no shard' : `shard ${shard}`,
  );
  throw unusable(
    `The journal ${shown} was written for ${writer}, but this run is for ${run}`,
    'Nothing was sent. Keep a journal for each part; media journal merge combines them into one for runs without --shard.',
  );
}

function ofServices(one: string, other: string, where?: string): MediaError {
  return new MediaError(
    journalCodes.otherService,
    `${one}, ${where === undefined ? 'and of' : `${where} one of`} ${nameOf(other)}.`,
    {hint: 'A journal is valid for one service only: keep one for each.'},
  );
}

/** The name of a service for messages. */
function nameOf(service: string): string {
  return service.startsWith('embedded:')
    ? `the embedded service (${service.slice('embedded:'.length)})`
    : service;
}
