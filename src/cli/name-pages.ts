import {MediaError} from '../errors.ts';
import {own} from '../lib/own.ts';
import {parseProfileName} from '../settings/parse.ts';
import {type Profile, readProfiles, updateProfiles} from '../settings/store.ts';
import {originOf} from '../settings/stored-key.ts';
import type {Invocation} from './invocation.ts';

/**
 * Stores where the pages of an embedded service are, so that `media login` and refused keys can name its profile page: in the profile
 * that was chosen with `--profile`, together with the base URL, or else in the default profile if that uses this service already. A
 * profile of another service stays as it is.
 */
export async function namePages(url: string, {host, globals, report}: Invocation): Promise<void> {
  const chosen = globals.profile ?? (host.env['MEDIA_PROFILE'] || undefined);
  const name = parseProfileName(chosen ?? 'default');
  const pages: Profile = {'base-url': url, 'profile-url': `${url}/profile`};
  let profile: Profile;
  try {
    profile = own(await readProfiles(host), name) ?? {};
  } catch (error) {
    // Whoever chose no profile may not have asked for any settings.
    if (chosen === undefined && error instanceof MediaError) return;
    throw error;
  }
  const owner = originOf(profile) ?? profile['key-origin'] ?? profile['base-url'];
  if (owner !== new URL(url).origin && (owner !== undefined || chosen === undefined)) {
    if (chosen !== undefined) report.note(`Profile ${name} is for ${owner} and stays as it is.`);
    return;
  }
  if (profile['profile-url'] !== pages['profile-url'])
    await updateProfiles(host, profiles => {
      profiles[name] = {...pages, ...own(profiles, name), 'profile-url': pages['profile-url'] ?? ''};
    });
  if (chosen !== undefined) report.note(`To store an API key for it: media login --profile ${name}`);
}
