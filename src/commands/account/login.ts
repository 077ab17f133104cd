import {type Cli, CliCommand, type Invocation} from '../../cli/invocation.ts';
import {timeoutOption} from '../../cli/values.ts';
import {MediaError} from '../../errors.ts';
import type {Report} from '../../output/report.ts';
import type {KeyVerdict} from '../../service/identity.ts';
import {clearVariable, hintOptions, profileOption} from '../../settings/hint-options.ts';
import type {Settings} from '../../settings/settings.ts';
import type {NewKey} from './store-key.ts';

export interface LoginOptions {
  keyStdin?: boolean;
  /** Store the key in the settings file, even if there is a keychain. */
  insecureStorage?: boolean;
  /** False after --no-verify. */
  verify: boolean;
  /** Milliseconds. */
  timeout: number;
}

export function loginCommand(cli: Cli): CliCommand {
  return new CliCommand('login', cli)
    .description('Check an API key with the service and store it.')
    .option('--key-stdin', 'read the key from standard input')
    .option('--no-verify', 'store the key without checking it')
    .option('--insecure-storage', 'store the key in the settings file instead of the keychain')
    .addOption(timeoutOption())
    .examples([
      'media login --base-url https://api.example.com',
      'pass show media/key | media login --base-url https://api.example.com --key-stdin',
      'media login --profile staging --base-url https://staging.example.com',
    ])
    .runs(runLogin);
}

/** Asks for what is missing, checks the key with the service and stores it for the base URL's origin. */
export async function runLogin(options: LoginOptions, invocation: Invocation): Promise<void> {
  const {host, report} = invocation;
  // The stored key would never be used; gh refuses this too.
  if (host.env['MEDIA_API_KEY'])
    throw new MediaError(
      'usage',
      'MEDIA_API_KEY is set, and it would be used instead of the key stored here.',
      {hint: `To store a key, clear it first: ${clearVariable(host, 'MEDIA_API_KEY')}`},
    );
  const {askBaseUrl, askKey, readKey, requireTerminal} = await import('./ask-key.ts');
  if (!options.keyStdin) requireTerminal(invocation);
  const {refuseOtherOrigin, resolveSettings} = await import('../../settings/settings.ts');
  const settings = await resolveSettings(host, invocation.globals, {readKey: false});
  if (settings.baseUrl?.kind === 'embedded') {
    throw new MediaError('usage', 'The embedded service needs no login.', {
      hint: 'Upload with: media upload FILE --base-url embedded',
    });
  }
  refuseKeyCommand(settings);
  const baseUrl = settings.baseUrl?.url ?? (await askBaseUrl(invocation));
  // Checking the key would send it there.
  refuseOtherOrigin(settings, baseUrl);
  // A key that is typed is asked for, so that the terminal does not show it.
  const isPiped = options.keyStdin === true && host.stdin.isTTY !== true;
  const key = isPiped ? await readKey(invocation) : await askKey(invocation, baseUrl, settings.profileUrl);
  const [{openSessionFor, withSession}, {checkKey, warnOfUploadPath}, {storeKey}] = await Promise.all([
    import('../../cli/session.ts'),
    import('./check-key.ts'),
    import('./store-key.ts'),
  ]);
  const ofKey = {baseUrl: {kind: 'service', url: baseUrl}, key: {secret: key, source: 'profile'}} as const;
  await withSession(await openSessionFor({...settings, ...ofKey}, invocation), async session => {
    const checked = options.verify ? await checkKey(invocation, session, options.timeout) : undefined;
    const {profileName} = settings;
    const newKey = {baseUrl, key, ...checked};
    const place = await storeKey(invocation, profileName, newKey, options.insecureStorage !== true);
    reportStored(newKey, `${place} (profile ${profileName})`, report);
    if (checked !== undefined) await warnOfUploadPath(invocation, session, options.timeout);
    adviseNext(newKey.verdict, invocation);
  });
}

function reportStored({baseUrl, verdict}: NewKey, place: string, report: Report): void {
  if (verdict === undefined) {
    report.note(`The key for ${baseUrl.origin} is stored unchecked in ${place}.`);
  } else if (verdict.status === 'denied') {
    report.warning(
      `${baseUrl.host} returned ${verdict.httpStatus} for the check: this may be a key for uploads only, or the base URL may be wrong.`,
    );
    report.note(`The key for ${baseUrl.origin} is stored in ${place}.`);
  } else report.note(`${baseUrl.host} accepted the key. It is stored in ${place}.`);
}

/** Suggests commands. They need no --base-url, since the profile has it, unless the environment sets another. */
function adviseNext(verdict: KeyVerdict | undefined, {host, globals, report}: Invocation): void {
  const {baseUrl, ...others} = globals;
  const options = hintOptions({host, globals: host.env['MEDIA_BASE_URL'] ? globals : others});
  report.note(
    verdict?.status === 'accepted'
      ? `To see whose key it is: media whoami${options}`
      : `To check what it may do: media doctor${options}`,
  );
  report.note(`To upload a file: media upload FILE${options}`);
}

function refuseKeyCommand(settings: Settings): void {
  const {profile, profileName} = settings;
  if (profile['key-command'] === undefined) return;
  throw new MediaError('usage', `Profile ${profileName} gets its key from its key-command.`, {
    hint: `To store a key instead, run: media config unset key-command${profileOption(settings)}`,
  });
}
