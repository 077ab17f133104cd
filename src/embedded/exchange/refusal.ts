import {isOutOfDescriptors, isOutOfSpace, systemCode} from '../../lib/system-code.ts';

/** A response with an error record, thrown to refuse a request. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** The HTTP status; also the error record's `code`. */
  readonly status: number;
  /** Further header fields of the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The 405 for a path that has these methods only. */
export function wrongMethod(methods: readonly string[]): Refusal {
  const list = methods.join(', ');
  return new Refusal(405, `The method must be ${list.replace(/, (\w+)$/, ' or $1')}.`, {Allow: list});
}

/** What handles the requests of a path, with these methods. */
export type Route<Handle> = readonly [path: RegExp, methods: readonly string[], handle: Handle];

/** The handler of a request, and the parts of its path; throws a 404 or a 405. */
export function routeFor<Handle>(
  routes: readonly Route<Handle>[],
  {path, method}: {path: string; method: string},
): {handle: Handle; id: string; name: string} {
  for (const [pattern, methods, handle] of routes) {
    const [match, id = '', name = ''] = pattern.exec(path) ?? [];
    if (match === undefined) continue;
    if (!methods.includes(method)) throw wrongMethod(methods);
    return {handle, id, name};
  }
  throw new Refusal(404, 'There is nothing at this URL.');
}

/** The methods of what can be read. */
export const reads = ['GET', 'HEAD'];

/** The refusal for a thrown value; undefined for an internal error. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof InvalidOption) return new Refusal(400, `${error.message} ${error.hint}`);
  if (isOutOfSpace(error)) return new Refusal(507, 'There is no space left in the data directory.');
  if (isOutOfDescriptors(error))
    return new Refusal(503, 'There are too many open files.', {'Retry-After': '1'});
  return undefined;
}

/** The refusal of a request that Node's HTTP parser could not read completely. */
export function refusalOfMalformed(error: Error): Refusal {
  const code = systemCode(error);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Refusal(408, 'The request head did not arrive in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal(431, 'The header fields are too long.');
  return new Refusal(400, 'The request is not well-formed HTTP/1.1.');
}

/** The longest name of a user or a key, in UTF-16 units. */
export const longestName = 100;

/** A name that a person entered, as a single line; throws a 422 if nothing is left of it or if it is too long. */
export function parseName(value: string | null): string {
  const name = (value ?? '').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (name === '') throw new Refusal(422, 'The name is missing.');
  if (name.length > longestName)
    throw new Refusal(422, `The name may have at most ${longestName} characters.`);
  return name;
}

/** An option of the service has a value that it does not take. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption';
  /** What to write instead. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
