import {InvalidArgumentError, Option} from 'commander';
import {own} from '../lib/object.ts';
import {transferDefaults} from '../transfer/options.ts';

const durationUnits: Record<string, number> = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000};

/** A parser of an option's value. Error messages and `media help --json` say what it takes. */
export interface ValueParser<Value> {
  (text: string): Value;
  /** The kind of value in one word, such as `duration`. */
  readonly type: string;
  /** Completes the sentence "Use ...". */
  readonly takes: string;
}

/** Makes a parser; `read` returns undefined for a text that is not such a value. */
function valueParser<Value>(
  type: string,
  takes: string,
  read: (text: string) => Value | undefined,
): ValueParser<Value> {
  const parse = (text: string): Value => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(`Use ${takes}.`);
    return value;
  };
  return Object.assign(parse, {type, takes});
}

/** Parses a duration such as 500ms, 30s, 10m or 2h into milliseconds. */
export const parseDuration = valueParser('duration', 'a duration such as 500ms, 30s, 10m or 2h', text => {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const ms =
    match === null ? Number.NaN : Number(match[1]) * (own(durationUnits, match[2] ?? '') ?? Number.NaN);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
});

/** How long a command waits for the response to a question about a key, or to a GraphQL request. */
export function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to wait for a response')
    .argParser(parseDuration)
    .default(30_000, '30s');
}

/** Makes a parser for whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): ValueParser<number> {
  return valueParser('integer', `a whole number from ${least} to ${most}`, text => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  });
}

const sizeUnits: Record<string, number> = {'': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3};

/** Parses bytes per second, such as 500000, 500K or 1.5M; as in curl, units are powers of 1024. */
export const parseRate = valueParser('rate', 'bytes per second, such as 500000, 500K or 2M', text => {
  const rate = bytesOf(text);
  return rate >= 1 ? rate : undefined;
});

/** Parses a size in bytes, such as 500000, 500K or 1.5G, with the same units. */
export const parseSize = valueParser('size', 'a size in bytes, such as 500000, 20M or 2G', text => {
  const size = Math.floor(bytesOf(text));
  return size >= 1 ? size : undefined;
});

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
const parseConcurrency = valueParser(
  'concurrency',
  'a whole number from 1 to 1000, auto, or auto:N with such a number',
  (text): number | {most: number} | undefined => {
    if (text === 'auto') return transferDefaults.concurrency;
    const number = /^(?:auto:)?(\d+)$/.exec(text)?.[1];
    const most = Number(number);
    if (number === undefined || most < 1 || most > 1000) return undefined;
    return text.startsWith('auto:') ? {most} : most;
  },
);
