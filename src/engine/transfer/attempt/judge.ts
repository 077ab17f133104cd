import {isPage, isUnreachable, type MediaError} from '../../../errors.ts';
import {isRetryableRefusal, type Refused, type Unreadable} from '../../service/uploader.ts';

/** How far an attempt got; before `released`, the request cannot take effect (interface, 4.1, rule 1). */
export type Phase = 'opening' | 'connecting' | 'sending' | 'released';

/** Why an attempt failed. */
export type Failure =
  /** An error with its own message, from the source or from connecting. */
  | {kind: 'error'; error: MediaError}
  /** The connection broke, or the response is not HTTP. */
  | {kind: 'connection'; cause: unknown}
  /** Nothing could be read, or sent, for so long, or no response came within that time after the last byte. */
  | {kind: 'read-stall' | 'stall' | 'response-timeout'; afterMs: number}
  /** A 2xx although the last bytes of the body were held back. */
  | {kind: 'premature'; status: number}
  | Unreadable
  | Refused
  /** The run is stopped by a signal or the deadline. */
  | {kind: 'stopped'; error: MediaError};

/** Whether a failure ends the batch: never, if it is the first response of the batch, or always. */
export type AbortScope = 'never' | 'if-first' | 'always';

/** What an attempt says of the service: it stored or refused the file, or it is `away` as in an outage. */
export type Availability = 'stored' | 'refused' | 'away' | 'neither';

/** What a failed attempt means for its file, for the batch, and for when the next file may be sent. */
export interface FailureVerdict {
  action: 'retry' | 'fail' | 'unknown';
  /** The file is not sent again, not even where unknown uploads are. */
  isFinal: boolean;
  abortScope: AbortScope;
  availability: Availability;
  /** Set if fewer files at a time might have prevented it: `refused` if the service says so, `broken` otherwise. */
  overload?: 'refused' | 'broken' | undefined;
  /** How long the file waits as the response asks, in milliseconds; backoff if undefined. */
  waitMs?: number | undefined;
  /** How long all files wait, in milliseconds; `backoff`: the service asks for fewer requests and names no time. */
  batchWait?: number | 'backoff' | undefined;
  /** How long the response asks to wait, in milliseconds, if that is longer than permitted. */
  longWaitMs?: number;
}

/** What judge() knows beside the failure. */
interface Circumstances {
  /** Whether the key was used in attempts before, maybe by an earlier run, and the service honours Idempotency-Key. */
  isHonoured?: boolean;
  /** Whether one of the attempts before was released. */
  wasReleased?: boolean;
  /** Whether a network whose proxy responds with a page is waited for, until someone has logged in to it. */
  waitsForNetwork?: boolean | undefined;
  /** The time, and the longest Retry-After to wait for, in milliseconds. */
  now?: number;
  retryMaxWaitMs?: number;
}

const fail = {action: 'fail', isFinal: true, abortScope: 'never', availability: 'neither'} as const;
const retry = {...fail, action: 'retry', isFinal: false, overload: 'broken'} as const;
const unknown = {...retry, action: 'unknown', availability: 'away'} as const;

/** What a failed attempt means, by how far it got. Only this decides it; before a release, trying again is safe. */
export function judge(phase: Phase, failure: Failure, circumstances: Circumstances = {}): FailureVerdict {
  const isReleased = phase === 'released';
  switch (failure.kind) {
    case 'error':
      return judgeError(isReleased, failure.error, circumstances.waitsForNetwork);
    case 'refused':
      return judgeRefusal(isReleased, failure, circumstances);
    case 'premature':
      return fail;
    case 'stopped':
      return isReleased ? {...unknown, availability: 'neither', overload: undefined} : fail;
    case 'unreadable':
      return {...(isReleased ? unknown : retry), overload: undefined};
    default:
      return isReleased ? unknown : retry;
  }
}

/** What an error with its own message means. Only a failure in this process can leave the file unknown. */
function judgeError(isReleased: boolean, error: MediaError, waitsForNetwork = false): FailureVerdict {
  const {code} = error;
  if (code === 'local_failure' && isReleased) return {...unknown, overload: undefined};
  if (code === 'local_failure' || (isPage(error) && !waitsForNetwork)) return {...fail, abortScope: 'always'};
  if (isUnreachable(error)) return {...retry, availability: 'away'};
  if (code === 'too_many_open_files') return retry;
  return code === 'not_http' ? {...fail, abortScope: 'if-first'} : fail;
}

/** What a status means. After the release, 408 and 5xx leave the file unknown, except the service's own 503 and 507. */
function judgeRefusal(
  isReleased: boolean,
  refusal: Refused,
  {isHonoured, wasReleased, now = 0, retryMaxWaitMs = Number.POSITIVE_INFINITY}: Circumstances,
): FailureVerdict {
  const {status, retryAfter} = refusal;
  const isOwn = isOfService(refusal);
  const refused = {...fail, availability: 'refused'} as const;
  // No file can be sent with an unknown key; 403 and 404 may be about one file only, unless no response came before.
  if (status === 401) return {...refused, abortScope: 'always'};
  if (status === 403 || status === 404) return {...refused, abortScope: 'if-first'};
  const askedMs = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, now);
  const isLong = askedMs !== undefined && askedMs > retryMaxWaitMs;
  const wait = isLong ? {longWaitMs: askedMs} : {waitMs: askedMs};
  if (status === 409) {
    // The service may still be processing an earlier attempt with the same key; without keys, it is like any refusal.
    if (isHonoured) return {...retry, overload: undefined, ...wait};
    return wasReleased ? {...refused, action: 'unknown'} : refused;
  }
  if (isRetryableRefusal(status) || (status === 503 && isOwn)) {
    const batchWait = isLong ? undefined : (askedMs ?? 'backoff');
    return {...(isLong ? fail : retry), availability: 'refused', overload: 'refused', ...wait, batchWait};
  }
  if ((status < 500 && status !== 408) || (status === 507 && isOwn)) return refused;
  const ofGateway = status === 503 ? {...wait, batchWait: wait.waitMs} : wait;
  if (isReleased) return {...unknown, ...ofGateway};
  const availability = status >= 502 && status <= 504 ? 'away' : 'neither';
  return {...(isLong && status === 503 ? fail : retry), availability, overload: 'refused', ...ofGateway};
}

/** Whether a 503 or 507 is the service's own: behind a gateway that sends one, the upload may still be stored. */
export function isOfService({message, serviceCode}: Refused): boolean {
  return message !== undefined && Number.isInteger(serviceCode);
}

/** Backoff with full jitter: a random wait in [0, min(20 s, 500 ms x 2^attempt)) for attempt 0, 1, ... */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(20_000, 500 * 2 ** attempt);
}

/** Parses Retry-After (RFC 9110, section 10.2.3) into milliseconds from `now`; undefined if it is malformed. */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  // About 31 years: any longer time is as good as this.
  if (/^\d+$/.test(text)) return Math.min(Number(text), 999_999_999) * 1000;
  if (!/^[A-Z][a-z]+,? /.test(text)) return undefined;
  // Of the three date formats, only asctime's omits the zone, which is GMT (RFC 9110, section 5.6.7).
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
