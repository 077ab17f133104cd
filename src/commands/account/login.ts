import {Command} from 'commander';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from '../../cli/invocation.ts';
import {clearKeyVariable} from '../../cli/key-hints.ts';
import {exitStatusOf, MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {defined} from '../../lib/defined.ts';
import type {Secret} from '../../lib/secret.ts';
import type {KeyVerdict} from '../../service/identity.ts';
import {hintOptions} from '../../settings/hint-options.ts';
import type {Settings} from '../../settings/settings.ts';
import type {Profile} from '../../settings/store.ts';
import {originOf} from '../../settings/stored-key.ts';
import {sentence} from '../../transfer/explain.ts';

export interface LoginOptions {
  keyStdin?: boolean;
  /** Keep the key in the settings file, whatever keychain there is. */
  insecureStorage?: boolean;
  /** False after --no-verify. */
  verify: boolean;
}

/** Declares `media login`. */
export function loginCommand(cli: Cli, run = runLogin): Command {
  return new Command('login')
    .description('Check an API key with the service and store it.')
    .option('--key-stdin', 'read the key from standard input')
    .option('--no-verify', 'store the key without checking it')
    .option('--insecure-storage', 'store the key in the settings file instead of the keychain')
    .addHelpText(
      'after',
      examples([
        'media login --base-url https://api.example.com',
        'pass show media/key | media login --base-url https://api.example.com --key-stdin',
        'media login --profile staging --base-url https://staging.example.com',
      ]),
    )
    .action(async (options: LoginOptions, command: Command) => {
      cli.status = await run(options, invocationOf(cli, command));
    });
}

const verifyTimeoutMs = 30_000;

/** Asks for what is missing, checks the key with the service and stores it for the base URL's origin. */
export async function runLogin(options: LoginOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, report} = invocation;
  if (host.env['MEDIA_API_KEY']) throw overridden(host);
  if (!options.keyStdin && !isInteractive(invocation)) throw notInteractive(invocation);
  const {parseKey, refuseOtherOrigin, resolveSettings} = await import('../../settings/settings.ts');
  const settings = await resolveSettings(host, invocation.globals, {readKey: false});
  if (settings.baseUrl?.kind === 'embedded') {
    throw new MediaError('usage', 'The embedded service needs no login.', {
      hint: 'Upload with: media upload FILE --base-url embedded',
    });
  }
  refuseBesideCommand(settings);
  const baseUrl = settings.baseUrl?.url ?? (await askBaseUrl(invocation));
  // Before the key is asked for: checking it would send it there.
  if (settings.graphqlUrl !== undefined)
    refuseOtherOrigin(settings.graphqlUrl, baseUrl, settings.profileOption);
  const key = options.keyStdin
    ? parseKey(await readAll(invocation), 'The key on standard input')
    : await askKey(invocation, baseUrl, settings.profileUrl);
  const verdict = options.verify ? await verify(invocation, baseUrl, key, settings) : undefined;
  if (verdict !== undefined) refuseUnusable(verdict, baseUrl, settings.profileUrl);
  const place = await storeKey(options, invocation, settings, {baseUrl, key, verdict});
  const {profileName} = settings;
  if (verdict === undefined) {
    report.note(`The key for ${baseUrl.origin} is stored unchecked in ${place} (profile ${profileName}).`);
  } else if (verdict.status === 'denied') {
    report.warning(
      `${baseUrl.host} answered ${verdict.httpStatus} to the check: this may be a key for uploads only, or the base URL may be wrong.`,
    );
    report.note(`The key for ${baseUrl.origin} is stored in ${place} (profile ${profileName}).`);
  } else report.note(`${baseUrl.host} accepted the key. It is stored in ${place} (profile ${profileName}).`);
  if (verdict !== undefined) await lookAtUploadPath(invocation, settings, {baseUrl, key});
  adviseNext(verdict, invocation);
  return 0;
}

/** What to type now; the profile knows the base URL, but another one in the environment would come before it. */
function adviseNext(verdict: KeyVerdict | undefined, {host, globals, report}: Invocation): void {
  const {baseUrl, ...others} = globals;
  const options = hintOptions(host, host.env['MEDIA_BASE_URL'] ? globals : others);
  report.note(
    verdict?.status === 'accepted'
      ? `To see whose key it is: media whoami${options}`
      : `To check what it may do: media doctor${options}`,
  );
  report.note(`To upload a file: media upload FILE${options}`);
}

