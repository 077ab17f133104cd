import {BlockList, isIP, isIPv6, type Socket} from 'node:net';
import {MediaError, quoted} from '../../errors.ts';
import {phrase} from '../../hint.ts';
import type {Clock, Host} from '../../host.ts';
import {own} from '../../lib/object.ts';
import {Secret} from '../../lib/secrets/secret.ts';
import {decodePercent, isLoopback} from '../../lib/url.ts';
import {wordsOf} from '../../lib/words.ts';
import {maxHeaderSize} from './connection-options.ts';
import {dropInterimResponses} from './interim-filter.ts';
import type {HttpResponse} from './message.ts';

/** A proxy, and the variable that names it. */
export type NamedProxy = {url: URL; variable: string};

/** The proxy that the environment names for an origin; throws `proxy_failed` if it is not a valid one. */
export function proxyFor(origin: URL, environment: Host['env']): NamedProxy | undefined {
  const named = isLoopback(origin.hostname) ? undefined : proxyVariableFor(origin, environment);
  if (named === undefined) return undefined;
  const {variable, value} = named;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return {url, variable};
  const what = url?.protocol.startsWith('socks')
    ? 'names a SOCKS proxy, which is not supported'
    : 'is not an http or https URL';
  throw new MediaError('proxy_failed', `${variable} ${what}.`, {
    hint: `Set ${variable} to a value like http://proxy.example:3128, or name the host in NO_PROXY.`,
  });
}

