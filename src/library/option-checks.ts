import {MediaError} from '../errors.ts';
import {isPositive, isString, listOf, oneOf} from '../lib/json.ts';

/** Throws a MediaError `usage` if the value of an option cannot be used. */
type Check = (name: string, value: unknown) => void;

/** A check of every option, so that the types and the names that are accepted cannot differ. */
export type Checks<Options> = {readonly [Name in keyof Options]-?: Check};

/** Throws a MediaError `usage` for an option that does not exist, and for a value that cannot be used. */
export function checkOptions<Options extends object>(options: Options, checks: Checks<Options>): void {
  if (typeof options !== 'object' || options === null)
    throw new MediaError('usage', `The options are given as an object, not as ${kindOf(options)}.`);
  const unknown = Object.keys(options).find(name => !Object.hasOwn(checks, name));
  if (unknown !== undefined) {
    const ofClient = 'client' in checks ? ' baseUrl and apiKey are options of MediaClient.' : '';
    const hint = `The options: ${Object.keys(checks).join(' ')}.${ofClient}`;
    throw new MediaError('usage', `There is no option "${unknown}".`, {hint});
  }
  for (const name of Object.keys(checks) as (keyof Options & string)[]) checks[name](name, options[name]);
}

/** A check that accepts what `isRight` accepts; a message says that it must be `what`. */
export function requiredCheck(what: string, isRight: (value: unknown) => boolean): Check {
  return (name, value) => {
    if (!isRight(value)) throw new MediaError('usage', `${name} must be ${what}, not ${kindOf(value)}.`);
  };
}

/** The same for an option that may be left out. */
function optional(what: string, isRight: (value: unknown) => boolean): Check {
  return requiredCheck(what, value => value === undefined || isRight(value));
}

function hasMethod(name: 'next' | 'addEventListener'): (value: unknown) => boolean {
  return value => typeof (value as Record<typeof name, unknown> | null)?.[name] === 'function';
}

export function isUrl(value: unknown): boolean {
  return isString(value) || value instanceof URL;
}

/** The checks of options that may be left out. */
export const check = {
  anything() {},
  text: optional('a text', isString),
  /** What may stand in a header field. */
  visible: optional('a text of ASCII characters', value => isString(value) && /^[ -~]*$/.test(value)),
  texts: optional('an array of texts', listOf(isString)),
  generator: optional('an async generator', hasMethod('next')),
  flag: optional('true or false', oneOf(true, false)),
  positive: optional('a number above 0', isPositive),
  url: optional('a URL', isUrl),
  callback: optional('a function', value => typeof value === 'function'),
  /** An object with functions. */
  callbacks: optional('an object', value => typeof value === 'object' && value !== null),
  signal: optional('an AbortSignal', hasMethod('addEventListener')),
  /** A whole number from `least` to `most`, or the word. */
  integer: (least: number, most: number, word?: string) =>
    optional(
      `${word === undefined ? '' : `${word} or `}a whole number from ${least} to ${most}`,
      value => (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) || value === word,
    ),
  choice: (...words: readonly string[]) => optional(words.join(' or '), oneOf(...words)),
};

/** A value as a message shows it, in few characters. */
export function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.slice(0, 60) ?? typeof value;
  return `an object (${value.constructor?.name ?? 'without a prototype'})`;
}

/** Throws a MediaError `usage` for what is not a list; text and bytes count as one item, not as a list. */
export function refuseSingle(list: unknown): void {
  const isObject = typeof list === 'object' && list !== null && !ArrayBuffer.isView(list);
  if (isObject && (Symbol.iterator in list || Symbol.asyncIterator in list)) return;
  const hint = "Put a single one into an array: ['photo.png'].";
  throw new MediaError('usage', `Files are given as an array or another iterable, not as ${kindOf(list)}.`, {
    hint,
  });
}
