import type {KeyVerdict} from '../../../engine/service/key-identity.ts';
import {omitUndefined, own} from '../../../lib/object.ts';
import type {Secret} from '../../../lib/secrets/secret.ts';
import type {Invocation} from '../../session/invocation.ts';
import {askKeychain} from '../../settings/keychain.ts';
import {droppedNote, withBaseUrl} from '../../settings/profile.ts';
import {configPath, type Profile, updateProfiles} from '../../settings/store.ts';

export interface NewKey {
  profileName: string;
  /** The service that the key is for. */
  baseUrl: URL;
  key: Secret;
  /** Absent for a key that was not checked. */
  verdict?: KeyVerdict;
  /** Whose key it is, if the service says so. */
  account?: string | undefined;
}

/** Stores the key in the keychain, if allowed and available, otherwise in the settings file; resolves to the place. */
export async function storeKey(invocation: Invocation, newKey: NewKey, mayUseKeychain: boolean) {
  const {host, report} = invocation;
  const {profileName} = newKey;
  // If the settings directory was chosen explicitly, as for tests and servers, the key stays in that directory.
  const isAllowed = mayUseKeychain && !host.env['MEDIA_CONFIG_DIR'];
  const inKeychain = isAllowed && (await storeInKeychain(invocation, newKey));
  const before: Profile = {};
  await updateProfiles(host, profiles => {
    Object.assign(before, own(profiles, profileName));
    profiles[profileName] = withKey(before, newKey, inKeychain);
  });
  if (!inKeychain || before['key-origin'] !== newKey.baseUrl.origin)
    await forgetKeychainEntry(profileName, before, invocation);
  // Replacing the old key needs no note.
  const {key, 'key-store': place, ...others} = before;
  const note = droppedNote(others, withBaseUrl(others, newKey.baseUrl.href).removedSettings);
  if (note !== undefined) report.note(note);
  return inKeychain ? 'the keychain' : configPath(host);
}

/** Stores the key in the keychain; if the keychain fails, warns that a file gets the key, and resolves to false. */
async function storeInKeychain({host, report}: Invocation, newKey: NewKey): Promise<boolean> {
  const {profileName, baseUrl} = newKey;
  const entry = {profileName, origin: baseUrl.origin, key: newKey.key.reveal()};
  const result = await askKeychain(host, {action: 'set', ...entry});
  if ('key' in result && result.key === entry.key) return true;
  const failure = 'key' in result ? 'it did not store the key' : result.failure;
  report.warning(
    `The keychain could not be used (${failure}), so the key is stored in a file that only you can read.`,
  );
  return false;
}

/** The profile with the new key, and without the settings of any other service. */
function withKey(before: Profile, {baseUrl, key, verdict, account}: NewKey, inKeychain: boolean): Profile {
  const {profile} = withBaseUrl(before, baseUrl.href.replace(/\/+$/, ''));
  const known = profile['idempotency-keys'];
  const isDeclared = verdict?.status === 'accepted' ? verdict.honoursIdempotencyKeys : known === 'honoured';
  return omitUndefined({
    ...profile,
    key: inKeychain ? undefined : key.reveal(),
    'key-store': inKeychain ? ('keychain' as const) : undefined,
    'key-origin': baseUrl.origin,
    'key-account': account,
    // Only a user sets another value.
    'idempotency-keys': known && known !== 'honoured' ? known : isDeclared ? 'honoured' : undefined,
  });
}

/** Removes the profile's key from the keychain. Returns whether the key is gone, and warns if it may not be. */
export async function forgetKeychainEntry(profileName: string, profile: Profile, invocation: Invocation) {
  if (profile['key-store'] !== 'keychain') return true;
  const origin = profile['key-origin'] ?? '';
  const result = await askKeychain(invocation.host, {action: 'delete', profileName, origin});
  if (!('failure' in result)) return true;
  invocation.report.warning(
    `The old key of profile ${profileName} may still be in the keychain, which could not be used (${result.failure}).`,
  );
  return false;
}
