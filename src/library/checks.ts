import {MediaError} from '../errors.ts';

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
    const hint = `The options: ${Object.keys(checks).join(' ')}.`;
    throw new MediaError('usage', `There is no option "${unknown}".`, {hint});
  }
  for (const name of Object.keys(checks) as (keyof Options & string)[]) checks[name](name, options[name]);
}

/** A check that accepts what `isRight` accepts; a message says that it must be `what`. */
export function required(what: string, isRight: (value: unknown) => boolean): Check {
  return (name, value) => {
    if (!isRight(value)) throw new MediaError('usage', `${name} must be ${what}, not ${kindOf(value)}.`);
  };
}

/** The same for an option that may be left out. */
function optional(what: string, isRight: (value: unknown) => boolean): Check {
  return required(what, value => value === undefined || isRight(value));
}

export const anything: Check = () => {};
export const text = optional('a text', value => typeof value === 'string');
export const flag = optional('true or false', value => typeof value === 'boolean');
export const positive = optional('a number above 0', value => Number.isFinite(value) && Number(value) > 0);
export const textOrUrl = optional('a URL', value => typeof value === 'string' || value instanceof URL);

/** An object with functions. */
export const callbacks = optional('an object', value => typeof value === 'object' && value !== null);

export const abortSignal = optional(
  'an AbortSignal',
  value => typeof (value as AbortSignal | null)?.addEventListener === 'function',
);

export const texts = optional(
  'an array of texts',
  value => Array.isArray(value) && value.every(item => typeof item === 'string'),
);

/** A whole number from `least` to `most`, or one of `words`. */
export function integer(least: number, most: number, ...words: readonly string[]): Check {
  return optional(
    `${words.map(word => `${word} or `).join('')}a whole number from ${least} to ${most}`,
    value =>
      words.includes(String(value)) ||
      (Number.isInteger(value) && Number(value) >= least && Number(value) <= most),
  );
}

export function choice(...words: readonly string[]): Check {
  return optional(words.join(' or '), value => words.some(word => word === value));
}

/** A value as a message shows it, in few characters. */
export function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.slice(0, 60) ?? typeof value;
  return `an object (${value.constructor?.name ?? 'without a prototype'})`;
}

/** Throws a MediaError `usage` for what is not a list of any kind; a text and bytes count as one item, not as a list. */
export function refuseSingle(list: unknown): void {
  const isObject = typeof list === 'object' && list !== null && !ArrayBuffer.isView(list);
  if (isObject && (Symbol.iterator in list || Symbol.asyncIterator in list)) return;
  const hint = "Put a single one into an array: ['photo.png'].";
  throw new MediaError('usage', `Files are given as an array or another iterable, not as ${kindOf(list)}.`, {
    hint,
  });
}
