/** What became of an attempt: `refused` for being one too many at a time, `broken`: fewer at a time may prevent it. */
export type AttemptEnd = 'stored' | 'refused' | 'broken' | 'other';

/** Call when nothing more is sent for a file. */
export type EndAttempt = (how: AttemptEnd) => void;

/** How many files may be in progress at a time, which may change while they are. */
export interface Concurrency {
  /** The most that the limit can become. */
  readonly most: number;
  /** The limit at this moment; a file that is in progress beyond it is not interrupted. */
  readonly limit: number;
  /** Called when `limit` has risen. */
  onRise: () => void;
  /** Resolves when a file of `size` bytes may be sent, which is at once unless the limit has fallen since it was opened. */
  begin(size: number): Promise<EndAttempt> | EndAttempt;
}

/** A fixed number of files at a time, or as many as raise the throughput, up to `most`. */
export type ConcurrencyOption = number | {readonly most: number};

/** As many files at a time as hardly any service finds too many. */
export const safeConcurrency = 8;

/** Always the same number of files at a time. */
export function fixedConcurrency(limit: number): Concurrency {
  return {most: limit, limit, onRise() {}, begin: () => () => {}};
}
