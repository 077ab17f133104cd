import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Clock} from '../../host.ts';
import type {ServedConnection} from './connection.ts';
import type {Disturbance} from './disturbance.ts';
import type {BodyPace} from './pace.ts';
import {Refusal} from './refusal.ts';

/** A request with everything that its response needs. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: ServedConnection;
  readonly method: string;
  /** The path of the request target, unchanged, without the query. */
  readonly path: string;
  /** The host and port in the request target, if it has the absolute form. */
  readonly authority: string | undefined;
  readonly clock: Clock;
  readonly pace: BodyPace;
  /** Header fields of every response. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  /** Sends 100 Continue if the client expects it; call it before reading the body. */
  readonly acceptBody: () => void;
  /** Bytes of the request's body that have arrived so far. */
  received: number;
  /** Bytes of the response's body. */
  sent: number;
  /** What is done to the exchange on purpose. */
  disturbance: Disturbance | undefined;
}

/** Makes the exchange for a request. */
export function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  connection: ServedConnection,
  {clock, pace}: {clock: Clock; pace: BodyPace},
  commonHeaders: Readonly<Record<string, string>>,
  acceptBody: () => void,
): Exchange {
  return {
    request,
    response,
    connection,
    method: request.method ?? '',
    ...parseTarget(request.url ?? ''),
    clock,
    pace,
    commonHeaders,
    acceptBody,
    received: 0,
    sent: 0,
    disturbance: undefined,
  };
}

/** Splits a request target in origin or absolute form (RFC 9112, 3.2); any other becomes a path that does not exist. */
function parseTarget(target: string): {path: string; authority: string | undefined} {
  if (target.startsWith('/')) return {path: target.replace(/[?#].*$/s, ''), authority: undefined};
  const match = /^http:\/\/([^/?#]*)([^?#]*)/i.exec(target);
  return {path: match === null ? target : match[2] || '/', authority: match?.[1]};
}

/**
 * Throws unless the Host field names this service: a name that resolves to its address by DNS rebinding is refused. `names` are
 * those that are answered besides loopback, with a port or with any.
 */
export function checkHost({request, authority}: Exchange, port: number, names: readonly string[]): void {
  const fields = request.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'host',
  ).length;
  if (fields !== 1) throw new Refusal(400, 'A request carries exactly one Host field.');
  const host = (authority ?? request.headers.host ?? '').toLowerCase();
  const [, name = '', given = '80'] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (['localhost', '127.0.0.1', '[::1]'].includes(name) && Number(given) === port) return;
  if (name !== '' && names.some(one => [host, name].includes(one.toLowerCase()))) return;
  const others = names.length === 0 ? '' : `, and for ${names.join(', ')}`;
  throw new Refusal(
    421,
    `This service answers for localhost, 127.0.0.1 and [::1] on port ${port} only${others}. Allow another name with --allow-host.`,
  );
}

/** Whether a body is still to be received. */
export function isBodyPending(request: IncomingMessage): boolean {
  const declared =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  return declared && !request.complete;
}
