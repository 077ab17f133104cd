import type {MediaError} from '../errors.ts';
import type {Refused, Unreadable} from '../service/uploader.ts';
import type {Reach} from './halt.ts';

/**
 * How far an attempt has come. Until `released`, bytes of the body are withheld, so that by rule 1 of the interface
 * (4.1) the request cannot take effect.
 */
export type Phase = 'opening' | 'connecting' | 'held' | 'released';

/** What went wrong with an attempt. */
export type Failure =
  /** A failure that already has its sentence: of the source, or of making a connection. */
  | {kind: 'error'; error: MediaError}
  /** The connection broke, or what came over it is no HTTP. */
  | {kind: 'connection'; cause: unknown}
  /** No byte could be sent for the stall timeout. */
  | {kind: 'stall'; afterMs: number}
  /** Nothing came back for the answer timeout after the last byte. */
  | {kind: 'answer-timeout'; afterMs: number}
  /** A 2xx although the last bytes of the body were withheld. */
  | {kind: 'premature'; status: number}
  | Unreadable
  | Refused
  /** The run is to end: a signal or the deadline. */
  | {kind: 'stopped'; error: MediaError};

export type Decision =
  | {action: 'retry'}
  /** `halt`: whether it ends the batch. */
  | {action: 'fail'; halt: Reach}
  | {action: 'unknown'};

const retry: Decision = {action: 'retry'};
const fail: Decision = {action: 'fail', halt: 'never'};
const unknown: Decision = {action: 'unknown'};

const passingErrors = new Set([
  'dns_unavailable',
  'connection_refused',
  'connect_timeout',
  'connect_failed',
  'too_many_open_files',
]);

/** What to do about a failure in a phase. Pure; the rows are those of the table in the design of the transfer. */
export function decide(phase: Phase, failure: Failure): Decision {
  switch (failure.kind) {
    case 'error':
      return passingErrors.has(failure.error.code) ? retry : fail;
    case 'premature':
      return fail;
    case 'refused':
      return decideRefusal(phase, failure.status);
    case 'stopped':
      return phase === 'released' ? unknown : fail;
    case 'connection':
    case 'stall':
    case 'answer-timeout':
    case 'unreadable':
      return phase === 'released' ? unknown : retry;
  }
}

function decideRefusal(phase: Phase, status: number): Decision {
  if (status === 401) return {action: 'fail', halt: 'always'};
  if (status === 403 || status === 404) return {action: 'fail', halt: 'if-first'};
  if (status === 429 || status === 503) return retry;
  if (status === 408 || status >= 500) return phase === 'released' ? unknown : retry;
  return fail;
}

const baseMs = 500;
const capMs = 20_000;

/** Full jitter: a random wait in [0, min(20 s, 500 ms x 2^attempt)) for attempt 0, 1, ... */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(capMs, baseMs * 2 ** attempt);
}

const budgetRetries = 100;

/** The retries of a whole batch: however many files fail, an outage costs at most 100 requests more than it has files. */
export class RetryBudget {
  #left = budgetRetries;

  /** Takes one retry; false when none is left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A stored file gives back the retries that it took, and a fifth of one without any, as the AWS SDKs do. */
  restore(retries: number): void {
    this.#left = Math.min(budgetRetries, this.#left + Math.max(retries, 0.2));
  }
}

/** A Retry-After field (RFC 9110, section 10.2.3) as milliseconds from `now`, or undefined when it is neither form. */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]+,? /.test(text)) return undefined;
  // Of the three forms of a date, asctime's alone leaves its zone, GMT, unsaid (RFC 9110, section 5.6.7).
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
