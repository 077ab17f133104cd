import {type LookupAddress, lookup} from 'node:dns';
import {BlockList, isIP, type LookupFunction} from 'node:net';
import {isUnreachable, MediaError} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import {pick} from '../../lib/object.ts';
import {type ConnectionOptions, proxyFor, sendHead} from '../http/http.ts';
import {type MediaRecord, publicUrl} from './record.ts';
import {isRetryableRefusal} from './uploader.ts';

/** How long to wait for the response, in milliseconds. */
const waitMs = 10_000;

/** Loopback, private, shared and link-local networks (RFC 6890); addresses that are mapped into IPv6 are found, too. */
const notPublic = new BlockList();
const networks =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::/127 fc00::/7 fe80::/9';
for (const [network = '', bits] of networks.split(' ').map(text => text.split('/')))
  notPublic.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');

const isPublic = ({address, family}: LookupAddress) =>
  !notPublic.check(address, family === 6 ? 'ipv6' : 'ipv4');

/** Looks names up as Node does; fails unless all the addresses, which are then connected to, are public. */
const publicLookup: LookupFunction = (name, options, callback) =>
  lookup(name, {...options, all: true}, (error, found) =>
    callback(
      error ?? (found.every(isPublic) ? null : new MediaError('rejected', `${name} is not public.`)),
      found,
    ),
  );

/**
 * Whether the file of a record is still there with this size, in bytes: HEAD of `fileUrl`, else of the PUBLIC URL,
 * without the key or a client certificate; no redirect is followed. A URL of another origin must be https and lead to a
 * public address. Rejects if nobody says so, which may pass.
 */
export async function isStillStored(
  record: MediaRecord,
  size: number,
  {baseUrl, isEmbedded, signal}: {baseUrl: URL; isEmbedded?: boolean; signal: StopSignal},
  options: ConnectionOptions,
): Promise<boolean> {
  const text = record.fileUrl || publicUrl(record);
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const url = isEmbedded ? new URL(new URL(text).pathname, baseUrl) : new URL(text);
  const isOwn = url.origin === baseUrl.origin;
  // A proxy would hide the address that is connected to.
  const mayBeAsked = isOwn || (url.protocol === 'https:' && proxyFor(url, options.env) === undefined);
  if (url.username !== '' || url.password !== '' || !mayBeAsked) return false;
  // Named one by one: what else the options of a connection have is for the service, and for no other origin.
  const {clock, env, connectTimeoutMs, families, certificateAuthorities, trace} = options;
  const headers = isOwn ? options.headers : pick(options.headers, ['user-agent']);
  const lookup = isOwn ? undefined : publicLookup;
  const connection = {clock, env, headers, connectTimeoutMs, families, certificateAuthorities, trace, lookup};
  try {
    const request = {method: 'HEAD', url, headers: {}, waitMs, signal} as const;
    const response = await sendHead(request, connection);
    const {status = 503, headers = {}} = response ?? {};
    if ((status < 500 && !isRetryableRefusal(status)) || signal.aborted)
      return status === 200 && headers['content-length'] === String(size);
    const message = `${url.host} did not say whether it still has an uploaded file.`;
    throw new MediaError('service_unavailable', message, {status: response?.status});
  } catch (error) {
    const ours = ['service_unavailable', 'local_failure', 'too_many_open_files'];
    if (!(error instanceof MediaError) || ours.includes(error.code) || isUnreachable(error)) throw error;
    return false;
  }
}
