import {MediaError} from '../../errors.ts';
import {hint, option, setting} from '../../hint.ts';
import {Secret} from '../../lib/secrets/secret.ts';
import {isLoopback} from '../../lib/url.ts';

/** A host as people type it, with a port and a path if it has them. */
const bareHost = /^(?:(?:[a-z\d-]{1,63}\.)+[a-z]{2,24}|localhost|[\d.]{7,15})(?::\d+)?(?:\/\S*)?$/i;

/** A base URL as it was typed, with the scheme that a bare host lacks. */
export function withScheme(typed: string): string {
  if (!bareHost.test(typed) || !URL.canParse(`http://${typed}`)) return typed;
  return isLoopback(new URL(`http://${typed}`).hostname) ? `http://${typed}` : `https://${typed}`;
}

/** Parses a URL of the service; a usage error calls it `what`. */
export function parseServiceUrl(value: string, what: string, allowHttp?: boolean): URL {
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
  // As URLs in documentation do.
  const [, base = '', endpoint] = /^(.*)(\/v1\/media\/upload|\/graphql)\/*$/.exec(url.pathname) ?? [];
  if (what === 'base URL' && endpoint !== undefined)
    throw new MediaError('usage', `The base URL ends in ${endpoint}.`, {
      hint: `Use ${url.origin}${base}: the rest is added to it.`,
    });
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    throw new MediaError('usage', `The key would go to ${url.host} unencrypted: the ${what} is plain http.`, {
      hint: hint`Use https://${url.host}${url.pathname}, or add ${option('allowHttp')} if you trust the network.`,
    });
  return url;
}

/** Parses an API key: visible ASCII (RFC 6750, section 2.1); a usage error calls it `what`. */
export function parseKey(value: string, what: string): Secret {
  const key = value.trim();
  if (key === '')
    throw new MediaError('usage', `${what} is empty.`, {hint: 'Use the key as the service shows it.'});
  // As a file of variables, a shell or a header has it.
  const [before] =
    /^(?:(?:export +)?\w*(?:KEY|TOKEN|SECRET) *[=:]|(?:Authorization: *)?Bearer )/i.exec(key) ?? [];
  if (before !== undefined)
    throw new MediaError('usage', `${what} begins with ${before.trim()}, which is not part of it.`, {
      hint: `Use only what follows ${before.trim()}, without quotation marks.`,
    });
  if (/^["'`]|["'`]$/.test(key))
    throw new MediaError('usage', `${what} is in quotation marks, which are not part of it.`, {
      hint: 'Leave out the quotation marks.',
    });
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new MediaError('usage', `${what} has spaces, line breaks or other characters that no key has.`, {
      hint: 'Copy the complete key again, and nothing else.',
    });
  return new Secret(key);
}
