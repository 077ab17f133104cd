import type {ErrorCode} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {wordsOf} from '../../lib/words.ts';
import type {Body, HttpResponse} from '../http/http.ts';
import {bodyText, parseErrorRecord, type ReceivedRecord} from './record.ts';

/** Where files are posted to, below the base URL (interface, 4.1). */
export const uploadPath = '/v1/media/upload';

/** The statuses after which nothing was stored and another try may succeed: the code, what the service did. */
export const retryableRefusals: ReadonlyMap<number, [code: ErrorCode, did: string]> = new Map([
  [429, ['rate_limited', 'received too many requests']],
]);

export function isRetryableRefusal(status: number): boolean {
  return retryableRefusals.has(status);
}

export interface UploadRequest {
  contentType: string;
  /** A UUID, the same for every attempt at one file's content. */
  idempotencyKey: string;
  body: Body;
  signal: StopSignal;
}

export type UploadResponse = Stored | Unreadable | Refused;

/** A 2xx with a media record. */
export interface Stored {
  kind: 'stored';
  received: ReceivedRecord;
}

/** A 2xx without a valid media record; `problem` completes the sentence "the response was ...". */
export interface Unreadable {
  kind: 'unreadable';
  status: number;
  problem: string;
}

/** Any other status. */
export interface Refused {
  kind: 'refused';
  status: number;
  message?: string;
  /** What the response says without an error record, for people only; empty if nothing. */
  words?: string;
  /** The error record's `code`. */
  serviceCode?: number;
  /** The Retry-After field, unparsed. */
  retryAfter?: string;
  /** The Location field, a URL. */
  location?: string;
  /** The WWW-Authenticate field, unparsed. */
  challenge?: string;
}

/** A response that is not a success as a refusal: what its error record, its fields or its page say. */
export function refusalIn({status, headers, body, cut}: HttpResponse): Refused {
  const {'retry-after': retryAfter, location, 'www-authenticate': challenge} = headers;
  const {message, code} = parseErrorRecord(bodyText(body)) ?? {};
  // If a gateway has cut the record off, its code does not show that the service stored nothing.
  const serviceCode = cut ? undefined : code;
  const isReadable = message === undefined && headers['content-encoding'] === undefined;
  const words = isReadable ? wordsOf(body) : undefined;
  const known = omitUndefined({message, words, serviceCode, retryAfter, location, challenge});
  return {kind: 'refused', status, ...known};
}

/** Sends upload requests; rejects if a request cannot be sent or its response cannot be read. */
export interface Uploader {
  upload(request: UploadRequest): Promise<UploadResponse>;
  /** Whether the service honours Idempotency-Key, as its last response that said so declares; undefined if none did. */
  readonly honoursKeys?: boolean | undefined;
  /** Asks whether the service takes requests: undefined, or why not. Without it, a batch waits for no service. */
  probeAvailability?(signal: StopSignal): Promise<string | undefined>;
  /** Asks for the Media-Service-Id, or undefined in time. Without it, a journal knows the service by its URL. */
  serviceId?(signal: StopSignal): Promise<string | undefined>;
}
