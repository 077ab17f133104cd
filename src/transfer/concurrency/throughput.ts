/** Files and bytes per second, of files that were stored. */
export interface Throughput {
  readonly files: number;
  readonly bytes: number;
}

/** A limit, and the throughput that it had. */
export interface Base {
  limit: number;
  throughput: Throughput;
}

/** How many times as many files or bytes, whichever gained more. Any number of files is more than none. */
export function gainOf(now: Throughput, before: Throughput): number {
  if (before.files === 0) return Number.POSITIVE_INFINITY;
  return Math.max(now.files / before.files, before.bytes > 0 ? now.bytes / before.bytes : 0);
}

/** So many times as much. */
export function multiplied(throughput: Throughput, times: number): Throughput {
  return {files: throughput.files * times, bytes: throughput.bytes * times};
}
