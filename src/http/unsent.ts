import {type ClientRequest, type IncomingMessage, request as startRequest} from 'node:http';
import type {Socket} from 'node:net';
import type {StopSignal} from '../host.ts';
import {Connector} from './connector.ts';
import type {HttpAnswer} from './message.ts';
import type {ConnectionOptions} from './options.ts';

/** The head of a POST whose body is announced and never sent. */
export interface UnsentRequest {
  url: URL;
  headers: Record<string, string>;
  /** How long to wait for the answer. */
  waitMs: number;
  signal: StopSignal;
}

/** An answer to a question needs no more. */
const longestAnswer = 64 * 1024;

/**
 * Sends the head of a POST, never its body, and ends the connection. Resolves with the answer, or with undefined when there
 * was none in time; rejects with a MediaError when no connection could be made. Not by undici, which sends no head before
 * it has the body's first byte.
 */
export async function postHead(
  {url, headers, waitMs, signal}: UnsentRequest,
  options: ConnectionOptions,
): Promise<HttpAnswer | undefined> {
  const socket = await connect(url, options);
  const request = startRequest({
    method: 'POST',
    path: url.pathname,
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

function connect(url: URL, options: ConnectionOptions): Promise<Socket> {
  const {hostname, host, protocol, port} = url;
  return new Promise((resolve, reject) => {
    new Connector(url, options, undefined).open(
      {hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port},
      (error, socket) => (error ? reject(error) : resolve(socket)),
    );
  });
}

/** What is answered, as far as it comes before the connection ends. */
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
