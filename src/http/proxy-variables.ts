import {BlockList, isIP, isIPv6} from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the environment names as the proxy for this origin, as curl and Go programs read it: the variable of its scheme,
 * else ALL_PROXY, unless NO_PROXY names the host; without a scheme the proxy is an http one.
 */
export function proxyVariableFor(origin: URL, environment: Environment): string | undefined {
  const value =
    variable(environment, `${origin.protocol.slice(0, -1)}_proxy`) || variable(environment, 'all_proxy');
  if (value === '' || bypasses(variable(environment, 'no_proxy'), origin)) return undefined;
  return value.includes('://') ? value : `http://${value}`;
}

function variable(environment: Environment, name: string): string {
  return (environment[name] || environment[name.toUpperCase()] || '').trim();
}

function bypasses(noProxy: string, origin: URL): boolean {
  const host = plainHost(origin.hostname);
  const port = origin.port || (origin.protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => entry !== '' && names(entry, host, port));
}

/** An entry is `*`, a host (which stands for all below it, with or without a dot in front), an address or a block of them. */
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

/** Without the brackets of an IPv6 address or the dot that ends a full name. */
function plainHost(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
