import {isPage, isUnreachable, type MediaError} from '../../errors.ts';
import {asksForFewer, type Refused, type Unreadable} from '../../service/uploader.ts';

/** How far an attempt got; before `released`, the request cannot take effect (interface, 4.1, rule 1). */
export type Phase = 'opening' | 'connecting' | 'held' | 'released';

/** Why an attempt failed. */
export type Failure =
  /** An error with its own message, from the source or from connecting. */
  | {kind: 'error'; error: MediaError}
  /** The connection broke, or the response is not HTTP. */
  | {kind: 'connection'; cause: unknown}
  /** Nothing could be read, or sent, for so long, or no response came within that time after the last byte. */
  | {kind: 'read-stall' | 'stall' | 'answer-timeout'; afterMs: number}
  /** A 2xx although the last bytes of the body were held back. */
  | {kind: 'premature'; status: number}
  | Unreadable
  | Refused
  /** The run is stopped by a signal or the deadline. */
  | {kind: 'stopped'; error: MediaError};

/** Whether a failure ends the batch: never, if it is the first response of the batch, or always. */
export type Reach = 'never' | 'if-first' | 'always';

export type Decision =
  | {action: 'retry'}
  /** `halt`: whether this ends the batch. */
  | {action: 'fail'; halt: Reach}
  /** `isFinal`: even where an unknown upload is sent again, this one is not. */
  | {action: 'unknown'; isFinal?: true};

const retry: Decision = {action: 'retry'};
const fail: Decision = {action: 'fail', halt: 'never'};
const unknown: Decision = {action: 'unknown'};

/** What the service may know of an idempotency key from the attempts before, which may be those of an earlier run. */
export interface KeyHistory {
  /** Whether there were attempts, and the service honours Idempotency-Key. */
  isHonoured: boolean;
  /** Whether one of them was released. */
  wasReleased: boolean;
}

const newKey: KeyHistory = {isHonoured: false, wasReleased: false};

/** Decides about a failure in a phase, as a pure function; `waitsForNetwork`: until someone has logged in to it. */
export function decide(phase: Phase, failure: Failure, history = newKey, waitsForNetwork = false): Decision {
  switch (failure.kind) {
    case 'error':
      if (failure.error.code === 'local_failure' && phase === 'released') return unknown;
      return decideError(failure.error, waitsForNetwork);
    case 'premature':
      return fail;
    case 'refused':
      if (failure.status !== 409) return decideRefusal(phase, failure);
      // The service may still be processing an earlier attempt with the same key.
      if (history.isHonoured) return retry;
      return history.wasReleased ? {action: 'unknown', isFinal: true} : fail;
    case 'stopped':
      return phase === 'released' ? unknown : fail;
    case 'connection':
    case 'read-stall':
    case 'stall':
    case 'answer-timeout':
    case 'unreadable':
      return phase === 'released' ? unknown : retry;
  }
}

function decideError(error: MediaError, waitsForNetwork: boolean): Decision {
  const {code} = error;
  if (code === 'local_failure' || (isPage(error) && !waitsForNetwork))
    return {action: 'fail', halt: 'always'};
  if (isUnreachable(error) || code === 'too_many_open_files') return retry;
  return code === 'not_http' ? {action: 'fail', halt: 'if-first'} : fail;
}

function decideRefusal(phase: Phase, refusal: Refused): Decision {
  const {status} = refusal;
  if (status === 401) return {action: 'fail', halt: 'always'};
  if (status === 403 || status === 404) return {action: 'fail', halt: 'if-first'};
  if (asksForFewer(status) || (status === 503 && (phase !== 'released' || isOfService(refusal))))
    return refusal.longWaitMs === undefined ? retry : fail;
  if (status === 507 && isOfService(refusal)) return fail;
  if (status === 408 || status >= 500) return phase === 'released' ? unknown : retry;
  return fail;
}

/** What an attempt says of the service: available, `away` as in an outage, or `neither`. */
export type Sign = 'stored' | 'refused' | 'away' | 'neither';

/** Derives the sign from a failed attempt. A pure function. */
export function signOf(failure: Failure, decision: Decision): Sign {
  if (failure.kind === 'stopped') return 'neither';
  if (decision.action === 'unknown') return decision.isFinal ? 'refused' : 'away';
  if (failure.kind === 'error')
    return decision.action === 'retry' && isUnreachable(failure.error) ? 'away' : 'neither';
  if (failure.kind !== 'refused') return 'neither';
  const {status} = failure;
  if (status === 502 || status === 504 || (status === 503 && !isOfService(failure))) return 'away';
  return decision.action === 'fail' || asksForFewer(status) || status === 503 ? 'refused' : 'neither';
}

/**
 * How a failure looks that fewer files at a time might have prevented: `refused` if the service says so, `broken` otherwise;
 * undefined for others. A gateway whose service takes no more answers 500, 502, 503 or 504. A pure function.
 */
export function overloadOf(phase: Phase, failure: Failure): 'refused' | 'broken' | undefined {
  if (failure.kind === 'refused') {
    if (failure.status !== 408 && !asksForFewer(failure.status) && failure.status < 500) return undefined;
    if (failure.status === 507 && isOfService(failure)) return undefined;
    return decide(phase, failure).action === 'unknown' ? 'broken' : 'refused';
  }
  if (failure.kind === 'error')
    return decideError(failure.error, true).action === 'retry' ? 'broken' : undefined;
  return ['unreadable', 'premature', 'stopped'].includes(failure.kind) ? undefined : 'broken';
}

/** Whether a 503 or 507 is the service's own: behind a gateway that sends one, the upload may still be stored. */
export function isOfService({message, serviceCode}: Refused): boolean {
  return message !== undefined && Number.isInteger(serviceCode);
}

const baseMs = 500;
const capMs = 20_000;

/** Backoff with full jitter: a random wait in [0, min(20 s, 500 ms x 2^attempt)) for attempt 0, 1, ... */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(capMs, baseMs * 2 ** attempt);
}

const budgetRetries = 100;

/** Limits the retries of a whole batch: an outage causes at most 100 requests more than there are files. */
export class RetryBudget {
  #left = budgetRetries;

  /** Takes one retry; false if none is left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** An uploaded file returns its retries, or a fifth of one if it had none, as in the AWS SDKs. */
  restore(retries: number): void {
    this.#left = Math.min(budgetRetries, this.#left + Math.max(retries, 0.2));
  }
}

/** About 31 years: any longer time is as good as this. */
const longestSeconds = 999_999_999;

/** Parses Retry-After (RFC 9110, section 10.2.3) into milliseconds from `now`; undefined if it is malformed. */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), longestSeconds) * 1000;
  if (!/^[A-Z][a-z]+,? /.test(text)) return undefined;
  // Of the three date formats, only asctime's omits the zone, which is GMT (RFC 9110, section 5.6.7).
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