/** The proxy variable for an origin, as in curl: of its scheme, else ALL_PROXY; undefined if NO_PROXY names it. */
export function proxyVariableFor(origin: URL, environment: Host['env']) {
  const names = [`${origin.protocol.slice(0, -1)}_proxy`, 'all_proxy'];
  const spellings = names.flatMap(name => [name, name.toUpperCase()]);
  const variable = spellings.find(name => settingIn(environment, name) !== '');
  const noProxy = settingIn(environment, 'no_proxy') || settingIn(environment, 'NO_PROXY');
  if (variable === undefined || bypasses(noProxy, origin)) return undefined;
  const value = settingIn(environment, variable);
  const url = value.includes('://') ? value : `http://${value}`;
  return {variable, value: url.replace(credentials, part => part.replace(/[#?/\\]/g, encodeURIComponent))};
}

/** What precedes the last @ of a proxy: a password may contain what ends a host elsewhere. */
const credentials = /(?<=:\/\/).*(?=@)/;

function settingIn(environment: Host['env'], name: string): string {
  return (own(environment, name) ?? '').trim();
}

/** Whether an entry of NO_PROXY names the host and port of an origin. */
function bypasses(noProxy: string, origin: URL): boolean {
  const host = plainHost(origin.hostname);
  const port = origin.port || (origin.protocol === 'https:' ? '443' : '80');
  const entries = noProxy.toLowerCase().split(/[\s,]+/);
  return entries.some(entry => entry !== '' && isNamedBy(entry, host, port));
}

/** Whether a NO_PROXY entry (`*`, a domain with its subdomains, an address or a block) names this host and port. */
function isNamedBy(entry: string, host: string, port: string): boolean {
  const [, name = entry, onlyPort] = isIPv6(entry) ? [] : (/^(.+):(\d+)$/.exec(entry) ?? []);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (name === '*') return true;
  if (isIP(host) !== 0) return isInBlock(plainHost(name), host);
  const domain = plainHost(name.replace(/^\*?\./, ''));
  return host === domain || host.endsWith(`.${domain}`);
}

/** Whether an entry is this address, or a block such as 10.0.0.0/8 around it; false for any other text. */
function isInBlock(entry: string, address: string): boolean {
  const longest = isIPv6(address) ? 128 : 32;
  const [, network = '', bits = longest] = /^([^/]*)(?:\/(\d+))?$/.exec(entry) ?? [];
  if (isIP(network) !== isIP(address) || Number(bits) > longest) return false;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const block = new BlockList();
  block.addSubnet(network, Number(bits), family);
  return block.check(address, family);
}

/** Removes the brackets of an IPv6 address and the final dot of an absolute name. */
function plainHost(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** The proxy that forwards the requests to an origin, as in curl: only those of https go through a tunnel. */
export function forwarderFor(origin: URL, environment: Host['env']): NamedProxy | undefined {
  return origin.protocol === 'http:' ? proxyFor(origin, environment) : undefined;
}

/** The fields of every request: those of its connection, and the credentials for a proxy that forwards it. */
export function commonFields(headers: Readonly<Record<string, string>>, proxy: NamedProxy | undefined) {
  return {...headers, 'accept-encoding': 'identity', ...(proxy && proxyAuthorization(proxy))};
}

/** The field with the credentials in the proxy variable, if there are any. */
function proxyAuthorization({url: {username, password}}: NamedProxy): Record<string, string> {
  const credentials = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`);
  return username === '' ? {} : {'proxy-authorization': `Basic ${credentials.toString('base64')}`};
}

/** The response to a request; throws if it is the proxy's, which asks for credentials. */
export function notOfProxy(response: HttpResponse, proxy: NamedProxy | undefined): HttpResponse {
  if (proxy === undefined || response.status !== 407) return response;
  throw proxyRefusal(407, response.headers['proxy-authenticate'], proxy);
}

/** How long to wait for a page that a proxy has announced, in milliseconds. */
const pageWaitMs = 1_000;

/** Asks a proxy for a tunnel (RFC 9110, 9.3.6). What has already come through it is put back, to be read first. */
export async function openTunnel(socket: Socket, proxy: NamedProxy, authority: string, clock: Clock) {
  // Loaded on first use: most runs have no proxy.
  const {request: startRequest} = await import('node:http');
  const headers = {host: authority, ...proxyAuthorization(proxy)};
  dropInterimResponses(socket);
  return new Promise<Socket>((resolve, reject) => {
    startRequest({method: 'CONNECT', path: authority, headers, maxHeaderSize, createConnection: () => socket})
      .on('error', reject)
      .on('connect', ({statusCode = 0, headers: fields}, _socket, first) => {
        if (statusCode < 200 || statusCode > 299)
          return reject(proxyRefusal(statusCode, fields['proxy-authenticate'], proxy, authority));
        if (first.length > 0) socket.unshift(first);
        // RFC 9110 has these fields ignored, so what they announce is only waited for.
        const isPage =
          Number(fields['content-length']) > 0 || fields['transfer-encoding'] || fields['content-type'];
        if (first.length > 0 || !isPage) return resolve(socket);
        /** Call when the page has come, or when it has been waited for long enough. */
        const end = () => {
          cancel();
          socket.off('readable', end).off('close', end);
          resolve(socket);
        };
        const cancel = clock.after(pageWaitMs, end);
        socket.once('readable', end).once('close', end);
      })
      .end();
  });
}

/** The error for a tunnel through which something came unasked: networks with a login page do that. */
export function describePage(bytes: Buffer, proxy: URL): MediaError {
  const password = new Secret(decodePercent(proxy.password));
  const words = wordsOf(bytes, text => password.redactIn(text));
  const sentence = phrase`The proxy ${proxy.host} returned a page instead of a connection${quoted(words)}`;
  const hint = 'Open a page in a browser: the network may want you to log in. Or name the host in NO_PROXY.';
  // isPage() knows it by this status.
  return new MediaError('proxy_failed', sentence, {status: 200, hint});
}

/** The error for a refusal by the proxy; `authority`: where the tunnel was to lead, if one was asked for. */
function proxyRefusal(status: number, challenge: string | undefined, named: NamedProxy, authority = '') {
  const {url: proxy, variable} = named;
  const failed = (what: string, hint: string) =>
    new MediaError('proxy_failed', `The proxy ${proxy.host} ${what} (${status}).`, {status, hint});
  // tinyproxy responds with 401 to wrong credentials.
  if (status !== 407 && status !== 401) {
    const advice = authority.endsWith(':443')
      ? 'Ask the operator of the proxy, or name the host in NO_PROXY.'
      : 'Many proxies open connections only to port 443. Ask its operator, or name the host in NO_PROXY.';
    return failed('refused to open a connection', advice);
  }
  const local = `Run a local proxy that logs in there, such as cntlm or px, and name that one in ${variable}.`;
  if (challenge !== undefined && !/(^|,)\s*basic\b/i.test(challenge))
    return failed('does not accept Basic credentials', local);
  const example = `${variable}=http://USER:PASSWORD@HOST:PORT`;
  if (proxy.username === '')
    return failed('asks for credentials', `Put them into the proxy variable: ${example}`);
  const advice = `Correct ${example}; write @ as %40, : as %3A, / as %2F and % as %25.`;
  return failed('does not accept the credentials in the proxy variable', advice);
}
