import {lookup} from 'node:dns/promises';
import {isIP} from 'node:net';
import type {Invocation} from '../../cli/invocation.ts';
import {connectionOptions, within} from '../../cli/session.ts';
import {type ErrorCode, MediaError} from '../../errors.ts';
import {Connection, describeConnectError, proxyFor} from '../../http/http.ts';
import type {Settings} from '../../settings/settings.ts';
import type {CheckResult} from './check-result.ts';

/** The steps of a connection to the service, in their order. */
export const networkChecks = ['proxy', 'dns', 'connection', 'tls'] as const;

type NetworkCheck = (typeof networkChecks)[number];

const timeoutMs = 30_000;

/** Tries to reach the service step by step; steps after one that fails are skipped. */
export async function checkNetwork(
  invocation: Invocation,
  settings: Settings,
  url: URL,
): Promise<CheckResult[]> {
  let proxy: URL | undefined;
  try {
    proxy = proxyFor(url, invocation.host.env);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    const message = 'the proxy variable cannot be used';
    return networkChecks.map(check =>
      check === 'proxy' ? {check, status: 'failed', error} : {check, status: 'skipped', message},
    );
  }
  const name = await lookUp(proxy ?? url, proxy === undefined ? 'service' : 'proxy');
  const request = name.error === undefined ? await sendRequest(invocation, settings, url) : undefined;
  const error = name.error ?? request?.error;
  const failed = name.error !== undefined ? 'dns' : error && failedCheck(error.code, proxy !== undefined);
  const end = failed === undefined ? networkChecks.length : networkChecks.indexOf(failed);
  const findings: Partial<Record<NetworkCheck, string | undefined>> = {
    dns: name.message,
    connection: request?.message,
  };
  const successes: Record<NetworkCheck, string> = {
    proxy: proxy === undefined ? 'none' : `through ${proxy.origin}`,
    dns: 'looked up',
    connection: 'reached',
    tls: url.protocol === 'https:' ? 'the certificate is accepted' : 'not used: the base URL is plain http',
  };
  return networkChecks.map((check, index) => {
    if (error !== undefined && check === failed) return {check, status: 'failed', error};
    const found = findings[check];
    if (found === undefined && index > end) return {check, status: 'skipped', message: 'not reached'};
    return {check, status: 'ok', message: found ?? successes[check]};
  });
}

/** What a step found, or why it failed. */
interface Step {
  message?: string;
  error?: MediaError;
}

/** Looks up the name of the proxy or the service. */
async function lookUp(url: URL, role: 'service' | 'proxy'): Promise<Step> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return {message: `${name} is an address`};
  try {
    const addresses = await lookup(name, {all: true});
    return {message: `${name} is at ${addresses.map(({address}) => address).join(', ')}`};
  } catch (error) {
    return {error: describeConnectError(error, url, role)};
  }
}

/** Sends one request without the key: any response shows that the service is reached. */
async function sendRequest(invocation: Invocation, settings: Settings, url: URL): Promise<Step> {
  const connection = new Connection(url, connectionOptions(invocation, settings));
  return within(invocation, timeoutMs, async signal => {
    try {
      const {status} = await connection.request({method: 'GET', path: url.pathname, headers: {}, signal});
      return {message: `${url.host} responds (${status} to GET ${url.pathname} without the key)`};
    } catch (cause) {
      if (cause instanceof MediaError) return {error: cause};
      const error = signal.aborted
        ? new MediaError('connect_timeout', `${url.host} accepted the connection, but did not respond.`, {
            cause,
            hint: 'Check the port, and that the service is running.',
          })
        : new MediaError('connection_lost', `${url.host} accepted the connection, then closed it.`, {
            cause,
            hint: 'Check the scheme and the port of the base URL, and any firewall or proxy in between.',
          });
      return {error};
    } finally {
      await connection.destroy();
    }
  });
}

/** The step that fails with this code. */
function failedCheck(code: ErrorCode, throughProxy: boolean): NetworkCheck {
  switch (code) {
    case 'proxy_failed':
      return 'proxy';
    case 'host_not_found':
    case 'dns_unavailable':
      return 'dns';
    case 'tls_failed':
      return 'tls';
    default:
      // Through a proxy, only the proxy is connected to.
      return throughProxy && code !== 'connection_lost' ? 'proxy' : 'connection';
  }
}
