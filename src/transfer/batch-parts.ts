import type {RateLimit} from './attempt/rate-limit.ts';
import type {RetryBudget} from './attempt/retry.ts';
import type {Duplicates} from './duplicates.ts';
import type {Gate} from './gate.ts';
import type {Halt} from './halt.ts';

/** State that the files of a batch share. */
export interface BatchParts {
  /** Limits the retries of the whole batch, so that an outage causes a bounded number of requests. */
  budget: RetryBudget;
  /** Closed while the service asks to wait. */
  gate: Gate;
  /** Ends the batch when one file's failure holds for all. */
  halt: Halt;
  rateLimit: RateLimit | undefined;
  /** Set for a dry run. */
  duplicates: Duplicates | undefined;
}
