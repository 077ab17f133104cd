import {lookup} from 'node:dns/promises';
import {isIP} from 'node:net';
import {
  Connection,
  clientCertificateHint,
  describeConnectError,
  type HttpResponse,
  type NamedProxy,
  proxyFor,
} from '../../../engine/http/http.ts';
import {refusalIn} from '../../../engine/service/uploader.ts';
import {brokenRequestError, type ErrorCode, MediaError, unlessBug} from '../../../errors.ts';
import type {Invocation} from '../../session/invocation.ts';
import {connectionOptions, withTimeout} from '../../session/session.ts';
import {correctBaseUrl} from '../../settings/hint-options.ts';
import type {Settings} from '../../settings/settings.ts';
import type {CheckResult} from './check-result.ts';

/** The steps of a connection to the service, in their order. */
export const networkChecks = ['proxy', 'dns', 'connection', 'tls'] as const;

type NetworkCheck = (typeof networkChecks)[number];

const timeoutMs = 30_000;

/** Tries to reach the service step by step; steps after one that fails are skipped. */
export async function checkNetwork(invocation: Invocation, settings: Settings, url: URL) {
  let proxy: NamedProxy | undefined;
  let [address, response] = ['', ''];
  let error: MediaError | undefined;
  try {
    proxy = proxyFor(url, invocation.host.env);
    // A proxy looks up the name of the service, and a failure to look up its own is its failure.
    if (proxy === undefined) address = await lookUp(url);
    response = await sendRequest(invocation, settings, url);
  } catch (failure) {
    error = unlessBug(failure);
  }
  const isProxied = proxy !== undefined;
  const failed = error && failedCheck(error.code, isProxied);
  const messages: Record<NetworkCheck, string> = {
    proxy: proxy === undefined ? 'none' : `through ${proxy.url.origin}`,
    dns: address,
    connection: response,
    tls: url.protocol === 'https:' ? 'the certificate is accepted' : 'not used: the base URL is plain http',
  };
  return networkChecks.map((check, index): CheckResult => {
    if (error !== undefined && check === failed) return {check, status: 'failed', error};
    if (check === 'dns' && isProxied)
      return {check, status: 'skipped', message: `the proxy looks up ${url.hostname}`};
    if (failed !== undefined && index > networkChecks.indexOf(failed))
      return {check, status: 'skipped', message: 'not reached'};
    return {check, status: 'ok', message: messages[check]};
  });
}

/** The addresses of the service, as a message; rejects with the error that a request would get. */
async function lookUp(url: URL): Promise<string> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return `${name} is an IP address`;
  const addresses = await lookup(name, {all: true}).catch(error => {
    throw describeConnectError(error, url);
  });
  return `${name} is at ${addresses.map(({address}) => address).join(', ')}`;
}

/** Sends one request without the key: any response shows that the service is reached. */
async function sendRequest(invocation: Invocation, settings: Settings, url: URL): Promise<string> {
  const connection = new Connection(url, connectionOptions(invocation, settings));
  return withTimeout(invocation, timeoutMs, async signal => {
    try {
      const response = await connection.request({method: 'GET', path: url.pathname, headers: {}, signal});
      const error = refusalForTls(response, url, settings);
      if (error !== undefined) throw error;
      return `${url.host} responds (${response.status} to GET ${url.pathname} without the key)`;
    } catch (cause) {
      const broken = brokenRequestError(cause, url.host);
      if (signal.aborted)
        throw new MediaError('connect_timeout', `${url.host} accepted the connection, but did not respond.`, {
          cause,
          hint: 'Check the port, and that the service is running.',
        });
      if (broken.code !== 'connection_lost') throw broken;
      const scheme =
        url.protocol === 'http:' ? ` The port may expect https. ${withHttps(url, settings)}` : '';
      throw new MediaError('connection_lost', `${url.host} accepted the connection, then closed it.`, {
        cause,
        hint: `Check the port, and any firewall or proxy in between.${scheme}`,
      });
    } finally {
      await connection.destroy();
    }
  });
}

/** The error behind a page with status 400: the port wants TLS, or a client certificate. No service sends either. */
function refusalForTls(response: HttpResponse, url: URL, settings: Settings): MediaError | undefined {
  const {host} = url;
  const {status, message, words = ''} = refusalIn(response);
  if (status !== 400 || message !== undefined) return undefined;
  const isForCertificate = /certificate/i.test(words);
  const isForHttps = url.protocol === 'http:' && /\b(https|ssl|tls)\b/i.test(words);
  if (!isForCertificate && !isForHttps) return undefined;
  const problem = isForCertificate ? 'refused the request' : 'expects https';
  const hint = isForCertificate ? clientCertificateHint : withHttps(url, settings);
  return new MediaError('tls_failed', `${host} ${problem}: "${words}".`, {status, hint});
}

/** How to correct the base URL to the same one with https. */
function withHttps({host, pathname}: URL, settings: Settings): string {
  return correctBaseUrl(settings, `https://${host}${pathname.replace(/\/+$/, '')}`);
}

/** The step that an error of a request belongs to; the steps before it have succeeded. */
function failedCheck(code: ErrorCode, throughProxy: boolean): NetworkCheck {
  if (code === 'tls_failed') return 'tls';
  const isBehindProxy = ['connection_lost', 'not_http', 'local_failure'].includes(code);
  // Through a proxy, only the proxy is looked up and connected to.
  if (code === 'proxy_failed' || (throughProxy && !isBehindProxy)) return 'proxy';
  return code === 'host_not_found' || code === 'dns_unavailable' ? 'dns' : 'connection';
}