/** As `media doctor` does; whatever it finds, the key is stored. */
async function lookAtUploadPath(
  invocation: Invocation,
  settings: Settings,
  {baseUrl, key}: {baseUrl: URL; key: Secret},
): Promise<void> {
  const [{newClient, within}, {checkUploadPath}, {adviseOnUploadPath}] = await Promise.all([
    import('../../cli/session.ts'),
    import('../../service/upload-path.ts'),
    import('../../cli/upload-path-advice.ts'),
  ]);
  const client = newClient(invocation, {baseUrl}, key, settings);
  const {signal, cancel} = within(invocation, verifyTimeoutMs);
  try {
    const advice = adviseOnUploadPath(await checkUploadPath(client, signal), baseUrl, settings);
    if (advice.status === 'warning') invocation.report.warning(`${advice.message}.`);
    if (advice.status === 'failed')
      invocation.report.warning(`${advice.error.message} ${advice.error.hint ?? ''}`.trim());
  } finally {
    cancel();
    await client.close();
  }
}

function isInteractive({host}: Invocation): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true;
}

/** As gh does: the stored key would never be used. */
function overridden(host: Host): MediaError {
  return new MediaError(
    'usage',
    'MEDIA_API_KEY is set, and it would be used instead of the key stored here.',
    {
      hint: `To store a key, clear it first: ${clearKeyVariable(host)}`,
    },
  );
}

function refuseBesideCommand({profile, profileName, profileOption}: Settings): void {
  if (profile['key-command'] === undefined) return;
  throw new MediaError('usage', `Profile ${profileName} takes its key from its key-command.`, {
    hint: `To store a key instead, run: media config unset key-command${profileOption}`,
  });
}

function notInteractive({host, globals}: Invocation): MediaError {
  return new MediaError('usage', 'There is no terminal to ask for the key on.', {
    hint: `Set MEDIA_API_KEY and do without login, or pipe the key in: media login --key-stdin${hintOptions(host, globals)}`,
  });
}

async function askBaseUrl(invocation: Invocation): Promise<URL> {
  if (!isInteractive(invocation)) {
    throw new MediaError('usage', 'No base URL is set.', {
      hint: `Name the service: media login --key-stdin --base-url URL${hintOptions(invocation.host, invocation.globals)}`,
    });
  }
  const [{askText}, {parseServiceUrl}] = await Promise.all([
    import('../../cli/prompt.ts'),
    import('../../settings/settings.ts'),
  ]);
  const parse = (value: string) =>
    parseServiceUrl(value.trim(), 'base URL', invocation.globals.allowHttp === true);
  return parse(await askText(invocation, 'Base URL of the service', parse));
}

async function askKey(invocation: Invocation, baseUrl: URL, profileUrl?: string): Promise<Secret> {
  const [{askSecret}, {parseKey}] = await Promise.all([
    import('../../cli/prompt.ts'),
    import('../../settings/settings.ts'),
  ]);
  const parse = (value: string) => parseKey(value, 'The key');
  const page = profileUrl === undefined ? '' : `, from ${profileUrl}`;
  return parse(await askSecret(invocation, `API key for ${baseUrl.origin}${page}`, parse));
}

const longestKey = 64 * 1024;

async function readAll({host}: Invocation): Promise<string> {
  let text = '';
  for await (const chunk of host.stdin) {
    text += String(chunk);
    if (text.length > longestKey) throw new MediaError('usage', 'Standard input is too long to be a key.');
  }
  return text;
}

async function verify(
  invocation: Invocation,
  baseUrl: URL,
  key: Secret,
  settings: Settings,
): Promise<KeyVerdict> {
  const [{newClient, within}, {verifyKey}] = await Promise.all([
    import('../../cli/session.ts'),
    import('../../service/identity.ts'),
  ]);
  const client = newClient(invocation, {baseUrl, graphqlUrl: settings.graphqlUrl}, key, settings);
  const {signal, cancel} = within(invocation, verifyTimeoutMs);
  try {
    return await verifyKey(client, signal);
  } finally {
    cancel();
    await client.close();
  }
}

