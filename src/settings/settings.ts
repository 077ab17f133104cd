import {MediaError} from '../errors.ts';
import type {Host, StopSignal} from '../host.ts';
import {defined, own} from '../lib/object.ts';
import type {Secret} from '../lib/secrets/secret.ts';
import {type ClientCertificate, readAuthorities, readClientCertificate} from './certificates.ts';
import {type GlobalOptions, hintOptions, profileOption} from './hint-options.ts';
import {type BaseUrl, parseBaseUrl, parseKey, parseProfileName, parseServiceUrl} from './parse.ts';
import {isSameBaseUrl, keyOf, originOf, readStoredKey, type StoredKeySource} from './profile.ts';
import {type Profile, type Profiles, readProfiles} from './store.ts';

export type KeySource = 'environment' | StoredKeySource;

/** The settings in force: from flags, else the environment, else the profile, else the defaults. */
export interface Settings {
  profileName: string;
  profile: Profile;
  /** The names of all profiles. */
  profileNames: string[];
  /** Whether the selected profile does not exist. */
  isUnknownProfile: boolean;
  /** The options that a command in a hint needs to use the same profile and service. */
  hintOptions: string;
  /** The option that a command needs to use the same profile. */
  profileOption: string;
  baseUrl?: BaseUrl;
  /** Where the base URL was set. */
  baseUrlSource: 'flag' | 'environment' | 'profile';
  key?: {secret: Secret; source: KeySource};
  /** Where GraphQL requests go, if the profile sets it. */
  graphqlUrl?: URL;
  /** Whose key the stored one is, if the service said so at login. */
  account?: string;
  /** PEM text of the certificate authorities to trust. */
  certificateAuthorities?: string;
  /** The certificate to present to a service that asks for one. */
  clientCertificate?: ClientCertificate;
  /** Whether the profile says that the service honours Idempotency-Key. */
  idempotencyHonoured: boolean;
  /** The origin of a stored key that was not used, because it belongs to that other origin. */
  keyOfOtherOrigin?: string;
  /** Why the profile's key could not be read. */
  keyFailure?: MediaError;
  /** The page where the service shows the user's keys, if the profile sets it. */
  profileUrl?: string;
}

/**
 * Resolves the settings of a run. Reads the key unless `readKey` is false, which may run a command or access a
 * keychain. Rejects with `usage` for an invalid value and `config_unusable` for a damaged file.
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

/** The client certificate from the environment, else from the profile, if the base URL is of the profile's service. */
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

/** The profile's settings for the service at this base URL; empty if the profile belongs to another origin. */
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

/**
 * Adds the profile's key if it belongs to the origin of this base URL. If it does not, or cannot be read, adds the
 * reason.
 */
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
  if (stored.source !== 'command' && profile['key-account'] !== undefined)
    settings.account = profile['key-account'];
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

/** Throws a usage error if graphql-url is at another origin, since a stored key is sent only to its own. */
export function refuseOtherOrigin(graphqlUrl: URL, baseUrl: URL, profile: string): void {
  if (graphqlUrl.origin === baseUrl.origin) return;
  throw new MediaError(
    'usage',
    `A stored key is sent only to ${baseUrl.origin}, but graphql-url is at ${graphqlUrl.origin}.`,
    {hint: `Set MEDIA_API_KEY to send a key there, or run: media config unset graphql-url${profile}`},
  );
}

/** An unusable settings file is ignored if the run does not need the profile. */
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
  return own(profiles, name) ?? {};
}
