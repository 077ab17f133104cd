import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Clock} from '../../host.ts';
import type {ServedConnection} from './connection.ts';
import type {BodyPace} from './pace.ts';
import {Refusal} from './refusal.ts';

/** One request, and what its answer needs. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: ServedConnection;
  readonly method: string;
  /** The path of the request target, as sent, without the query. */
  readonly path: string;
  /** The host and port that the client means, where the request target says so (absolute form). */
  readonly authority: string | undefined;
  readonly clock: Clock;
  readonly pace: BodyPace;
  /** Header fields that every answer carries. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  /** Tells a client that asked (`Expect: 100-continue`) to send its body; call it before reading the body. */
  readonly acceptBody: () => void;
  /** Bytes of the request's body that arrived so far. */
  received: number;
  /** Bytes of the answer's body. */
  sent: number;
}

/** The exchange that a request begins. */
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
  };
}

/** Splits a request target in origin form or absolute form (RFC 9112, 3.2); any other is a path that names nothing. */
function parseTarget(target: string): {path: string; authority: string | undefined} {
  if (target.startsWith('/')) return {path: target.replace(/[?#].*$/s, ''), authority: undefined};
  const match = /^http:\/\/([^/?#]*)([^?#]*)/i.exec(target);
  return {path: match === null ? target : match[2] || '/', authority: match?.[1]};
}

/**
 * Throws unless the request is meant for this service: a name that resolves to loopback only by a trick (DNS
 * rebinding) shows itself in the Host field.
 */
export function checkHost({request, authority}: Exchange, port: number): void {
  const fields = request.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'host',
  ).length;
  if (fields !== 1) throw new Refusal(400, 'A request carries exactly one Host field.');
  const match = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i.exec(
    authority ?? request.headers.host ?? '',
  );
  if (match === null || Number(match[1] ?? 80) !== port) {
    throw new Refusal(421, `This service answers for localhost, 127.0.0.1 and [::1] on port ${port} only.`);
  }
}

/** Whether the client is to send, or is still sending, a body. */
export function isBodyPending(request: IncomingMessage): boolean {
  const declared =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  return declared && !request.complete;
}
