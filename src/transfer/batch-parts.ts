import type {Duplicates} from './duplicates.ts';
import type {Gate} from './gate.ts';
import type {Halt} from './halt.ts';
import type {RateLimit} from './rate-limit.ts';
import type {RetryBudget} from './retry.ts';

/** What the files of a batch share. */
export interface BatchParts {
  /** Retries are taken from it, so that an outage costs a bounded number of requests. */
  budget: RetryBudget;
  /** Closed while the service asks for time. */
  gate: Gate;
  /** What one file learns may end the batch. */
  halt: Halt;
  rateLimit: RateLimit | undefined;
  /** Of a dry run. */
  duplicates: Duplicates | undefined;
}
