import type {ClientRequest, IncomingMessage} from 'node:http';
import type {StopSignal} from '../../host.ts';
import {type ConnectionOptions, maxHeaderSize} from './connection-options.ts';
import {type HttpResponse, joinHeaders} from './message.ts';
import {openSocket} from './open-socket.ts';
import {commonFields, forwarderFor, notOfProxy} from './proxy.ts';

/** The only entry to this folder for other folders: connections, and the types of what is sent over them. */
export {Connection} from './connection.ts';
export {clientCertificateHint, describeConnectError} from './connection-errors.ts';
export type {ConnectionOptions} from './connection-options.ts';
export type {Body, HttpRequest, HttpResponse, Wire} from './message.ts';
export {type NamedProxy, proxyFor} from './proxy.ts';

/** A request without a body. A POST may announce a body, which is never sent. */
interface HeadRequest {
  method: 'GET' | 'HEAD' | 'POST';
  url: URL;
  headers: Record<string, string>;
  /** How long to wait for the response. */
  waitMs: number;
  signal: StopSignal;
}

/** Longer responses are cut off. */
const longestResponse = 64 * 1024;

/**
 * Sends the head of a request over a new connection and closes that. Resolves with the response, or with undefined if
 * there is none in time or the signal is aborted; rejects with a MediaError if no connection can be made. undici cannot
 * do this: it sends no head before it has the first byte of the body.
 */
export async function sendHead(
  {method, url, headers, waitMs, signal}: HeadRequest,
  options: ConnectionOptions,
): Promise<HttpResponse | undefined> {
  const socket = await openSocket(url, options, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (socket === undefined) return undefined;
  const proxy = forwarderFor(url, options.env);
  // Loaded on first use: uploads do not need it.
  const {request: startRequest} = await import('node:http');
  const request = startRequest({
    method,
    path: `${proxy === undefined ? '' : url.origin}${url.pathname}${url.search}`,
    headers: {host: url.host, ...commonFields(options.headers, proxy), ...headers},
    createConnection: () => socket,
    maxHeaderSize,
  });
  const end = () => request.destroy();
  const cancel = options.clock.after(waitMs, end);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    request.flushHeaders();
    const response = await responseTo(request);
    return response && notOfProxy(response, proxy);
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
    end();
  }
}

/** The response, as far as it arrives before the connection is closed. */
async function responseTo(request: ClientRequest): Promise<HttpResponse | undefined> {
  const response = await new Promise<IncomingMessage | undefined>(resolve => {
    request.on('response', resolve).on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
  if (response === undefined) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestResponse) break;
    }
  } catch {
    // It was cut off.
  }
  return {
    status: response.statusCode ?? 0,
    headers: joinHeaders(response.headers),
    body: Buffer.concat(chunks).subarray(0, longestResponse),
    truncated: length > longestResponse,
    cut: length <= longestResponse && !response.complete,
  };
}
