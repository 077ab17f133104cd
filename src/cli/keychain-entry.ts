import type {Host} from '../host.ts';
import type {Report} from '../output/report.ts';
import type {Profile} from '../settings/store.ts';

/** Removes the profile's key from the keychain, if it is there; warns if it cannot be removed. */
export async function forgetKeychainEntry(
  profileName: string,
  profile: Profile,
  host: Host,
  report: Report,
): Promise<void> {
  if (profile['key-store'] !== 'keychain') return;
  const {removeFromKeychain} = await import('../settings/keychain.ts');
  const result = await removeFromKeychain(host, {profileName, origin: profile['key-origin'] ?? ''});
  if ('failure' in result) {
    report.warning(
      `The old key of profile ${profileName} may still be in the keychain, which could not be used (${result.failure}).`,
    );
  }
}
