import {dirname} from 'node:path';
import {verifyKey} from '../../../engine/service/key-identity.ts';
import {MediaError, unlessBug} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {undefinedIfThrows} from '../../../lib/system-code.ts';
import {missingSettings, refusedKeyHint, verdictError, withKeyHint} from '../../hints/key-hints.ts';
import type {Invocation} from '../../session/invocation.ts';
import {openSessionFor, withSession, withTimeout} from '../../session/session.ts';
import {checkUploadPath} from '../../session/upload-path.ts';
import {isHomeless} from '../../settings/paths.ts';
import {speedSettings} from '../../settings/profile.ts';
import {resolveSettings, type Settings} from '../../settings/settings.ts';
import {configPath} from '../../settings/store.ts';
import type {CheckName, CheckResult} from './check-result.ts';
import {checkInstallation} from './installation.ts';
import {checkNetwork, networkChecks} from './network.ts';

const timeoutMs = 30_000;

/** Runs every check that is possible after the earlier ones; the others are skipped, with the reason. */
export async function runChecks(invocation: Invocation): Promise<CheckResult[]> {
  const {host} = invocation;
  // Reading the settings makes them private, so their modes are checked first.
  const modes = await checkModes(host);
  const results = [await checkInstallation(host)];
  const settings = await readSettings(invocation).catch(unlessBug);
  if (settings instanceof MediaError) {
    results.push(fail('configuration', settings), modes);
    return [...results, ...skip('the settings cannot be used', 'base-url', ...networkChecks, ...ofService)];
  }
  const {baseUrl, profileName, ignored} = settings;
  const place = isHomeless(host) ? 'no settings file' : configPath(host);
  results.push(
    ignored === undefined
      ? ok('configuration', `profile ${profileName} of ${place}`)
      : {check: 'configuration', status: 'warning', message: `${ignored.message} This run ignores it.`},
    modes,
  );
  if (baseUrl === undefined) {
    results.push(fail('base-url', missingSettings(settings)));
    return [...results, ...skip('there is no base URL', ...networkChecks, ...ofService)];
  }
  if (baseUrl === 'embedded') {
    results.push(ok('base-url', 'embedded: the service runs inside the command'));
    results.push(...skip('not needed for the embedded service', ...networkChecks));
    return [...results, ...(await checkService(invocation, settings))];
  }
  results.push(ok('base-url', `${baseUrl.href} (from ${settings.baseUrlSource?.place})`));
  const network = await checkNetwork(invocation, settings, baseUrl);
  results.push(...network);
  if (network.some(({status}) => status === 'failed'))
    return [...results, ...skip('the service was not reached', ...ofService)];
  return [...results, ...(await checkService(invocation, settings))];
}

/** The settings; also rejects for a wrong speed, which otherwise only uploads read. */
async function readSettings({host, globals}: Invocation): Promise<Settings> {
  const settings = await resolveSettings(host, globals);
  await speedSettings(settings);
  return settings;
}

/** Fails if both the settings file and its directory were open to other users. Windows has no modes to check. */
async function checkModes(host: Host): Promise<CheckResult> {
  const check = 'file-modes';
  // The code that reads the file reports why there is no path, or it cannot be accessed.
  const path = host.platform === 'win32' ? undefined : undefinedIfThrows(() => configPath(host));
  const places = path === undefined ? [] : [dirname(path), path];
  const stats = await Promise.all(places.map(place => host.files.lstat(place))).catch(() => []);
  if (stats.length === 0) return {check, status: 'skipped', message: 'there is no settings file'};
  if (!stats.every(({mode}) => (mode & 0o077) !== 0)) return ok(check, 'only you can read the settings');
  const modes = stats.map(({mode}) => (mode & 0o777).toString(8).padStart(4, '0'));
  const names = places.map((place, at) => `${place} (${modes[at]})`).join(' and ');
  const hint = 'If others use this machine, replace the key that is stored there.';
  const sentence = `Other users had access to ${names} when this command began.`;
  return fail(check, new MediaError('config_unusable', sentence, {hint}));
}

/** Asks the service about the key and, with the key, the upload path. */
async function checkService(invocation: Invocation, settings: Settings): Promise<CheckResult[]> {
  if (settings.baseUrl !== 'embedded' && settings.key === undefined)
    return [fail('key', missingSettings(settings)), ...skip('there is no key', 'upload-path')];
  const session = await openSessionFor(settings, invocation);
  return withSession(session, async ({hostName, client}) => {
    const verdict = await withTimeout(invocation, timeoutMs, signal => verifyKey(client, signal));
    const error = verdictError(verdict, hostName);
    // The key of the embedded service is not one that a person could renew.
    const problem =
      settings.baseUrl === 'embedded' ? error : error?.inWordsOf(withKeyHint(refusedKeyHint(settings)));
    if (verdict.status === 'rejected' && problem !== undefined)
      return [fail('key', problem), ...skip('the key is not accepted', 'upload-path')];
    const path = await withTimeout(invocation, timeoutMs, signal =>
      checkUploadPath({client, settings}, signal),
    );
    const mask = settings.key?.secret.mask() ?? 'made for this run';
    let key = problem === undefined ? ok('key', `${mask}, accepted`) : fail('key', problem);
    if (verdict.status === 'denied' && path.status === 'ok') {
      const message = `${mask}: a GraphQL request returned ${verdict.httpStatus}, so it may be for uploads only`;
      key = {check: 'key', status: 'warning', message};
    }
    return [key, {check: 'upload-path', ...path}];
  });
}

function ok(check: CheckName, message: string): CheckResult {
  return {check, status: 'ok', message};
}

function skip(message: string, ...checks: readonly CheckName[]): CheckResult[] {
  return checks.map(check => ({check, status: 'skipped', message}));
}

function fail(check: CheckName, error: MediaError): CheckResult {
  return {check, status: 'failed', error};
}

/** The checks that need a response of the service. */
const ofService = ['key', 'upload-path'] as const;
