import {MediaError} from '../errors.ts';
import type {Host, StopSignal} from '../host.ts';
import {defined} from '../lib/defined.ts';
import type {Secret} from '../lib/secrets/secret.ts';
import {type ClientCertificate, readAuthorities, readClientCertificate} from './certificates.ts';
import type {GlobalOptions} from './global-options.ts';
import {hintOptions, profileOption} from './hint-options.ts';
import {type BaseUrl, parseBaseUrl, parseKey, parseProfileName, parseServiceUrl} from './parse.ts';
import {isSameBaseUrl} from './profile-service.ts';
import {type Profile, type Profiles, readProfiles} from './store.ts';
import {keyOf, originOf, readStoredKey, type StoredKeySource} from './stored-key.ts';

export type KeySource = 'environment' | StoredKeySource;

/** What is in force: the flag, else the environment, else the profile, else the default. */
export interface Settings {
  profileName: string;
  profile: Profile;
  /** All profiles that there are. */
  profileNames: string[];
  /** Whether a profile was named that does not exist. */
  isUnknownProfile: boolean;
  /** What a command in a hint has to carry to be about the same profile and service. */
  hintOptions: string;
  /** The same for a command that reads or changes the profile alone. */
  profileOption: string;
  baseUrl?: BaseUrl;
  /** Where the base URL was named. */
  baseUrlSource: 'flag' | 'environment' | 'profile';
  key?: {secret: Secret; source: KeySource};
  /** Where requests to /graphql go, when the profile says. */
  graphqlUrl?: URL;
  /** PEM text of the certificate authorities to trust. */
  certificateAuthorities?: string;
  /** What to show a service that asks for a certificate. */
  clientCertificate?: ClientCertificate;
  /** Whether the profile says that the service honours Idempotency-Key. */
  idempotencyHonoured: boolean;
  /** A stored key that was not used, since it belongs to another origin. */
  keyOfOtherOrigin?: string;
  /** Why the profile's key could not be had from where it is. */
  keyFailure?: MediaError;
  /** Where the service shows and changes the user's keys, when the profile says. */
  profileUrl?: string;
}

/**
 * Resolves the settings of a run, the key among them unless `readKey` is false: that may run a command or ask a keychain.
 * Rejects with `usage` for a bad value and `config_unusable` for a damaged file.
 */
export async function resolveSettings(
  host: Host,
  options: GlobalOptions,
  {readKey = true, stop}: {readKey?: boolean; stop?: StopSignal | undefined} = {},
): Promise<Settings> {
  const profileName = parseProfileName(options.profile ?? (host.env['MEDIA_PROFILE'] || 'default'));
  const givenBaseUrl = options.baseUrl ?? (host.env['MEDIA_BASE_URL'] || undefined);
  const givenKey = host.env['MEDIA_API_KEY'] || undefined;
  const needsProfile = givenBaseUrl !== 'embedded' && !(givenBaseUrl !== undefined && givenKey !== undefined);
  const profiles = await readProfilesFor(host, needsProfile);
  const profile = profileOf(profiles, profileName);
  const baseUrlText = givenBaseUrl ?? profile['base-url'];
  const baseUrl =
    baseUrlText === undefined ? undefined : parseBaseUrl(baseUrlText, options.allowHttp === true);
  const cacert = baseUrl?.kind === 'service' ? (options.cacert ?? profile.cacert) : undefined;
  const clientCertificate =
    baseUrl?.kind === 'service' ? await clientCertificateFor(host, profile, baseUrl.url) : undefined;
  const settings: Settings = {
    profileName,
    profile,
    profileNames: Object.keys(profiles),
    isUnknownProfile: profileName !== 'default' && !Object.hasOwn(profiles, profileName),
    baseUrlSource:
      options.baseUrl !== undefined ? 'flag' : givenBaseUrl !== undefined ? 'environment' : 'profile',
    hintOptions: hintOptions(host, options),
    profileOption: profileOption(host, options),
    idempotencyHonoured: false,
    ...defined({
      baseUrl,
      certificateAuthorities: cacert === undefined ? undefined : await readAuthorities(host, cacert),
      clientCertificate,
    }),
    ...(givenKey === undefined || baseUrl?.kind === 'embedded'
      ? {}
      : {key: {secret: parseKey(givenKey, 'MEDIA_API_KEY'), source: 'environment'}}),
    ...(baseUrl?.kind === 'service' ? settingsFor(profile, baseUrl.url, options.allowHttp === true) : {}),
  };
  if (baseUrl?.kind === 'service' && givenKey === undefined)
    await addStoredKey(settings, baseUrl.url, {host, options, readKey, stop});
  return settings;
}

