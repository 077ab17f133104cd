import {InvalidArgumentError, Option} from 'commander';
import {own} from '../lib/object.ts';
import {transferDefaults} from '../transfer/options.ts';

const durationUnits: Record<string, number> = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000};

/** Parses a duration such as 500ms, 30s, 10m or 2h into milliseconds. */
export function parseDuration(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value);
  const ms =
    match === null ? Number.NaN : Number(match[1]) * (own(durationUnits, match[2] ?? '') ?? Number.NaN);
  if (!Number.isFinite(ms) || ms <= 0)
    throw new InvalidArgumentError('Use a duration such as 500ms, 30s, 10m or 2h.');
  return ms;
}

/** How long a command waits for the response to a question about a key, or to a GraphQL request. */
export function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to wait for a response')
    .argParser(parseDuration)
    .default(30_000, '30s');
}

/** Makes a parser for whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return value => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most)) {
      throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

const sizeUnits: Record<string, number> = {'': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3};

/** Parses bytes per second, such as 500000, 500K or 1.5M; as in curl, units are powers of 1024. */
export function parseRate(value: string): number {
  const rate = bytesOf(value);
  if (!(rate >= 1)) throw new InvalidArgumentError('Use bytes per second, such as 500000, 500K or 2M.');
  return rate;
}

/** Parses a size in bytes, such as 500000, 500K or 1.5G, with the same units. */
export function parseSize(value: string): number {
  const size = Math.floor(bytesOf(value));
  if (!(size >= 1)) throw new InvalidArgumentError('Use a size in bytes, such as 500000, 20M or 2G.');
  return size;
}

function bytesOf(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMG]?)B?$/i.exec(value);
  return match === null ? 0 : Number(match[1]) * (own(sizeUnits, (match[2] ?? '').toUpperCase()) ?? 0);
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Which files directories, patterns and lists stand for. */
export function selectionOptions(): Option[] {
  const repeatable = (flags: string, meaning: string) => new Option(flags, meaning).argParser(collect);
  return [
    repeatable('--exclude <pattern>', 'skip matching files (directories, patterns, lists)'),
    repeatable('--files-from <file>', 'read names from a file, or from - for standard input'),
    new Option('--all', 'include hidden files, and try files that are not images or videos'),
  ];
}

export function typesOption(): Option {
  return new Option('--types <rule>', 'what decides the content type')
    .choices(['extension', 'content', 'strict'])
    .default('extension');
}

export function concurrencyOption(): Option {
  return new Option('-c, --concurrency <n>', 'files to upload at the same time; auto adapts to the network')
    .argParser(parseConcurrency)
    .default(transferDefaults.concurrency, 'auto');
}

/** Parses how many files to upload at a time: a number, or `auto` or `auto:N` for as many as make it faster, at most N. */
function parseConcurrency(value: string): number | {most: number} {
  const parseNumber = wholeNumber(1, 1000);
  if (value === 'auto') return transferDefaults.concurrency;
  try {
    return value.startsWith('auto:') ? {most: parseNumber(value.slice('auto:'.length))} : parseNumber(value);
  } catch {
    throw new InvalidArgumentError('Use a whole number from 1 to 1000, auto, or auto:N with such a number.');
  }
}
