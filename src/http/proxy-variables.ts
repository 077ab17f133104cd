import {BlockList, isIP, isIPv6} from 'node:net';
import {own} from '../lib/own.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an origin, read from the environment as curl and Go programs do: the variable of its scheme, otherwise
 * ALL_PROXY, unless NO_PROXY names the host. A proxy without a scheme is an http proxy.
 */
export function proxyVariableFor(origin: URL, environment: Environment): string | undefined {
  const value =
    variable(environment, `${origin.protocol.slice(0, -1)}_proxy`) || variable(environment, 'all_proxy');
  if (value === '' || bypasses(variable(environment, 'no_proxy'), origin)) return undefined;
  return value.includes('://') ? value : `http://${value}`;
}

function variable(environment: Environment, name: string): string {
  return (own(environment, name) || own(environment, name.toUpperCase()) || '').trim();
}

function bypasses(noProxy: string, origin: URL): boolean {
  const host = plainHost(origin.hostname);
  const port = origin.port || (origin.protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => entry !== '' && names(entry, host, port));
}

/** An entry is `*`, a domain (with its subdomains, with or without a leading dot), an address or an address block. */
function names(entry: string, host: string, port: string): boolean {
  const [, name = entry, onlyPort] = isIPv6(entry) ? [] : (/^(.+):(\d+)$/.exec(entry) ?? []);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (name === '*') return true;
  if (isIP(host) !== 0) return holdsAddress(plainHost(name), host);
  const domain = plainHost(name.replace(/^\*?\./, ''));
  return host === domain || host.endsWith(`.${domain}`);
}

function holdsAddress(entry: string, address: string): boolean {
  const [network = '', bits] = entry.split('/', 2);
  if (isIP(network) === 0 || isIP(network) !== isIP(address)) return false;
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  const widest = family === 'ipv6' ? 128 : 32;
  const length = bits === undefined ? widest : /^\d+$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(length <= widest)) return false;
  const block = new BlockList();
  block.addSubnet(network, length, family);
  return block.check(address, family);
}

/** Removes the brackets of an IPv6 address and the final dot of an absolute name. */
function plainHost(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
