import {request as startRequest} from 'node:http';
import type {Socket} from 'node:net';
import {MediaError} from '../errors.ts';
import type {Clock} from '../host.ts';
import {Secret} from '../lib/secrets/secret.ts';
import {wordsOf} from './words.ts';

/** How long a page is waited for that a proxy has announced, in milliseconds. */
const pageWaitMs = 1_000;

/**
 * Asks an HTTP proxy, over a connection to it, for a tunnel to a host and port (RFC 9110, section 9.3.6). The tunnel holds what came
 * through it by then: nothing, unless the proxy has sent a page.
 */
export function openTunnel(socket: Socket, proxy: URL, authority: string, clock: Clock): Promise<Socket> {
  const headers = {host: authority, ...proxyAuthorization(proxy)};
  return new Promise((resolve, reject) => {
    startRequest({method: 'CONNECT', path: authority, headers, createConnection: () => socket})
      .on('error', reject)
      .on('connect', ({statusCode = 0, headers: answer}, _socket, first) => {
        if (statusCode < 200 || statusCode > 299)
          return reject(proxyRefusal(statusCode, answer['proxy-authenticate'], proxy, authority));
        if (first.length > 0) socket.unshift(first);
        // RFC 9110 has these fields ignored, so what they announce is only waited for.
        const isPage =
          Number(answer['content-length']) > 0 || answer['transfer-encoding'] || answer['content-type'];
        if (first.length > 0 || !isPage) return resolve(socket);
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

/** The error for a tunnel through which something came before anything was asked: networks that want to be logged in to do that. */
export function describePage(bytes: Buffer, proxy: URL): MediaError {
  const password = new Secret(percentDecoded(proxy.password));
  const words = wordsOf(bytes, text => password.redactIn(text));
  return new MediaError('proxy_failed', `The proxy ${proxy.host} answered CONNECT with a page${words}`, {
    status: 200,
    hint: 'Open a page in a browser: the network may want you to log in. Or name the host in NO_PROXY.',
  });
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const credentials = `${percentDecoded(proxy.username)}:${percentDecoded(proxy.password)}`;
  return {'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`};
}

/** A password may contain a percent sign that encodes nothing, if it was put into the URL unencoded. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function proxyRefusal(
  status: number,
  challenge: string | undefined,
  proxy: URL,
  authority: string,
): MediaError {
  const failed = (what: string, hint: string) =>
    new MediaError('proxy_failed', `The proxy ${proxy.host} ${what} (${status}).`, {status, hint});
  // tinyproxy responds with 401 to wrong credentials.
  if (status !== 407 && status !== 401)
    return failed(
      'refused to open a connection',
      authority.endsWith(':443')
        ? 'Ask the operator of the proxy, or name the host in NO_PROXY.'
        : 'Many proxies open connections only for https. Ask its operator, or name the host in NO_PROXY.',
    );
  if (challenge !== undefined && !/(^|,)\s*basic\b/i.test(challenge))
    return failed(
      'does not accept Basic credentials',
      'Run a local proxy that logs in there, such as cntlm or px, and name that one in HTTPS_PROXY.',
    );
  return proxy.username === ''
    ? failed(
        'asks for credentials',
        'Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.',
      )
    : failed(
        'does not accept the credentials in the proxy variable',
        'Correct HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT; write @ as %40, : as %3A, / as %2F and % as %25.',
      );
}
