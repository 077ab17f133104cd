/** How many files may be in progress at a time, which may change while they are. */
export interface Concurrency {
  /** The most that the limit can become. */
  readonly most: number;
  /** The limit at this moment; a file that is in progress beyond it is not interrupted. */
  readonly limit: number;
  /** Called when the limit has risen. */
  onRise: () => void;
  /** Call before the first byte of a file is sent, with its size in bytes. */
  began(size: number): void;
  /** Call when nothing more is sent for that file, and with whether it was stored. */
  ended(size: number, isStored: boolean): void;
  /** Call when an attempt failed in a way that fewer files at a time may prevent. */
  setback(): void;
}

/** Always the same number of files at a time. */
export function fixedConcurrency(limit: number): Concurrency {
  return {most: limit, limit, onRise: () => {}, began: () => {}, ended: () => {}, setback: () => {}};
}
