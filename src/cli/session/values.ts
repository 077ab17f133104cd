import {InvalidArgumentError, Option} from 'commander';
import {safeUrl} from '../../lib/url.ts';
import {
  concurrencyValue,
  durationValue,
  rateValue,
  sizeValue,
  type ValueKind,
} from '../../lib/value-kinds.ts';

/** A parser of an option's value. Error messages and `media help --json` say what it takes. */
export type ValueParser<Value> = ((text: string) => Value) & Pick<ValueKind<Value>, 'type' | 'takes'>;

/** The parser of a kind of value, for commander: it throws what commander reports as a usage error. */
function valueParser<Value>({type, takes, read}: ValueKind<Value>): ValueParser<Value> {
  const parse = (text: string): Value => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(`Use ${takes}.`);
    return value;
  };
  return Object.assign(parse, {type, takes});
}

export const parseDuration = valueParser(durationValue);
export const parseRate = valueParser(rateValue);
export const parseSize = valueParser(sizeValue);
export const parseUrl = valueParser({
  type: 'url',
  takes: 'a URL that begins with https:// or http://',
  read: text => safeUrl(text) && text,
});

/** How long a command waits for the response to a question about a key, or to a GraphQL request. */
export function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to wait for a response')
    .argParser(parseDuration)
    .default(30_000, '30s');
}

/** Makes a parser for whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): ValueParser<number> {
  const read = (text: string) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  };
  return valueParser({type: 'integer', takes: `a whole number from ${least} to ${most}`, read});
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Which files directories, patterns and lists mean. */
export function selectionOptions(): Option[] {
  const repeatable = (flags: string, meaning: string) => new Option(flags, meaning).argParser(collect);
  return [
    repeatable('--exclude <pattern>', 'leave out matching files'),
    repeatable('--files-from <file>', 'read file names from this file, or -'),
    new Option('--all', 'include hidden files, and files of other types'),
  ];
}

export function typesOption(): Option {
  return new Option('--types <rule>', 'what decides the type')
    .choices(['extension', 'content', 'strict'])
    .default('extension');
}

/** The choices of `--geotags`: what is done about the location in each file. */
const geotagModes = ['keep', 'warn', 'strip'] as const;

export type GeotagFlag = (typeof geotagModes)[number];

export function geotagsOption(): Option {
  return new Option('--geotags <mode>', 'how to treat locations in files')
    .choices(geotagModes)
    .default(undefined, 'keep');
}

export function concurrencyOption(): Option {
  return new Option('-c, --concurrency <n>', 'how many files at a time')
    .argParser(valueParser(concurrencyValue))
    .default(undefined, 'auto');
}
