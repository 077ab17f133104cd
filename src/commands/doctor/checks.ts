import {lookup} from 'node:dns/promises';
import {isIP} from 'node:net';
import type {Invocation} from '../../cli/invocation.ts';
import {missingSettings, refusedKeyHint} from '../../cli/key-hints.ts';
import {connectionOptions, openSessionFor, type Session, within} from '../../cli/session.ts';
import {adviseOnUploadPath} from '../../cli/upload-path-advice.ts';
import {type ErrorCode, MediaError, systemCode} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {Connection, proxyFor} from '../../http/http.ts';
import {type KeyVerdict, verifyKey} from '../../service/identity.ts';
import {checkUploadPath} from '../../service/upload-path.ts';
import {isOpenToOthers, type PathMode, settingsModes} from '../../settings/file-modes.ts';
import {resolveSettings, type Settings} from '../../settings/settings.ts';
import {configPath} from '../../settings/store.ts';
import {sentence} from '../../transfer/explain.ts';
import type {CheckName, CheckResult} from './check-result.ts';

const timeoutMs = 30_000;

/** Makes every check that can still be made after the ones before it; what cannot is skipped, and says why. */
export async function examine(invocation: Invocation): Promise<CheckResult[]> {
  const checkup = new Checkup(invocation);
  await checkup.examine();
  return checkup.results;
}

class Checkup {
  readonly results: CheckResult[] = [];
  readonly #invocation: Invocation;
  /** What a step that went well has to tell. */
  readonly #findings: Partial<Record<CheckName, string>> = {};

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  async examine(): Promise<void> {
    const {host} = this.#invocation;
    // Reading the settings takes from other users what they must not have: so look before.
    const modes = await settingsModes(host);
    const settings = await this.#settings();
    await this.#fileModes(modes);
    if (settings === undefined)
      return this.#skip('the settings cannot be used', 'base-url', ...network, ...ofService);
    const {baseUrl} = settings;
    if (baseUrl === undefined) {
      this.#fail('base-url', missingSettings(settings, host));
      return this.#skip('there is no base URL', ...network, ...ofService);
    }
    if (baseUrl.kind === 'embedded') {
      this.#ok('base-url', 'embedded: the service runs inside the command');
      this.#skip('not needed for the embedded service', ...network);
      return this.#service(settings);
    }
    this.#ok('base-url', baseUrl.url.href);
    if (await this.#isReached(baseUrl.url, settings)) await this.#service(settings);
    else this.#skip('the service was not reached', ...ofService);
  }

  async #settings(): Promise<Settings | undefined> {
    const {host, globals} = this.#invocation;
    try {
      const settings = await resolveSettings(host, globals);
      this.#ok('configuration', `profile ${settings.profileName} of ${configPath(host)}`);
      return settings;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      this.#fail('configuration', error);
      return undefined;
    }
  }

  async #fileModes(before: readonly PathMode[]): Promise<void> {
    const open = before.filter(isOpenToOthers);
    if (before.length === 0) return this.#skip('there is no settings file', 'file-modes');
    if (open.length === 0) return this.#ok('file-modes', 'the settings are readable by you alone');
    const after = await settingsModes(this.#invocation.host);
    const names = open.map(({path, mode}) => `${path} (${mode.toString(8).padStart(4, '0')})`).join(' and ');
    if (after.some(isOpenToOthers)) {
      const hint = `Run: chmod go= ${open.map(({path}) => path).join(' ')}`;
      this.#fail('file-modes', new MediaError('config_unusable', `Other users can get at ${names}.`, {hint}));
    } else if (before.every(isOpenToOthers)) {
      const hint = 'If others use this machine, replace the key that is stored there by a new one.';
      const sentence = `Other users could get at ${names}, until now.`;
      this.#fail('file-modes', new MediaError('config_unusable', sentence, {hint}));
    } else {
      this.#ok('file-modes', `the settings are readable by you alone; made private just now: ${names}`);
    }
  }

  /** Tries the way to the service step by step, as a request goes it. */
  async #isReached(url: URL, settings: Settings): Promise<boolean> {
    let proxy: URL | undefined;
    try {
      proxy = proxyFor(url, this.#invocation.host.env);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      this.#fail('proxy', error);
      this.#skip('the proxy variable cannot be used', 'dns', 'connection', 'tls');
      return false;
    }
    const problem = (await this.#lookUp(proxy ?? url)) ?? (await this.#request(url, settings));
    const failed = problem === undefined ? undefined : checkOf(problem.code, proxy !== undefined);
    for (const check of network) {
      if (problem !== undefined && check === failed) this.#fail(check, problem);
      else if (this.#findings[check] !== undefined) this.#ok(check, this.#findings[check]);
      else if (failed !== undefined && network.indexOf(check) > network.indexOf(failed))
        this.#skip('not reached', check);
      else this.#ok(check, describeStep(check, url, proxy));
    }
    return failed === undefined;
  }

  /** What of the name of the next machine on the way: an address is none. */
  async #lookUp(url: URL): Promise<MediaError | undefined> {
    const name = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(name) !== 0) {
      this.#findings.dns = `${name} is an address`;
      return undefined;
    }
    try {
      const addresses = await lookup(name, {all: true});
      this.#findings.dns = `${name} is at ${addresses.map(({address}) => address).join(', ')}`;
      return undefined;
    } catch (error) {
      const missingName = systemCode(error) === 'ENOTFOUND';
      return new MediaError(
        missingName ? 'host_not_found' : 'dns_unavailable',
        missingName
          ? `There is no host called ${name}.`
          : `The name ${name} could not be looked up just now.`,
        {
          cause: error,
          hint: missingName
            ? 'Check the spelling of the base URL, or of the proxy variable where there is one.'
            : 'Check the network connection, then try again.',
        },
      );
    }
  }

