import {shellWord} from '../../lib/shell.ts';
import {type Exchange, operationOf} from './http-exchange.ts';
import {InvalidOption} from './refusal.ts';

/** Checks the origins whose pages may use the service; `*` is any, and only with a key that its owner chose. */
export function checkOrigins(origins: readonly string[], hasFixedKey: boolean): void {
  for (const text of origins) {
    if (text === '*' && !hasFixedKey)
      throw new InvalidOption(
        'To allow pages of any origin, the service needs a key that you choose.',
        'Set MEDIA_SERVE_KEY, or MEDIA_SERVE_KEY_FILE to a file that holds it.',
      );
    const {protocol = '', host = ''} = URL.canParse(text) ? new URL(text) : {};
    const origin = /^$|\*/.test(host) ? 'http://localhost:5173' : `${protocol}//${host}`;
    if (text !== '*' && text !== origin)
      throw new InvalidOption(
        `An origin is a scheme, a host and perhaps a port, which "${text}" is not.`,
        `Write it like this: --allow-origin ${shellWord(origin)}`,
      );
  }
}

/** The header fields that let the page which sent the request read the response (Fetch, "CORS protocol"). */
export function crossOriginHeaders(
  path: string,
  origin: string | undefined,
  origins: readonly string[],
): Readonly<Record<string, string>> {
  // Only what needs a key in the request or a secret ID in the URL, and never a cookie.
  const isShared = /^(?:upload|graphql|files|thumbnails|streams)$/.test(operationOf(path));
  if (origins.length === 0 || !isShared) return {};
  const allowed = origins.includes('*') ? '*' : origins.find(one => one === origin);
  // A cache must not give this response to a page of another origin.
  if (allowed === undefined) return {Vary: 'Origin'};
  return {Vary: 'Origin', 'Access-Control-Allow-Origin': allowed, 'Access-Control-Expose-Headers': '*'};
}

/** Responds to the question of a browser whether a page may send a request; returns whether it was one that may. */
export function respondsToPreflight({request, response, method, commonHeaders}: Exchange): boolean {
  const {'access-control-request-method': pageMethod, 'access-control-request-headers': fields} =
    request.headers;
  if (method !== 'OPTIONS' || pageMethod === undefined) return false;
  if (commonHeaders['Access-Control-Allow-Origin'] === undefined) return false;
  response.writeHead(204, {
    ...commonHeaders,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': fields ?? '',
    'Access-Control-Allow-Private-Network': 'true',
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}
