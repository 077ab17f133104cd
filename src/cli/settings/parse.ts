import {parseServiceUrl} from '../../engine/service/service-url.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {undefinedIfThrows} from '../../lib/system-code.ts';

export type BaseUrl = 'embedded' | URL;

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
export function parseBaseUrl(value: string, allowHttp?: boolean): BaseUrl {
  return value === 'embedded' ? value : parseServiceUrl(value, 'base URL', allowHttp);
}

/** The base URL as it may be shown; `instead` if it cannot be used, since it may then contain a password. */
export function shownBaseUrl(value: string, instead: string): string {
  return undefinedIfThrows(() => parseBaseUrl(value, true)) === undefined ? instead : value;
}
