import type {RateLimit} from './attempt/rate-limit.ts';
import type {RetryBudget} from './attempt/retry.ts';
import type {Concurrency} from './concurrency.ts';
import type {Duplicates} from './duplicates.ts';
import type {Halt} from './halt.ts';
import type {Descriptors} from './waiting/descriptors.ts';
import type {Outage} from './waiting/outage.ts';

/** State that the files of a batch share. */
export interface BatchParts {
  /** How many files are uploaded at a time. */
  concurrency: Concurrency;
  /** Limits the retries of the whole batch, so that an outage causes a bounded number of requests. */
  budget: RetryBudget;
  /** Keeps files from being sent while the service is away or asks to wait. */
  outage: Outage;
  /** Keeps files from being opened while the process has no descriptor left for them. */
  descriptors: Descriptors;
  /** Ends the batch when the failure of one file applies to all. */
  halt: Halt;
  rateLimit: RateLimit | undefined;
  /** Set for a dry run. */
  duplicates: Duplicates | undefined;
}
