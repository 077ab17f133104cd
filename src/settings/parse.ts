import {MediaError} from '../errors.ts';
import {hint, option, setting} from '../hint.ts';
import type {Host} from '../host.ts';
import {Secret} from '../lib/secrets/secret.ts';
import {undefinedIfThrows} from '../lib/system-code.ts';
import {isLoopback} from '../lib/url.ts';

export type BaseUrl = {kind: 'embedded'} | {kind: 'service'; url: URL};

/** Parses a profile name: letters, digits, dots, dashes and underscores; a usage error for anything else. */
export function parseProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name;
  throw new MediaError('usage', `"${name}" is not a valid profile name.`, {
    hint: 'Use letters, digits, dots, dashes and underscores, as in --profile staging.',
  });
}

/** The name of the profile that was chosen, which need not exist. */
export function profileNameOf({env}: Host, {profile}: {profile?: string}): string {
  return parseProfileName(profile ?? (env['MEDIA_PROFILE'] || 'default'));
}

/** Parses a base URL: https, http to loopback or with --allow-http, or `embedded`; else a usage error. */
export function parseBaseUrl(value: string, allowHttp: boolean): BaseUrl {
  return value === 'embedded'
    ? {kind: 'embedded'}
    : {kind: 'service', url: parseServiceUrl(value, 'base URL', allowHttp)};
}

/** The base URL as it may be shown; `instead` if it cannot be used, since it may then contain a password. */
export function shownBaseUrl(value: string, instead: string): string {
  return undefinedIfThrows(() => parseBaseUrl(value, true)) === undefined ? instead : value;
}

/** Parses a URL of the service; a usage error calls it `what`. */
export function parseServiceUrl(value: string, what: string, allowHttp: boolean): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // The value is not shown: it may be a key, or contain a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new MediaError('usage', `The ${what} is not a valid URL.`, {
      hint: hint`Use a URL with its scheme, such as https://api.example.com${what === 'base URL' ? hint`, or the word ${setting('embedded')}` : ''}.`,
    });
  const asIs = {hint: `Use ${url.protocol}//${url.host}${url.pathname}`};
  if (url.username !== '' || url.password !== '') {
    const message = `The ${what} contains a user name or password; only the key identifies you.`;
    throw new MediaError('usage', message, asIs);
  }
  if (url.search !== '' || url.hash !== '')
    throw new MediaError('usage', `The ${what} has a query or a fragment.`, asIs);
  if (what === 'base URL') refuseEndpoint(url);
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new MediaError('usage', `The key would go to ${url.host} unencrypted: the ${what} is plain http.`, {
      hint: hint`Use https://${url.host}${url.pathname}, or add ${option('allowHttp')} if you trust the network.`,
    });
  }
  return url;
}

/** The URL of an endpoint, as documentation shows it, is no base URL. */
function refuseEndpoint({origin, pathname}: URL): void {
  const [, base = '', endpoint] = /^(.*)(\/v1\/media\/upload|\/graphql)\/*$/.exec(pathname) ?? [];
  if (endpoint === undefined) return;
  throw new MediaError('usage', `The base URL ends in ${endpoint}.`, {
    hint: `Use ${origin}${base}: the rest is added to it.`,
  });
}

/** Parses an API key: visible ASCII (RFC 6750, section 2.1); a usage error calls it `what`. */
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
