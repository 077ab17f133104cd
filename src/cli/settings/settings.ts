import {parseKey, parseServiceUrl} from '../../engine/service/service-url.ts';
import {MediaError, unlessBug} from '../../errors.ts';
import type {Host, StopSignal} from '../../host.ts';
import {omitUndefined, own} from '../../lib/object.ts';
import type {Secret} from '../../lib/secrets/secret.ts';
import {keysValue} from '../../lib/value-kinds.ts';
import {
  type ClientCertificate,
  readAuthorities,
  readClientCertificate,
  readPrivateKey,
} from './certificates.ts';
import {type GlobalOptions, profileOption} from './hint-options.ts';
import {type BaseUrl, parseBaseUrl, profileNameOf} from './parse.ts';
import {
  isSameBaseUrl,
  keyOf,
  originOf,
  readSetting,
  readStoredKey,
  type SettingInForce,
  type SettingsOfRun,
  type StoredKeySource,
  settingInForce,
} from './profile.ts';
import {parseValue} from './setting-table.ts';
import {readProfiles} from './store.ts';

export type KeySource = 'environment' | StoredKeySource;

/** The settings in force: from flags, else the environment, else the profile, else the defaults. */
export interface Settings extends SettingsOfRun {
  profileNames: string[];
  /** Why the settings file cannot be used, which this run does not need. */
  ignored?: MediaError;
  baseUrl?: BaseUrl;
  baseUrlSource?: SettingInForce;
  key?: {secret: Secret; source: KeySource};
  /** Where GraphQL requests go, if the profile sets it. */
  graphqlUrl?: URL;
  /** Whose key the stored one is, if the service said so at login. */
  account?: string;
  /** PEM text of the certificate authorities to trust. */
  certificateAuthorities?: string;
  /** The certificate to present to a service that asks for one. */
  clientCertificate?: ClientCertificate;
  /** Whether the service honours Idempotency-Key, so that an unknown upload may be sent again; else as declared. */
  onUnknown?: 'honoured' | 'hold' | 'declared';
  /** The origin of a stored key that was not used, because it belongs to that other origin. */
  keyOfOtherOrigin?: string;
  /** Why the profile's key could not be read. */
  keyFailure?: MediaError;
  /** The page where the service shows the user's keys, if the profile sets it. */
  profileUrl?: string;
}

/** Resolves the settings of a run; `readKey: false` reads no key. Rejects with `usage` or `config_unusable`. */
export async function resolveSettings(
  host: Host,
  globals: GlobalOptions,
  {readKey = true, stop}: {readKey?: boolean; stop?: StopSignal | undefined} = {},
): Promise<Settings> {
  const profileName = profileNameOf(host, globals);
  const givenBaseUrl = globals.baseUrl ?? (host.env['MEDIA_BASE_URL'] || undefined);
  const allowHttp = globals.allowHttp === true;
  const givenKey = host.env['MEDIA_API_KEY'] || undefined;
  // If not, an unusable settings file is ignored.
  const needsProfile = givenBaseUrl !== 'embedded' && !(givenBaseUrl !== undefined && givenKey !== undefined);
  const read = await readProfiles(host).catch(unlessBug);
  const ignored = read instanceof MediaError ? read : undefined;
  if (ignored !== undefined && needsProfile) throw ignored;
  const profiles = read instanceof MediaError ? {} : read;
  const profile = own(profiles, profileName) ?? {};
  const run: SettingsOfRun = {host, globals, profileName, profile};
  const baseUrlSource = settingInForce('base-url', run);
  const baseUrl = await readSetting(baseUrlSource, value => parseBaseUrl(value, allowHttp));
  const settings: Settings = {
    ...run,
    profileNames: Object.keys(profiles),
    ...omitUndefined({baseUrl, baseUrlSource, ignored}),
    ...(givenKey === undefined || baseUrl?.kind === 'embedded'
      ? {}
      : {key: {secret: parseKey(givenKey, 'MEDIA_API_KEY'), source: 'environment'}}),
    ...(baseUrl && (await settingsFor(run, baseUrl, allowHttp))),
  };
  if (baseUrl?.kind === 'service' && givenKey === undefined)
    await addStoredKey(settings, baseUrl.url, readKey, stop);
  return settings;
}

/** The settings for a service; those of the profile only if they belong to it. The embedded service uses no TLS. */
async function settingsFor(
  run: SettingsOfRun,
  baseUrl: BaseUrl,
  allowHttp: boolean,
): Promise<Partial<Settings>> {
  const {host, profile} = run;
  const keys = settingInForce('idempotency-keys', run);
  const href = baseUrl.kind === 'service' ? baseUrl.url.href : baseUrl.kind;
  const isKeysOfOther = keys?.source === 'profile' && !isSameBaseUrl(profile['base-url'], href);
  const onUnknown = await readSetting(isKeysOfOther ? undefined : keys, text =>
    parseValue('idempotency-keys', keysValue, text),
  );
  if (baseUrl.kind === 'embedded') return omitUndefined({onUnknown});
  const {origin} = baseUrl.url;
  const certificate = settingInForce('client-cert', run);
  const isOther = certificate?.source === 'profile' && (originOf(profile) ?? origin) !== origin;
  const hasCertificate = certificate !== undefined && !isOther;
  const key = await readSetting(hasCertificate ? settingInForce('client-key', run) : undefined, path =>
    readPrivateKey(host, path),
  );
  const ofEvery = omitUndefined({
    onUnknown,
    certificateAuthorities: await readSetting(settingInForce('cacert', run), path =>
      readAuthorities(host, path),
    ),
    clientCertificate: await readSetting(hasCertificate ? certificate : undefined, path =>
      readClientCertificate(host, path, key),
    ),
  });
  if (originOf(profile) !== origin) return ofEvery;
  const graphqlUrl = await readSetting(settingInForce('graphql-url', run), value =>
    parseServiceUrl(value, 'GraphQL URL', allowHttp),
  );
  return {...ofEvery, ...omitUndefined({graphqlUrl, profileUrl: profile['profile-url']})};
}

/** Adds the profile's key if it belongs to the origin of this base URL, or why it is not used. */
async function addStoredKey(
  settings: Settings,
  baseUrl: URL,
  readKey: boolean,
  stop: StopSignal | undefined,
): Promise<void> {
  const {profile} = settings;
  const profileKey = keyOf(profile);
  if (profileKey === undefined) return;
  if (profileKey.origin !== baseUrl.origin) {
    if (profileKey.origin !== undefined) settings.keyOfOtherOrigin = profileKey.origin;
    return;
  }
  refuseOtherOrigin(settings, baseUrl);
  if (profileKey.source !== 'command' && profile['key-account'] !== undefined)
    settings.account = profile['key-account'];
  if (!readKey) return;
  try {
    const key = await readStoredKey(settings, stop);
    if (key !== undefined)
      settings.key = {secret: parseKey(key, keyNames[profileKey.source]), source: profileKey.source};
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
export function refuseOtherOrigin(settings: Settings, baseUrl: URL): void {
  const {graphqlUrl} = settings;
  if (graphqlUrl === undefined || graphqlUrl.origin === baseUrl.origin) return;
  const sentence = `A stored key is sent only to ${baseUrl.origin}, but graphql-url is at ${graphqlUrl.origin}.`;
  throw new MediaError('usage', sentence, {
    hint: `Set MEDIA_API_KEY to send a key there, or run: media config unset graphql-url${profileOption(settings)}`,
  });
}
