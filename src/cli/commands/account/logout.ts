import {own} from '../../../lib/object.ts';
import type {CliCommand, Invocation} from '../../session/invocation.ts';
import {existingProfiles, type HintedRun, profileOption} from '../../settings/hint-options.ts';
import {profileNameOf} from '../../settings/parse.ts';
import {type Profiles, readProfiles, updateProfiles} from '../../settings/store.ts';

export function logoutCommand(logout: CliCommand): void {
  logout
    .description('Delete the stored API key of a profile.')
    .option('--all', 'delete the keys of all profiles')
    .examples(['media logout', 'media logout --profile staging', 'media logout --all'])
    .runs(runLogout);
}

/** Deletes stored keys, in the keychain too, and keeps all other settings. Succeeds if there is no key. */
async function runLogout({all}: {all?: boolean}, invocation: Invocation): Promise<void> {
  const {host, report, globals} = invocation;
  const profileName = profileNameOf(host, globals);
  const profiles = await readProfiles(host);
  const names = (all ? Object.keys(profiles) : [profileName]).filter(name => {
    const {key, 'key-store': store} = own(profiles, name) ?? {};
    return (key ?? store) !== undefined;
  });
  if (names.length === 0)
    return report.note(all ? 'No profile has a key.' : noKeyText(profileName, profiles, {host, globals}));
  await updateProfiles(host, profiles => {
    for (const name of names) {
      const profile = own(profiles, name) ?? {};
      const {key, 'key-store': place, 'key-origin': origin, 'key-account': account, ...rest} = profile;
      profiles[name] = rest;
    }
  });
  const {forgetKeychainEntry} = await import('./store-key.ts');
  const deleted = [];
  for (const name of names)
    if (await forgetKeychainEntry(name, own(profiles, name) ?? {}, invocation)) deleted.push(name);
  if (deleted.length > 0)
    report.note(`Deleted the key of ${deleted.length === 1 ? 'profile' : 'profiles'} ${deleted.join(', ')}.`);
  if (host.env['MEDIA_API_KEY']) report.warning('MEDIA_API_KEY is still set in the environment.');
}

/** Why there is nothing to delete: a key-command gives the key, there is no key, or no such profile. */
function noKeyText(name: string, profiles: Profiles, run: HintedRun): string {
  const profile = own(profiles, name);
  if (profile?.['key-command'] !== undefined)
    return `Profile ${name} has no stored key. To stop using its key-command: media config unset key-command${profileOption(run)}`;
  if (name === 'default' || profile !== undefined) return `Profile ${name} has no key.`;
  return `There is no profile "${name}". ${existingProfiles(Object.keys(profiles))}.`;
}
