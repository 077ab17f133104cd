import {MediaError} from '../../errors.ts';
import {hint} from '../../hint.ts';
import type {StopSignal} from '../../host.ts';
import {omitUndefined, own} from '../../lib/object.ts';
import {concurrencyValue, durationValue, rateValue, type ValueKind} from '../../lib/value-kinds.ts';
import {clearVariable, type HintedRun, loginCommandFor, profileOption} from './hint-options.ts';
import {parseValue, type SettingName, settingNames, settingTable} from './setting-table.ts';
import type {Profile} from './store.ts';

export type StoredKeySource = 'profile' | 'keychain' | 'command';

/** Where a profile's key is stored, and the origin that it belongs to; undefined without a key. */
export function keyOf(profile: Profile): {source: StoredKeySource; origin: string | undefined} | undefined {
  if (profile['key-command'] !== undefined) return {source: 'command', origin: originOf(profile)};
  if (profile['key-store'] === 'keychain') return {source: 'keychain', origin: profile['key-origin']};
  return profile.key === undefined ? undefined : {source: 'profile', origin: profile['key-origin']};
}

/** The origin of the profile's base URL, if it has one. */
export function originOf(profile: Profile): string | undefined {
  const baseUrl = profile['base-url'];
  return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
}

/** A value in force: from its option, else its variable, else the profile. */
export interface SettingInForce {
  value: string;
  source: 'flag' | 'environment' | 'profile';
  /** The source as users call it: `--cacert`, `MEDIA_BASE_URL` or `profile staging`. */
  place: string;
  /** The command that removes it there. */
  unset?: string;
}

/** The run whose settings are in force, and its profile. */
export interface SettingsOfRun extends HintedRun {
  profileName: string;
  profile: Profile;
}

/** The value of a setting that is in force, and where it was set; undefined if it is not. */
export function settingInForce(name: SettingName, run: SettingsOfRun): SettingInForce | undefined {
  const {host, globals, profileName, profile} = run;
  const {option, variable} = settingTable[name];
  const flag = option && globals[option];
  if (flag !== undefined) return {value: flag, source: 'flag', place: `--${name}`};
  // The private key of a certificate is in the same file, or set where the certificate is.
  const source = name === 'client-key' ? settingInForce('client-cert', run)?.source : undefined;
  const text = variable && own(host.env, variable);
  if (variable && text && source !== 'profile')
    return {value: text, source: 'environment', place: variable, unset: clearVariable(host, variable)};
  const value = source === 'environment' ? undefined : profile[name];
  const unset = `media config unset ${name}${profileOption(run)}`;
  return value === undefined ? undefined : {value, source: 'profile', place: `profile ${profileName}`, unset};
}

/** What `read` makes of a setting, if it is in force; a usage error says where the value comes from. */
export async function readSetting<Result>(
  name: SettingName,
  run: SettingsOfRun,
  read: (value: string) => Result | Promise<Result>,
): Promise<Result | undefined> {
  const setting = settingInForce(name, run);
  if (setting === undefined) return undefined;
  try {
    return await read(setting.value);
  } catch (error) {
    const {place, unset} = setting;
    if (!(error instanceof MediaError) || unset === undefined) throw error;
    const rest = error.hint === undefined ? '' : hint` ${error.hint}`;
    throw error.reword({hint: hint`It comes from ${place} (to remove it: ${unset}).${rest}`});
  }
}

/** How fast files are sent, as far as options or settings say it. */
export interface Speed {
  /** How many files at a time: a number, or as many as make it faster, up to `most`. */
  concurrency?: number | {most: number};
  /** Bytes per second for all files together; Infinity for no limit. */
  limitRate?: number;
  /** The longest Retry-After or outage to wait for, in milliseconds. */
  retryMaxWait?: number;
}

/** The speed that variables and the profile set. Rejects with a usage error that names the place of a wrong value. */
export async function speedSettings(run: SettingsOfRun): Promise<Speed> {
  const read = <Value>(name: SettingName, kind: ValueKind<Value>) =>
    readSetting(name, run, text => parseValue(name, kind, text));
  return omitUndefined({
    concurrency: await read('concurrency', concurrencyValue),
    limitRate: await read('limit-rate', rateValue),
    retryMaxWait: await read('retry-max-wait', durationValue),
  });
}

