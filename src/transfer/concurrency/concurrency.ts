/** What became of an attempt: `refused` for being one too many at a time, `broken`: fewer at a time may prevent it. */
export type AttemptEnd = 'stored' | 'refused' | 'broken' | 'other';

/** An attempt that is being sent. */
export interface Turn {
  /** Call when some of its bytes, or all, have left over a connection that took so long to open. */
  sent(connectMs: number): void;
  /** Call when nothing more is sent for it. */
  end(how: AttemptEnd): void;
}

/** How many files may be in progress at a time, which may change while they are. */
export interface Concurrency {
  /** The most that the limit can become. */
  readonly most: number;
  /** The limit at this moment; a file that is in progress beyond it is not interrupted. */
  readonly limit: number;
  /** Called when `limit` or `prepared` has risen. */
  onRise: () => void;
  /** How many files may be opened at this moment: more than may be sent if the limit is about to rise. */
  readonly prepared: number;
  /** Called when a file waits because it is one too many until the limit rises; `files`: how many are sent or wait. */
  onPrepared: (files: number) => void;
  /** Resolves when a file of `size` bytes may be sent, which is at once unless the limit has fallen since it was opened. */
  begin(size: number): Promise<Turn> | Turn;
}

/** Always the same number of files at a time. */
export function fixedConcurrency(limit: number): Concurrency {
  const turn = {sent() {}, end() {}};
  return {most: limit, limit, prepared: limit, onRise() {}, onPrepared() {}, begin: () => turn};
}
