import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import type {Clock} from '../../host.ts';
import {Stop} from '../../lib/stop.ts';
import {Refusal} from './refusal.ts';

/** What a server gives to each of its exchanges. */
interface ExchangeOptions {
  readonly clock: Clock;
  readonly pace: BodyPace;
  /** Header fields of every response, and those that let a page of another origin read this one. */
  commonHeaders: Readonly<Record<string, string>>;
}

/** A request with everything that its response needs. */
export type Exchange = ReturnType<typeof exchangeOf>;

/** A new exchange; `options` are copied, so that a handler may change `commonHeaders` of this exchange. */
export function exchangeOf(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions) {
  return {
    ...options,
    request,
    response,
    connection: connectionOf(request.socket),
    method: request.method ?? '',
    ...parseTarget(request.url ?? ''),
    /** Bytes of the request's body that have arrived so far. */
    received: 0,
    /** Bytes of the response's body. */
    sent: 0,
    /** What is done to the exchange on purpose. */
    disturbance: undefined as Disturbance | undefined,
  };
}

/**
 * The path of a request target in origin or absolute form (RFC 9112, 3.2), unchanged, without the query, and the host
 * and port in it, if it has the absolute form; any other target becomes a path that does not exist.
 */
function parseTarget(target: string): {path: string; authority: string | undefined} {
  if (target.startsWith('/')) return {path: target.replace(/[?#].*$/s, ''), authority: undefined};
  const match = /^http:\/\/([^/?#]*)([^?#]*)/i.exec(target);
  return {path: match === null ? target : match[2] || '/', authority: match?.[1]};
}

/** Throws unless Host names loopback or one of `names`: DNS rebinding leads other names to this address. */
export function checkHost({request, authority}: Exchange, port: number, names: readonly string[]): void {
  if (request.headersDistinct['host']?.length !== 1)
    throw new Refusal(400, 'A request must have exactly one Host field.');
  const host = (authority ?? request.headers.host ?? '').toLowerCase();
  const [, name = '', namedPort = '80'] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (['localhost', '127.0.0.1', '[::1]'].includes(name) && Number(namedPort) === port) return;
  if (name !== '' && names.some(one => [host, name].includes(one.toLowerCase()))) return;
  const others = names.length === 0 ? '' : `, and for ${names.join(', ')}`;
  throw new Refusal(
    421,
    `This service accepts requests for localhost, 127.0.0.1 and [::1] on port ${port} only${others}. Allow another name with --allow-host.`,
  );
}

/** Whether a body is still to be received. */
export function isBodyPending(request: IncomingMessage): boolean {
  const declared =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  return declared && !request.complete;
}

/** The state of a client connection across requests. */
interface ServedConnection {
  /** Aborted by an error of the HTTP parser or the socket; there will be no further requests. */
  readonly failed: Stop<unknown>;
  /** The last response was sent: what still arrives is read and dropped. */
  closing: boolean;
  /** The number of requests without a complete response. */
  pending: number;
  /** Resolves when all requests so far were handled. */
  turn: Promise<void>;
}

const connections = new WeakMap<Duplex, ServedConnection>();

/** The state of the connection: the same object for every request of a socket. */
export function connectionOf(socket: Duplex): ServedConnection {
  const connection = connections.get(socket) ?? {
    failed: new Stop(),
    closing: false,
    pending: 0,
    turn: Promise.resolve(),
  };
  connections.set(socket, connection);
  return connection;
}

/** A point in the processing of a request: its head was read, its body was received, its change was stored. */
export type Stage = 'head' | 'body' | 'store';

/** What is done to an exchange on purpose, by the faults that apply to it. */
export interface Disturbance {
  /** The faults that were applied so far, as they were written. */
  readonly appliedFaults: readonly string[];
  /** Resolves when the request may go on; rejects with an ExchangeOver if a fault has ended it. */
  at(stage: Stage): Promise<void>;
  /** Resolves when the bandwidth allows this many more bytes of a body. */
  pace(bytes: number): Promise<void>;
  /** Whether the response is to end in the middle of its body. */
  cuts(): boolean;
  instead(response: PlainResponse): PlainResponse;
}

/** A response whose body is a text. */
export interface PlainResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Thrown when an exchange has ended before its response: nothing else is to be sent. */
export class ExchangeOver extends Error {
  override readonly name = 'ExchangeOver';
}

/** The slowest pace of requests and responses: below real clients, above connections held open on purpose. */
export interface BodyPace {
  /** How long a request's head may take, in milliseconds; also the timeout of connections without a request. */
  headMs: number;
  /** The least average rate per window: slower bodies get a 408, and slower readers of a response are disconnected. */
  bytesPerSecond: number;
  /** In milliseconds. */
  windowMs: number;
}

export const defaultPace: BodyPace = {headMs: 60_000, bytesPerSecond: 100, windowMs: 60_000};

/** What a request is for, by the beginning of its path: metrics and faults distinguish no more than that. */
export function operationOf(path: string): string {
  if (path === '/v1/media/upload') return 'upload';
  const [, first] = /^\/(graphql|files|thumbnails|streams|metrics|healthz)(?:\/|$)/.exec(path) ?? [];
  return first ?? 'other';
}

/** The token of a bearer credential; empty without one. */
export function bearerOf({authorization = ''}: IncomingHttpHeaders): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
}