/** Reads the key of a profile. Rejects with `key_unavailable` if that fails, and with the reason of `stop`. */
export async function readStoredKey(
  run: SettingsOfRun,
  stop: StopSignal | undefined,
): Promise<string | undefined> {
  const {host, globals, profileName, profile} = run;
  if (profile['key-command'] !== undefined) {
    const {runKeyCommand} = await import('./key-command.ts');
    return runKeyCommand(host, profile['key-command'], globals, stop);
  }
  if (profile['key-store'] !== 'keychain') return profile.key;
  const {askKeychain} = await import('./keychain.ts');
  const origin = profile['key-origin'] ?? '';
  const result = await askKeychain(host, {action: 'get', profileName, origin}, stop);
  if ('key' in result && result.key !== null) return result.key;
  const login = loginCommandFor(run);
  const [message, advice] =
    'key' in result
      ? [`The keychain has no key for profile ${profileName} any more.`, `Store it again: ${login}`]
      : [
          `The key of profile ${profileName} is in the keychain, which could not be used: ${result.failure}.`,
          `Unlock the keychain, set MEDIA_API_KEY, or store the key in a file: ${login} --insecure-storage`,
        ];
  throw new MediaError('key_unavailable', message, {hint: advice});
}

const ofKey: readonly (keyof Profile)[] = ['key', 'key-store', 'key-origin', 'key-account'];

/** The fields of a profile that belong to one service. Another service cannot use them, or must not get them. */
export function serviceSettings(): (keyof Profile)[] {
  return [...ofKey, ...settingNames.filter(name => settingTable[name].belongsTo)];
}

/** The profile without the settings that belong to another service than the one at this base URL. */
export function profileFor(profile: Profile, baseUrl: string): Profile {
  const stored = originOf(profile);
  const isOwn = stored === originOf({'base-url': baseUrl});
  const belongs = {
    machine: true,
    'base URL if known': isSameBaseUrl(profile['base-url'] ?? baseUrl, baseUrl),
    origin: isOwn,
    'origin if known': isOwn || stored === undefined,
  };
  const ownerOf = (name: string) => own(settingTable, name)?.belongsTo ?? 'machine';
  return Object.fromEntries(Object.entries(profile).filter(([name]) => belongs[ownerOf(name)]));
}

/**
 * The profile with another base URL, or with none, and without the settings that belong to its earlier service.
 * Settings made before the first base URL belong to that one. If only the path changes, all are kept except those of
 * that base URL.
 */
export function withBaseUrl(
  profile: Profile,
  baseUrl: string | undefined,
): {profile: Profile; removedSettings: (keyof Profile)[]} {
  const before = profile['base-url'];
  const origins = [originOf(profile), profile['key-origin']].filter(origin => origin !== undefined);
  const origin = baseUrl === undefined ? undefined : originOf({'base-url': baseUrl});
  const isForeign = (name: string) =>
    origins.some(known => known !== origin) ||
    (before !== undefined &&
      own(settingTable, name)?.belongsTo === 'base URL if known' &&
      !isSameBaseUrl(before, baseUrl));
  const removedSettings = serviceSettings().filter(name => profile[name] !== undefined && isForeign(name));
  const removed = Object.fromEntries(removedSettings.map(name => [name, undefined]));
  return {profile: omitUndefined({...profile, 'base-url': baseUrl, ...removed}) as Profile, removedSettings};
}

/** Whether two base URLs are the same, except for trailing slashes. */
export function isSameBaseUrl(one: string | undefined, other: string | undefined): boolean {
  return one?.replace(/\/+$/, '') === other?.replace(/\/+$/, '');
}

/** A sentence that lists the removed settings; undefined if there are none. */
export function droppedNote(profile: Profile, dropped: readonly (keyof Profile)[]): string | undefined {
  const names = dropped.filter(name => !ofKey.includes(name));
  if (dropped.includes('key') || dropped.includes('key-store')) names.unshift('key');
  if (names.length === 0) return undefined;
  const owner = profile['key-origin'] ?? originOf(profile) ?? 'the earlier service';
  return `Removed the settings that belong to ${owner}: ${names.join(', ')}.`;
}
