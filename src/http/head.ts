import {type ClientRequest, type IncomingMessage, request as startRequest} from 'node:http';
import type {Socket} from 'node:net';
import type {StopSignal} from '../host.ts';
import {Connector} from './connector.ts';
import type {HttpAnswer} from './message.ts';
import type {ConnectionOptions} from './options.ts';

/** A request without a body. A POST may announce a body, which is never sent. */
export interface HeadRequest {
  method: 'GET' | 'HEAD' | 'POST';
  url: URL;
  headers: Record<string, string>;
  /** How long to wait for the response. */
  waitMs: number;
  signal: StopSignal;
}

/** Longer responses are cut off. */
const longestAnswer = 64 * 1024;

/**
 * Sends the head of a request over a new connection and closes that. Resolves with the response, or with undefined if
 * there is none in time or the signal is aborted; rejects with a MediaError if no connection can be made. undici cannot
 * do this: it sends no head before it has the first byte of the body.
 */
export async function answerToHead(
  {method, url, headers, waitMs, signal}: HeadRequest,
  options: ConnectionOptions,
): Promise<HttpAnswer | undefined> {
  const socket = await connect(url, options, signal);
  if (socket === undefined) return undefined;
  const request = startRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: {host: url.host, 'user-agent': options.userAgent, 'accept-encoding': 'identity', ...headers},
    createConnection: () => socket,
  });
  const end = () => request.destroy();
  const cancel = options.clock.after(waitMs, end);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    request.flushHeaders();
    return await answerTo(request);
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
    end();
  }
}

/** An open connection, or undefined if the signal is aborted first. */
async function connect(
  url: URL,
  options: ConnectionOptions,
  signal: StopSignal,
): Promise<Socket | undefined> {
  const {hostname, host, protocol, port} = url;
  const connector = new Connector(url, options, undefined);
  const abandon = () => connector.abandon(new Error('The request was aborted.'));
  signal.addEventListener('abort', abandon);
  try {
    return await new Promise<Socket>((resolve, reject) => {
      connector.open({hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port}, (error, socket) =>
        error ? reject(error) : resolve(socket),
      );
      if (signal.aborted) abandon();
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

/** The response, as far as it arrives before the connection is closed. */
function answerTo(request: ClientRequest): Promise<HttpAnswer | undefined> {
  return new Promise(resolve => {
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
    request.on('response', response => {
      const chunks: Buffer[] = [];
      let length = 0;
      const finish = (cut: boolean) =>
        resolve(answerOf(response, chunks, {truncated: length > longestAnswer, cut}));
      response.on('error', () => finish(true));
      response.on('close', () => finish(!response.complete));
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > longestAnswer) request.destroy();
      });
    });
  });
}

function answerOf(
  {statusCode = 0, headers}: IncomingMessage,
  chunks: readonly Buffer[],
  how: Pick<HttpAnswer, 'truncated' | 'cut'>,
): HttpAnswer {
  const joined: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  return {
    status: statusCode,
    headers: joined,
    body: Buffer.concat(chunks).subarray(0, longestAnswer),
    ...how,
  };
}
