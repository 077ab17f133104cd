import type {ConnectionOptions} from '../../engine/http/http.ts';
import {parseKey, parseServiceUrl} from '../../engine/service/service-url.ts';
import {MediaError, unlessBug} from '../../errors.ts';
import type {Host, StopSignal} from '../../host.ts';
import {omitUndefined, own} from '../../lib/object.ts';
import type {Secret} from '../../lib/secrets/secret.ts';
import {keysValue} from '../../lib/value-kinds.ts';
import {packageVersion} from '../../package-file.ts';
import {readAuthorities, readClientCertificate, readPrivateKey} from './certificates.ts';
import {type GlobalOptions, profileOption} from './hint-options.ts';
import {type BaseUrl, parseBaseUrl, profileNameOf} from './parse.ts';
import {
  keyOf,
  profileFor,
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
  /** What the settings say of every connection to the service, and the fields of every request there. */
  connection: Pick<ConnectionOptions, 'headers' | 'certificateAuthorities' | 'clientCertificate'>;
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
  const baseUrl = await readSetting('base-url', run, value => parseBaseUrl(value, globals.allowHttp));
  const settings: Settings = {
    ...run,
    profileNames: Object.keys(profiles),
    connection: {headers: {}},
    ...omitUndefined({baseUrl, baseUrlSource, ignored}),
    ...(givenKey === undefined || baseUrl === 'embedded'
      ? {}
      : {key: {secret: parseKey(givenKey, 'MEDIA_API_KEY'), source: 'environment'}}),
    ...(baseUrl && (await settingsFor(baseUrl, run))),
  };
  if (baseUrl instanceof URL && givenKey === undefined) await addStoredKey(settings, baseUrl, readKey, stop);
  return settings;
}

/** The settings for a service; those of the profile only if they belong to it. */
async function settingsFor(baseUrl: BaseUrl, whole: SettingsOfRun): Promise<Partial<Settings>> {
  const run = {...whole, profile: profileFor(whole.profile, String(baseUrl))};
  const isHosted = baseUrl instanceof URL;
  return omitUndefined({
    connection: {
      headers: {'user-agent': `media/${packageVersion()}`},
      ...(isHosted && (await tlsSettings(run))),
    },
    onUnknown: await readSetting('idempotency-keys', run, text =>
      parseValue('idempotency-keys', keysValue, text),
    ),
    // The embedded service has no use for these, nor for TLS.
    ...(isHosted && {
      graphqlUrl: await readSetting('graphql-url', run, url =>
        parseServiceUrl(url, 'GraphQL URL', run.globals.allowHttp),
      ),
      profileUrl: run.profile['profile-url'],
    }),
  });
}

async function tlsSettings(run: SettingsOfRun) {
  const {host} = run;
  const certificate = settingInForce('client-cert', run);
  const key = certificate && (await readSetting('client-key', run, path => readPrivateKey(host, path)));
  return {
    certificateAuthorities: await readSetting('cacert', run, path => readAuthorities(host, path)),
    clientCertificate: await readSetting('client-cert', run, path => readClientCertificate(host, path, key)),
  };
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