/** A key that the service rejects, or that could not be checked, is not stored. */
function refuseUnusable(verdict: KeyVerdict, baseUrl: URL, profileUrl?: string): void {
  const storeAnyway = 'Nothing was stored. To store the key unchecked, add --no-verify.';
  if (verdict.status === 'rejected') {
    throw new MediaError(
      'unauthorized',
      sentence(
        `${baseUrl.host} does not know this API key (401)${verdict.message ? `: ${verdict.message}` : ''}`,
      ),
      {
        status: 401,
        hint: `Nothing was stored. Copy the key again from the profile page of the service${profileUrl === undefined ? '.' : `: ${profileUrl}`}`,
      },
    );
  }
  if (verdict.status === 'unreachable') {
    const {code, message} = verdict.error;
    throw new MediaError(code, message, {
      cause: verdict.error,
      hint: exitStatusOf[code] === 6 ? storeAnyway : (verdict.error.hint ?? storeAnyway),
    });
  }
  if (verdict.status === 'unclear') {
    throw new MediaError(
      'unexpected_answer',
      sentence(`${baseUrl.host} could not check the key: ${verdict.message}`),
      {
        status: verdict.httpStatus,
        hint: storeAnyway,
      },
    );
  }
}

interface NewKey {
  baseUrl: URL;
  key: Secret;
  verdict: KeyVerdict | undefined;
}

/** Stores the key in the keychain where there is one, else in the settings file; resolves to the place's name. */
async function storeKey(
  {insecureStorage}: LoginOptions,
  invocation: Invocation,
  {profileName}: Settings,
  newKey: NewKey,
): Promise<string> {
  const {host, report} = invocation;
  const {updateProfiles, configPath} = await import('../../settings/store.ts');
  // A settings directory of one's own, as tests and servers have it, keeps its keys itself.
  const inKeychain =
    insecureStorage !== true &&
    !host.env['MEDIA_CONFIG_DIR'] &&
    (await keep(invocation, profileName, newKey));
  const before: Profile = {};
  await updateProfiles(host, profiles => {
    Object.assign(before, profiles[profileName]);
    profiles[profileName] = withKey(before, newKey, inKeychain);
  });
  const {forgetKeychainEntry} = await import('../../cli/keychain-entry.ts');
  if (!inKeychain || before['key-origin'] !== newKey.baseUrl.origin)
    await forgetKeychainEntry(profileName, before, host, report);
  return inKeychain ? 'the keychain' : configPath(host);
}

async function keep(
  {host, report}: Invocation,
  profileName: string,
  {baseUrl, key}: NewKey,
): Promise<boolean> {
  const {storeInKeychain} = await import('../../settings/keychain.ts');
  const result = await storeInKeychain(host, {profileName, origin: baseUrl.origin}, key);
  if ('key' in result) return true;
  report.warning(
    `The keychain could not be used (${result.failure}), so the key is kept in a file that only you may read.`,
  );
  return false;
}

function withKey(profile: Profile, {baseUrl, key, verdict}: NewKey, inKeychain: boolean): Profile {
  const sameOrigin = profile['key-origin'] === baseUrl.origin;
  const {
    key: oldKey,
    'key-store': oldStore,
    'idempotency-keys': known,
    'graphql-url': graphqlUrl,
    'profile-url': profileUrl,
    ...kept
  } = profile;
  const honoured =
    verdict?.status === 'accepted' ? verdict.honoursIdempotencyKeys : sameOrigin && known === 'honoured';
  return {
    ...kept,
    'base-url': baseUrl.href.replace(/\/+$/, ''),
    ...(inKeychain ? {'key-store': 'keychain'} : {key: key.reveal()}),
    'key-origin': baseUrl.origin,
    ...defined({
      'idempotency-keys': honoured ? 'honoured' : undefined,
      'graphql-url': sameOrigin ? graphqlUrl : undefined,
      'profile-url': mayBelongTo(baseUrl, profile) ? profileUrl : undefined,
    }),
  };
}

/** Settings made before the first login belong to the base URL of the profile, or to the first one that comes. */
function mayBelongTo(baseUrl: URL, profile: Profile): boolean {
  return (profile['key-origin'] ?? originOf(profile) ?? baseUrl.origin) === baseUrl.origin;
}