  /** One request without the key: whatever is answered, somebody was reached. */
  async #request(url: URL, settings: Settings): Promise<MediaError | undefined> {
    const connection = new Connection(url, connectionOptions(this.#invocation, settings));
    const {signal, cancel} = within(this.#invocation, timeoutMs);
    try {
      const {status} = await connection.request({method: 'GET', path: url.pathname, headers: {}, signal});
      this.#findings.connection = `${url.host} answers (${status} to GET ${url.pathname} without the key)`;
      return undefined;
    } catch (error) {
      if (error instanceof MediaError) return error;
      return signal.aborted
        ? new MediaError('connect_timeout', `${url.host} took the connection, but gave no answer.`, {
            cause: error,
            hint: 'Check the port, and that the service runs.',
          })
        : new MediaError('connection_lost', `${url.host} took the connection, and broke it off.`, {
            cause: error,
            hint: 'Check the scheme and the port of the base URL, and any firewall or proxy in between.',
          });
    } finally {
      cancel();
      await connection.destroy();
    }
  }

  /** What the service says of the key and, with the key, at the upload path. */
  async #service(settings: Settings): Promise<void> {
    const {host} = this.#invocation;
    if (settings.baseUrl?.kind !== 'embedded' && settings.key === undefined) {
      this.#fail('key', missingSettings(settings, host));
      return this.#skip('there is no key to ask with', 'upload-path');
    }
    const session = await openSessionFor(settings, this.#invocation);
    try {
      const verdict = await this.#judge(signal => verifyKey(session.client, signal));
      const problem = describeVerdict(verdict, session, host);
      if (problem === undefined)
        this.#ok('key', `${settings.key?.secret.masked() ?? 'made for this run'}, accepted`);
      else this.#fail('key', problem);
      if (verdict.status === 'rejected') this.#skip('the key is not accepted', 'upload-path');
      else await this.#uploadPath(session, settings);
    } finally {
      await session.close();
    }
  }

  async #uploadPath({client, baseUrl}: Session, settings: Settings): Promise<void> {
    const verdict = await this.#judge(signal => checkUploadPath(client, signal));
    this.results.push({check: 'upload-path', ...adviseOnUploadPath(verdict, baseUrl, settings)});
  }

  async #judge<Verdict>(ask: (signal: AbortSignal) => Promise<Verdict>): Promise<Verdict> {
    const {signal, cancel} = within(this.#invocation, timeoutMs);
    try {
      return await ask(signal);
    } finally {
      cancel();
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

/** The checks that only the service itself can answer. */
const ofService = ['key', 'upload-path'] as const;

/** The checks of the way to the service, as a request goes it. */
const network = ['proxy', 'dns', 'connection', 'tls'] as const;

/** The step that fails with this code. */
function checkOf(code: ErrorCode, throughProxy: boolean): (typeof network)[number] {
  switch (code) {
    case 'proxy_failed':
      return 'proxy';
    case 'host_not_found':
    case 'dns_unavailable':
      return 'dns';
    case 'tls_failed':
      return 'tls';
    default:
      // Whatever is behind it, a proxy answers for.
      return throughProxy && code !== 'connection_lost' ? 'proxy' : 'connection';
  }
}

function describeStep(check: (typeof network)[number], url: URL, proxy: URL | undefined): string {
  switch (check) {
    case 'proxy':
      return proxy === undefined ? 'none' : `through ${proxy.origin}`;
    case 'tls':
      return url.protocol === 'https:'
        ? 'the certificate is accepted'
        : 'not used: the base URL is plain http';
    default:
      return 'reached';
  }
}

/** What the service's verdict on the key says is wrong, if anything. */
function describeVerdict(
  verdict: KeyVerdict,
  {hostName, keyFacts}: Session,
  host: Host,
): MediaError | undefined {
  switch (verdict.status) {
    case 'accepted':
      return undefined;
    case 'unreachable':
      return verdict.error;
    case 'rejected':
      return new MediaError('unauthorized', `${hostName} does not know this API key (401).`, {
        status: 401,
        hint: keyFacts && refusedKeyHint(keyFacts, host),
      });
    case 'denied':
      return new MediaError(
        verdict.httpStatus === 404 ? 'not_found' : 'forbidden',
        `${hostName} answered ${verdict.httpStatus} to the key.`,
        {
          status: verdict.httpStatus,
          hint: 'The key lacks permission (an upload-only key may still upload: see the upload path), or the base URL is wrong.',
        },
      );
    case 'unclear':
      return new MediaError(
        'unexpected_answer',
        sentence(`${hostName} could not check the key: ${verdict.message}`),
        {
          status: verdict.httpStatus,
          hint: 'Check the base URL: this may be another service, or a proxy in front of it that answers instead.',
        },
      );
  }
}
