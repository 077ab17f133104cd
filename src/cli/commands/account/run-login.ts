import {accountOfKey, type KeyVerdict, verifyKey} from '../../../engine/service/key-identity.ts';
import {withScheme} from '../../../engine/service/service-url.ts';
import {exitStatusOf, MediaError, unlessBug} from '../../../errors.ts';
import type {Secret} from '../../../lib/secrets/secret.ts';
import {verdictError, withKeyHint} from '../../hints/key-hints.ts';
import type {Report} from '../../output/report.ts';
import type {Invocation} from '../../session/invocation.ts';
import {openSessionFor, type Session, withSession, withTimeout} from '../../session/session.ts';
import {checkUploadPath} from '../../session/upload-path.ts';
import {clearVariable, hintOptions, profileOption} from '../../settings/hint-options.ts';
import {refuseOtherOrigin, resolveSettings} from '../../settings/settings.ts';
import {askBaseUrl, askKey, readKey, requireTerminal} from './ask-key.ts';
import {type NewKey, storeKey} from './store-key.ts';

export interface LoginOptions {
  keyStdin?: boolean;
  /** Store the key in the settings file, even if there is a keychain. */
  insecureStorage?: boolean;
  /** False after --no-verify. */
  verify: boolean;
  /** Milliseconds. */
  timeout: number;
}

/** How often a person may type a key, if the service does not know it. */
const mostTries = 3;

/** Asks for what is missing, checks the key with the service and stores it for the base URL's origin. */
export async function runLogin(options: LoginOptions, {globals, ...run}: Invocation): Promise<void> {
  const baseUrlOption = globals.baseUrl === undefined ? {} : {baseUrl: withScheme(globals.baseUrl)};
  const invocation = {...run, globals: {...globals, ...baseUrlOption}};
  const {host, report} = invocation;
  // With the variable or a key-command, the stored key would never be used; gh refuses this too.
  if (host.env['MEDIA_API_KEY'])
    throw new MediaError(
      'usage',
      'MEDIA_API_KEY is set, and it would be used instead of the key stored here.',
      {hint: `To store a key, clear it first: ${clearVariable(host, 'MEDIA_API_KEY')}`},
    );
  if (!options.keyStdin) requireTerminal(invocation);
  const resolve = (globals: Invocation['globals']) => resolveSettings(host, globals, {readKey: false});
  let settings = await resolve(invocation.globals);
  if (settings.baseUrl === 'embedded')
    throw new MediaError('usage', 'The embedded service needs no login.', {
      hint: 'Upload with: media upload FILE --base-url embedded',
    });
  if (settings.profile['key-command'] !== undefined)
    throw new MediaError('usage', `Profile ${settings.profileName} gets its key from its key-command.`, {
      hint: `To store a key instead, run: media config unset key-command${profileOption(settings)}`,
    });
  const baseUrl = settings.baseUrl ?? (await askBaseUrl(invocation));
  // Certificates are read for a service only.
  if (settings.baseUrl === undefined)
    settings = await resolve({...invocation.globals, baseUrl: baseUrl.href});
  // Checking the key would send it there.
  refuseOtherOrigin(settings, baseUrl);
  // A key that is typed is asked for, so that the terminal does not show it.
  const isPiped = options.keyStdin === true && host.stdin.isTTY !== true;
  /** Checks a key and stores it; rejects if the service refuses it. */
  const logIn = async (key: Secret) => {
    const ofKey = {baseUrl, key: {secret: key, source: 'profile'}} as const;
    await withSession(await openSessionFor({...settings, ...ofKey}, invocation), async session => {
      const checked = options.verify ? await checkKey(invocation, session, options.timeout) : undefined;
      const {profileName} = settings;
      const newKey: NewKey = {profileName, baseUrl, key, ...checked};
      const place = await storeKey(invocation, newKey, options.insecureStorage !== true);
      reportKeyPlace(newKey, `${place} (profile ${profileName})`, report);
      if (checked !== undefined) {
        const ask = (signal: AbortSignal) => checkUploadPath(session, signal);
        const path = await withTimeout(invocation, options.timeout, ask);
        if (path.status === 'warning') report.warning(`${path.message}.`);
        if (path.status === 'failed') report.warning(`${path.error.message} ${path.error.hint ?? ''}`.trim());
      }
      noteNextCommands(newKey.verdict, invocation);
    });
  };
  if (isPiped) return logIn(await readKey(invocation));
  for (let triesLeft = mostTries - 1; ; triesLeft -= 1) {
    const key = await askKey(invocation, baseUrl, settings.profileUrl);
    const refusal = await logIn(key).catch(unlessBug);
    if (refusal === undefined) return;
    if (refusal.code !== 'unauthorized' || triesLeft === 0) throw refusal;
    report.failure(refusal);
  }
}

/** Reports where the key was stored, and what the service said of it. */
function reportKeyPlace({baseUrl, verdict}: NewKey, place: string, report: Report): void {
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
function noteNextCommands(verdict: KeyVerdict | undefined, {host, globals, report}: Invocation): void {
  const {baseUrl, ...others} = globals;
  const options = hintOptions({host, globals: host.env['MEDIA_BASE_URL'] ? globals : others});
  report.note(
    verdict?.status === 'accepted'
      ? `To see whose key it is: media whoami${options}`
      : `To check what it may do: media doctor${options}`,
  );
  report.note(`To upload a file: media upload FILE${options}`);
}

/** Asks the service about a key, and whose it is. Rejects if it does not accept the key, or cannot be asked. */
async function checkKey(invocation: Invocation, {client, hostName, settings}: Session, timeoutMs: number) {
  const verdict = await withTimeout(invocation, timeoutMs, signal => verifyKey(client, signal));
  // A key for uploads only may be denied.
  const error = verdict.status === 'denied' ? undefined : verdictError(verdict, hostName);
  if (error !== undefined) throw error.reword({hint: refusalHint(error, settings.profileUrl)});
  if (verdict.status !== 'accepted') return {verdict};
  return {verdict, account: await withTimeout(invocation, timeoutMs, signal => accountOfKey(client, signal))};
}

/** Advises to copy the key again or, if the service could not be asked about it, to skip the check. */
function refusalHint(error: MediaError, profileUrl: string | undefined): string {
  const {code} = error;
  const storeAnyway = 'Nothing was stored. To store the key unchecked, add --no-verify.';
  if (exitStatusOf[code] === 6 || code === 'unexpected_response') return storeAnyway;
  const page = profileUrl === undefined ? '.' : `: ${profileUrl}`;
  const copyKey = `Nothing was stored. Copy the key again from the profile page of the service${page}`;
  return error.inWordsOf(withKeyHint(copyKey)).hint ?? storeAnyway;
}
