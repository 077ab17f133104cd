import type {Profile} from './store.ts';
import {originOf} from './stored-key.ts';

/** The settings that belong to one service. Another service cannot use them, or must not get them. */
export const serviceSettings = [
  'key',
  'key-store',
  'key-origin',
  'key-account',
  'key-command',
  'graphql-url',
  'profile-url',
  'client-cert',
  'client-key',
  'idempotency-keys',
] as const satisfies readonly (keyof Profile)[];

export type ServiceSetting = (typeof serviceSettings)[number];

/**
 * The profile with another base URL, or with none, and without the settings that belong to its earlier service.
 * Settings made before the first base URL belong to that one. If only the path changes, all are kept except
 * `idempotency-keys`, which was detected for the exact base URL.
 */
export function withBaseUrl(
  profile: Profile,
  baseUrl: string | undefined,
): {profile: Profile; dropped: ServiceSetting[]} {
  const {'base-url': before, ...settings} = profile;
  const origins = [originOf(profile), profile['key-origin']].filter(origin => origin !== undefined);
  const origin = baseUrl === undefined ? undefined : originOf({'base-url': baseUrl});
  const isForeign = (name: string) =>
    origins.some(known => known !== origin) ||
    (name === 'idempotency-keys' && before !== undefined && !isSameBaseUrl(before, baseUrl));
  const dropped = serviceSettings.filter(name => settings[name] !== undefined && isForeign(name));
  for (const name of dropped) delete settings[name];
  return {profile: baseUrl === undefined ? settings : {...settings, 'base-url': baseUrl}, dropped};
}

/** Whether two base URLs are the same, except for trailing slashes. */
export function isSameBaseUrl(one: string | undefined, other: string | undefined): boolean {
  return one?.replace(/\/+$/, '') === other?.replace(/\/+$/, '');
}

/** A sentence that lists the removed settings; undefined if there are none. */
export function droppedNote(profile: Profile, dropped: readonly ServiceSetting[]): string | undefined {
  const names = dropped.filter(name => !['key', 'key-store', 'key-origin', 'key-account'].includes(name));
  if (dropped.includes('key') || dropped.includes('key-store')) names.unshift('key');
  if (names.length === 0) return undefined;
  const owner = profile['key-origin'] ?? originOf(profile) ?? 'the earlier service';
  return `Removed the settings that belong to ${owner}: ${names.join(', ')}.`;
}
