import {MediaError} from '../errors.ts';
import {Secret} from '../lib/secrets/secret.ts';
import {isLoopback} from '../lib/url.ts';

export type BaseUrl = {kind: 'embedded'} | {kind: 'service'; url: URL};

/** Parses a profile name: letters, digits, dots, dashes and underscores; a usage error for anything else. */
export function parseProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && name !== '__proto__') return name;
  throw new MediaError('usage', `"${name}" is not a valid profile name.`, {
    hint: 'Use letters, digits, dots, dashes and underscores, as in --profile staging.',
  });
}

/**
 * Parses a base URL: https, http to loopback or with --allow-http, or the word "embedded"; a usage error for anything
 * else.
 */
export function parseBaseUrl(value: string, allowHttp: boolean): BaseUrl {
  return value === 'embedded'
    ? {kind: 'embedded'}
    : {kind: 'service', url: parseServiceUrl(value, 'base URL', allowHttp)};
}

/** Parses a URL of the service; a usage error calls it `what`. */
export function parseServiceUrl(value: string, what: string, allowHttp: boolean): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw notAServiceUrl(value, what);
  if (url.username !== '' || url.password !== '') {
    throw new MediaError(
      'usage',
      `The ${what} contains a user name or password; only the key identifies you.`,
      {
        hint: `Use ${url.protocol}//${url.host}${url.pathname}`,
      },
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw new MediaError('usage', `The ${what} has a query or a fragment.`, {
      hint: `Use ${url.protocol}//${url.host}${url.pathname}`,
    });
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new MediaError('usage', `The key would go to ${url.host} unencrypted: the ${what} is plain http.`, {
      hint: `Use https://${url.host}${url.pathname}, or add --allow-http if you trust the network.`,
    });
  }
  return url;
}

function notAServiceUrl(value: string, what: string): MediaError {
  const meant = mayHoldSecret(value) ? undefined : withScheme(value);
  const example = `Use a URL such as https://api.example.com${what === 'base URL' ? ', or the word embedded' : ''}.`;
  const named = mayHoldSecret(value) ? `The ${what}` : `"${value}"`;
  const kind = mayHoldSecret(value) ? 'URL' : what;
  return new MediaError('usage', `${named} is not a valid ${kind}.`, {
    hint: meant === undefined ? example : `Write it with its scheme: ${meant}`,
  });
}

/** A value without a scheme, or with a mistyped one, as a URL: https, or http for this machine. */
function withScheme(value: string): string | undefined {
  const rest = value.trim().replace(/^[a-z]*:?\/\//i, '');
  if (!/^(localhost|\[[\da-f:]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(\/[^?#]*)?$/i.test(rest)) return undefined;
  const url = URL.canParse(`https://${rest}`) ? new URL(`https://${rest}`) : undefined;
  return url && `${isLoopback(url.hostname) ? 'http' : 'https'}://${rest}`;
}

/** Text that cannot be a secret: a short word, or a scheme, a host, a port and a path of short names. */
const harmless =
  /^(?:[a-z]*:?\/\/)?(?:[\w-]{0,11}|localhost|(?:[\w-]{1,40}\.)+(?:[a-z]{2,18}|\d{1,3}))(?::\d{0,5})?(?:\/[\w.~-]{0,15})*$/i;

/** Whether a text that is not a URL may be a key or contain a password; such a text is not shown. */
function mayHoldSecret(value: string): boolean {
  return !harmless.test(value);
}

/**
 * Parses an API key: visible ASCII only, since it is sent in a header (RFC 6750, section 2.1); a usage error calls it
 * `what`.
 */
export function parseKey(value: string, what: string): Secret {
  const key = value.trim();
  if (key === '')
    throw new MediaError('usage', `${what} is empty.`, {hint: 'Use the key as the service shows it.'});
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new MediaError('usage', `${what} has spaces, line breaks or other characters that no key has.`, {
      hint: 'Copy the complete key again, and nothing else.',
    });
  }
  return new Secret(key);
}