/** That of the environment, else of the profile, which shows it to no service but its own. */
async function clientCertificateFor(
  host: Host,
  profile: Profile,
  baseUrl: URL,
): Promise<ClientCertificate | undefined> {
  const given = host.env['MEDIA_CLIENT_CERT'];
  if (given) return readClientCertificate(host, given, host.env['MEDIA_CLIENT_KEY'] || undefined);
  const {'client-cert': certificate, 'client-key': key} = profile;
  const origin = originOf(profile) ?? baseUrl.origin;
  return certificate === undefined || origin !== baseUrl.origin
    ? undefined
    : readClientCertificate(host, certificate, key);
}

/** What the profile says of the service at this base URL: nothing of it holds for another origin. */
function settingsFor(profile: Profile, baseUrl: URL, allowHttp: boolean): Partial<Settings> {
  if (originOf(profile) !== baseUrl.origin) return {};
  const {'graphql-url': graphqlUrl, 'profile-url': profileUrl} = profile;
  return {
    idempotencyHonoured:
      profile['idempotency-keys'] === 'honoured' && isSameBaseUrl(profile['base-url'], baseUrl.href),
    ...defined({
      graphqlUrl:
        graphqlUrl === undefined ? undefined : parseServiceUrl(graphqlUrl, 'GraphQL URL', allowHttp),
      profileUrl,
    }),
  };
}

interface KeyReading {
  host: Host;
  options: GlobalOptions;
  readKey: boolean;
  stop: StopSignal | undefined;
}

/** Adds the profile's key where it belongs to this base URL, or why there is none. */
async function addStoredKey(
  settings: Settings,
  baseUrl: URL,
  {host, options, readKey, stop}: KeyReading,
): Promise<void> {
  const {profile, profileName, graphqlUrl} = settings;
  const stored = keyOf(profile);
  if (stored === undefined) return;
  if (stored.origin !== baseUrl.origin) {
    if (stored.origin !== undefined) settings.keyOfOtherOrigin = stored.origin;
    return;
  }
  if (graphqlUrl !== undefined) refuseOtherOrigin(graphqlUrl, baseUrl, settings.profileOption);
  if (!readKey) return;
  try {
    const key = await readStoredKey({host, options, stop}, profileName, profile);
    if (key !== undefined)
      settings.key = {secret: parseKey(key, keyNames[stored.source]), source: stored.source};
  } catch (error) {
    if (!(error instanceof MediaError) || error.code !== 'key_unavailable') throw error;
    settings.keyFailure = error;
  }
}

const keyNames: Record<StoredKeySource, string> = {
  profile: 'The stored key',
  keychain: 'The key in the keychain',
  command: 'The first line that key-command printed',
};

/** A stored key goes to its own origin only, whatever graphql-url says: a usage error where that is another. */
export function refuseOtherOrigin(graphqlUrl: URL, baseUrl: URL, profile: string): void {
  if (graphqlUrl.origin === baseUrl.origin) return;
  throw new MediaError(
    'usage',
    `A stored key is sent only to ${baseUrl.origin}, but graphql-url is at ${graphqlUrl.origin}.`,
    {hint: `Set MEDIA_API_KEY to send a key there, or run: media config unset graphql-url${profile}`},
  );
}

/** Without a need for the profile, a settings file that cannot be used is no reason to stop. */
async function readProfilesFor(host: Host, needed: boolean): Promise<Profiles> {
  try {
    return await readProfiles(host);
  } catch (error) {
    if (needed || !(error instanceof MediaError)) throw error;
    return {};
  }
}

/** The profile of that name, or an empty one. */
export function profileOf(profiles: Profiles, name: string): Profile {
  return Object.hasOwn(profiles, name) ? (profiles[name] ?? {}) : {};
}
