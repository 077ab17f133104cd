import {MediaError} from '../errors.ts';
import type {Host, StopSignal} from '../host.ts';
import type {GlobalOptions} from './global-options.ts';
import {hintOptions, loginCommandFor} from './hint-options.ts';
import type {Profile} from './store.ts';

/** Where the key of a profile comes from. */
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

/** Reads the key of a profile. Rejects with `key_unavailable` if that fails, and with the reason of `stop`. */
export async function readStoredKey(
  {host, options, stop}: {host: Host; options: GlobalOptions; stop?: StopSignal | undefined},
  profileName: string,
  profile: Profile,
): Promise<string | undefined> {
  if (profile['key-command'] !== undefined) {
    const {runKeyCommand} = await import('./key-command.ts');
    return runKeyCommand(host, profile['key-command'], options, {stop});
  }
  if (profile['key-store'] !== 'keychain') return profile.key;
  const {readFromKeychain} = await import('./keychain.ts');
  const result = await readFromKeychain(host, {profileName, origin: profile['key-origin'] ?? ''}, stop);
  if ('key' in result && result.key !== undefined) return result.key;
  const login = loginCommandFor(host, hintOptions(host, options));
  if ('key' in result) {
    throw new MediaError('key_unavailable', `The keychain has no key for profile ${profileName} any more.`, {
      hint: `Store it again: ${login}`,
    });
  }
  throw new MediaError(
    'key_unavailable',
    `The key of profile ${profileName} is in the keychain, which could not be used: ${result.failure}.`,
    {
      hint: `Unlock the keychain, set MEDIA_API_KEY, or store the key in a file: ${login} --insecure-storage`,
    },
  );
}
