import {lstat} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Invocation} from '../../cli/invocation.ts';
import {missingSettings, refusedKeyHint, verdictError} from '../../cli/key-hints.ts';
import {openSessionFor, within} from '../../cli/session.ts';
import {adviseOnUploadPath} from '../../cli/upload-path-advice.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {verifyKey} from '../../service/identity.ts';
import {checkUploadPath} from '../../service/probe.ts';
import {speedSettings} from '../../settings/profile.ts';
import {resolveSettings, type Settings} from '../../settings/settings.ts';
import {configPath} from '../../settings/store.ts';
import type {CheckName, CheckResult} from './check-result.ts';
import {checkInstallation} from './installation.ts';
import {checkNetwork, networkChecks} from './network.ts';

const timeoutMs = 30_000;

/** Runs every check that is possible after the earlier ones; the others are skipped, with the reason. */
export async function examine(invocation: Invocation): Promise<CheckResult[]> {
  const checkup = new Checkup(invocation);
  await checkup.examine();
  return checkup.results;
}

class Checkup {
  readonly results: CheckResult[] = [];
  readonly #invocation: Invocation;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  async examine(): Promise<void> {
    const {host} = this.#invocation;
    // Reading the settings makes them private, so their modes are checked first.
    const modes = await settingsModes(host);
    this.results.push(await checkInstallation(host));
    const settings = await this.#settings();
    this.#fileModes(modes);
    if (settings === undefined)
      return this.#skip('the settings cannot be used', 'base-url', ...networkChecks, ...ofService);
    const {baseUrl} = settings;
    if (baseUrl === undefined) {
      this.#fail('base-url', missingSettings(settings, host));
      return this.#skip('there is no base URL', ...networkChecks, ...ofService);
    }
    if (baseUrl.kind === 'embedded') {
      this.#ok('base-url', 'embedded: the service runs inside the command');
      this.#skip('not needed for the embedded service', ...networkChecks);
      return this.#service(settings);
    }
    this.#ok('base-url', `${baseUrl.url.href} (from ${settings.baseUrlSource?.place})`);
    const network = await checkNetwork(this.#invocation, settings, baseUrl.url);
    this.results.push(...network);
    if (network.every(({status}) => status !== 'failed')) await this.#service(settings);
    else this.#skip('the service was not reached', ...ofService);
  }

  async #settings(): Promise<Settings | undefined> {
    const {host, globals} = this.#invocation;
    try {
      const settings = await resolveSettings(host, globals);
      await speedSettings(settings.run);
      this.#ok('configuration', `profile ${settings.profileName} of ${configPath(host)}`);
      return settings;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      this.#fail('configuration', error);
      return undefined;
    }
  }

  /** `before`: the modes before the settings were read, which made them private. */
  #fileModes(before: readonly PathMode[]): void {
    if (before.length === 0) this.#skip('there is no settings file', 'file-modes');
    else if (before.every(({mode}) => (mode & 0o077) !== 0)) {
      const names = before
        .map(({path, mode}) => `${path} (${mode.toString(8).padStart(4, '0')})`)
        .join(' and ');
      const hint = 'If others use this machine, replace the key that is stored there.';
      const sentence = `Other users had access to ${names} until now.`;
      this.#fail('file-modes', new MediaError('config_unusable', sentence, {hint}));
    } else this.#ok('file-modes', 'only you can read the settings');
  }

  /** Asks the service about the key and, with the key, the upload path. */
  async #service(settings: Settings): Promise<void> {
    const {host} = this.#invocation;
    if (settings.baseUrl?.kind !== 'embedded' && settings.key === undefined) {
      this.#fail('key', missingSettings(settings, host));
      return this.#skip('there is no key', 'upload-path');
    }
    const session = await openSessionFor(settings, this.#invocation);
    try {
      const verdict = await within(this.#invocation, timeoutMs, signal => verifyKey(session.client, signal));
      const {keyFacts, hostName, client, baseUrl} = session;
      const hint = keyFacts && refusedKeyHint(keyFacts, host);
      const problem = verdictError(verdict, hostName, hint);
      if (verdict.status === 'rejected') {
        if (problem !== undefined) this.#fail('key', problem);
        return this.#skip('the key is not accepted', 'upload-path');
      }
      const path = await within(this.#invocation, timeoutMs, signal => checkUploadPath(client, signal));
      const key = settings.key?.secret.masked() ?? 'made for this run';
      if (problem === undefined) this.#ok('key', `${key}, accepted`);
      else if (verdict.status === 'denied' && path.status === 'accepts') {
        const message = `${key}: a GraphQL request returned ${verdict.httpStatus}, so it may be for uploads only`;
        this.results.push({check: 'key', status: 'warning', message});
      } else this.#fail('key', problem);
      this.results.push({check: 'upload-path', ...adviseOnUploadPath(path, baseUrl, settings)});
    } finally {
      await session.close();
    }
  }

  #ok(check: CheckName, message: string): void {
    this.results.push({check, status: 'ok', message});
  }

  #skip(message: string, ...checks: readonly CheckName[]): void {
    for (const check of checks) this.results.push({check, status: 'skipped', message});
  }

  #fail(check: CheckName, error: MediaError): void {
    this.results.push({check, status: 'failed', error});
  }
}

/** The checks that need a response of the service. */
const ofService = ['key', 'upload-path'] as const;

/** A path with its permission bits, such as 0o600. */
interface PathMode {
  path: string;
  mode: number;
}

/** The modes of the settings file and its directory; empty without a file, and on Windows, which has no modes. */
async function settingsModes(host: Host): Promise<PathMode[]> {
  if (host.platform === 'win32') return [];
  const path = configPath(host);
  try {
    const modes = [dirname(path), path].map(async place => ({
      path: place,
      mode: (await lstat(place)).mode & 0o777,
    }));
    return await Promise.all(modes);
  } catch {
    // The code that reads the file reports why it cannot be accessed.
    return [];
  }
}
