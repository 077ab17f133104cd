import {type Compact, own} from './object.ts';
import {undefinedIfThrows} from './system-code.ts';

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is in a value of JSON at the end of these keys; undefined if there is nothing. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return /^\d+$/.test(key) ? at[Number(key)] : undefined;
    return isObject(at) ? own(at, key) : undefined;
  }, value);
}

/** JSON.parse accepts any depth, but code that walks the value would overflow its stack. */
const deepestNesting = 500;

/** Whether a text is nested too deeply to be read; the text need not be JSON. */
export function isNestedTooDeeply(text: string, deepest = deepestNesting): boolean {
  // Each level takes two characters.
  if (text.length <= 2 * deepest) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isString) {
      if (unit === backslash) at += 1;
      else if (unit === quote) isString = false;
    } else if (unit === quote) isString = true;
    else if (unit === openBracket || unit === openBrace) depth += 1;
    else if (unit === closeBracket || unit === closeBrace) depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** Whether a text is JSON of any kind. */
export function isJson(text: string): boolean {
  return undefinedIfThrows(() => JSON.parse(text)) !== undefined;
}

const stringOrNumber = /("[^"\\]*(?:\\.[^"\\]*)*")|(-?\d[\d.eE+-]*)/g;
/** Without a match, a text has only numbers that JavaScript represents exactly. */
const largeNumber = /\d{16}|\d[eE]/;

/** Parses JSON like JSON.parse, but numbers that JavaScript cannot hold become texts of their digits. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!largeNumber.test(text)) return value;
  return JSON.parse(
    text.replace(stringOrNumber, (token, string: string | undefined) =>
      string !== undefined || isRepresentable(token) ? token : `"${token}"`,
    ),
  );
}

/** Whether JavaScript represents this number: an integer exactly, others approximately. */
export function isRepresentable(token: string): boolean {
  const number = Number(token);
  return Number.isFinite(number) && (!/^-?\d{16,}$/.test(token) || Number.isSafeInteger(number));
}

/** Parses a JSON object whose members may add `wrapping` levels; undefined for other values, and nested too deeply. */
export function parseObject(
  text: string,
  {wrapping = 0, parse = JSON.parse as typeof parseJson} = {},
): Record<string, unknown> | undefined {
  if (isNestedTooDeeply(text, deepestNesting + wrapping)) return undefined;
  const value = undefinedIfThrows(() => parse(text));
  return isObject(value) ? value : undefined;
}

/** What the fields of a stored object must be; fields that are not listed may be anything. */
export type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

export type ShapeOf<S extends Shape> = Compact<{
  [Field in keyof S]: S[Field] extends (value: unknown) => value is infer Value ? Value : never;
}>;

export function hasShape<S extends Shape>(value: object, shape: S): value is ShapeOf<S> {
  return wrongField(value, shape) === undefined;
}

/** The first field of an object that does not match the shape. */
export function wrongField(value: object, shape: Shape): string | undefined {
  const fields: Record<string, unknown> = {...value};
  return Object.entries(shape).find(([field, isRight]) => !isRight(own(fields, field)))?.[0];
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isPositive(value: unknown): value is number {
  return Number.isFinite(value) && Number(value) > 0;
}

/** Whether a value is a whole number above 0 that is exact. */
export function isCount(value: unknown): value is number {
  return isPositive(value) && Number.isSafeInteger(value);
}

export function oneOf<const Value>(...values: readonly Value[]): (value: unknown) => value is Value {
  return (value): value is Value => values.some(one => one === value);
}

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** Whether a value is a list whose items all satisfy `isItem`. */
export function listOf<Item>(isItem: (value: unknown) => value is Item): (value: unknown) => value is Item[] {
  return (value): value is Item[] => isList(value) && value.every(isItem);
}

export function matching(pattern: RegExp): (value: unknown) => value is string {
  return (value): value is string => isString(value) && pattern.test(value);
}

export const isSha256 = matching(/^[0-9a-f]{64}$/);

/** Whether a value is undefined or satisfies `isValue`. */
export function optional<Value>(
  isValue: (value: unknown) => value is Value,
): (value: unknown) => value is Value | undefined {
  return (value): value is Value | undefined => value === undefined || isValue(value);
}
