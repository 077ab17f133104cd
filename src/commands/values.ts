import {InvalidArgumentError} from 'commander';

const durationUnits: Record<string, number> = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000};

/** A duration such as 500ms, 30s, 10m or 2h, in milliseconds. */
export function parseDuration(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value);
  const ms = match === null ? Number.NaN : Number(match[1]) * (durationUnits[match[2] ?? ''] ?? Number.NaN);
  if (!Number.isFinite(ms) || ms <= 0)
    throw new InvalidArgumentError('Give a duration such as 500ms, 30s, 10m or 2h.');
  return ms;
}

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return value => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most)) {
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}
