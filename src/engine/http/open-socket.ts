import {isIP, type Socket} from 'node:net';
import {connect as connectTls} from 'node:tls';
import type {MediaError} from '../../errors.ts';
import {nextTurn, type StopSignal} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {Stop, unlessStopped} from '../../lib/stop.ts';
import {connectToHost} from './addresses.ts';
import {closedError, describeConnectError, describeUnasked} from './connection-errors.ts';
import type {ConnectionOptions, HttpTrace} from './connection-options.ts';
import {describePage, openTunnel, proxyFor} from './proxy.ts';

/** Opens a connection (TCP, tunnel, TLS) on which nothing came; rejects with a MediaError or the signal's reason. */
export async function openSocket(
  origin: URL,
  options: ConnectionOptions,
  signal: StopSignal,
  trace?: HttpTrace,
): Promise<Socket> {
  signal.throwIfAborted();
  const {clock, connectTimeoutMs = 10_000, families = new Map(), certificateAuthorities: ca} = options;
  const proxy = proxyFor(origin, options.env);
  const stop = new Stop<Error>();
  const onAbort = () => stop.abort(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  /** Whom the connection reaches so far. */
  let peer = proxy?.url ?? origin;
  const proxyVariable = () => (peer === origin ? undefined : proxy?.variable);
  let socket: Socket | undefined;
  let cancel = () => {};
  /** Waits for one step (TCP, CONNECT or TLS), each of which has its own time limit. */
  const step = async (work: Promise<Socket>): Promise<Socket> => {
    const timedOut = () => Object.assign(new Error('the time limit has passed'), {code: 'ETIMEDOUT'});
    cancel = clock.after(connectTimeoutMs, () => stop.abort(timedOut()));
    socket = await unlessStopped(work, stop);
    cancel();
    return socket;
  };
  /** Makes a connection to the present peer ready: with TLS if its URL says so, and with nothing received unasked. */
  const toPeer = async (below: Socket): Promise<Socket> => {
    const credentials = peer === origin ? options : {certificateAuthorities: ca};
    const isPlain = peer.protocol === 'http:';
    const open = isPlain ? below : await step(secureSocket(below, nameOf(peer), credentials, trace));
    await refuseUnasked(open, stop, bytes => describeUnasked(bytes, peer, proxyVariable()));
    return open;
  };
  try {
    const round = {clock, families, lookup: options.lookup, trace, stop};
    const open = await toPeer(await step(connectToHost(nameOf(peer), portOf(peer), round)));
    if (proxy === undefined || origin.protocol === 'http:') return open;
    const authority = `${origin.hostname}:${portOf(origin)}`;
    const tunnel = await step(openTunnel(open, proxy, authority, clock));
    await refuseUnasked(tunnel, stop, bytes => describePage(bytes, proxy.url));
    peer = origin;
    return await toPeer(tunnel);
  } catch (error) {
    stop.abort(error as Error);
    socket?.destroy();
    if (error === signal.reason) throw error;
    throw describeConnectError(error, peer, proxyVariable(), ca !== undefined);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Rejects if something has come on a connection, although nothing was asked, or if it was closed. */
async function refuseUnasked(socket: Socket, stop: Stop<Error>, describe: (bytes: Buffer) => MediaError) {
  let failure: Error | undefined;
  const onError = (error: Error) => {
    failure = error;
  };
  socket.on('error', onError);
  // The events of the first turn may have been taken from the system before the connection was open.
  await nextTurn();
  await nextTurn();
  socket.off('error', onError);
  stop.throwIfAborted();
  if (failure !== undefined) throw failure;
  const bytes: Buffer | null = socket.read();
  if (bytes !== null) throw describe(bytes);
  if (socket.destroyed || socket.readableEnded) throw closedError();
}

/** Begins TLS on an open connection. The certificate must be valid for `host`; no setting of Node changes that. */
function secureSocket(
  socket: Socket,
  host: string,
  credentials: Pick<ConnectionOptions, 'certificateAuthorities' | 'clientCertificate'>,
  trace: HttpTrace | undefined,
): Promise<Socket> {
  const {certificateAuthorities: ca, clientCertificate: {certificate: cert, key} = {}} = credentials;
  // An address is no server name (RFC 6066, section 3).
  const servername = isIP(host) === 0 ? host : undefined;
  return new Promise((resolve, reject) => {
    const tls = connectTls({
      socket,
      host,
      ALPNProtocols: ['http/1.1'],
      // Even with NODE_TLS_REJECT_UNAUTHORIZED=0: the key would go to anyone.
      rejectUnauthorized: true,
      ...omitUndefined({servername, ca, cert, key}),
    });
    tls.on('error', reject).once('secureConnect', () => {
      trace?.phase('TLS', `${tls.getProtocol()}, ${tls.getCipher().name}`);
      resolve(tls);
    });
  });
}

function portOf({port, protocol}: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** The host as it is looked up: an IPv6 address without its brackets. */
function nameOf({hostname}: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
