import {Socket} from 'node:net';
import {type buildConnector, Client} from 'undici';
import {MediaError} from '../errors.ts';
import {describeConnectError} from './errors.ts';

/** Opens each connection through CONNECT on an HTTP proxy (RFC 9110, section 9.3.6). */
export function tunnelThrough(
  proxy: URL,
  origin: URL,
  {toProxy, toService}: {toProxy: buildConnector.connector; toService: buildConnector.connector},
  timeout: number,
): buildConnector.connector {
  const authority = `${origin.hostname}:${origin.port || (origin.protocol === 'https:' ? '443' : '80')}`;
  const headers = {host: authority, ...proxyAuthorization(proxy)};
  return (parameters, callback) => {
    const client = new Client(proxy.origin, {
      allowH2: false,
      headersTimeout: timeout,
      // Without this, the proxy would need a certificate for the service's host.
      connect: ({servername, ...toward}, connected) => toProxy(toward, connected),
    });
    client
      .connect({path: authority, headers})
      .then(({statusCode, headers: answer, socket}) => {
        if (statusCode < 200 || statusCode > 299) {
          socket.on('error', () => {}).destroy();
          throw proxyRefusal(statusCode, [answer['proxy-authenticate'] ?? []].flat(), proxy, origin);
        }
        // undici types it as any Duplex.
        if (!(socket instanceof Socket)) throw new TypeError('The tunnel is not a socket.');
        if (parameters.protocol !== 'https:') callback(null, socket);
        else toService({...parameters, httpSocket: socket}, callback);
      })
      .catch((error: unknown) => {
        callback(error instanceof MediaError ? error : describeConnectError(error, proxy, 'proxy'), null);
      });
  };
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

function proxyRefusal(status: number, challenges: string[], proxy: URL, origin: URL): MediaError {
  // tinyproxy responds with 401 to wrong credentials.
  if (status !== 407 && status !== 401) {
    return new MediaError(
      'proxy_failed',
      `The proxy ${proxy.host} refused to open a connection (${status}).`,
      {
        status,
        hint:
          origin.protocol === 'http:'
            ? 'Many proxies open connections only for https. Ask its operator, or name the host in NO_PROXY.'
            : 'Ask the operator of the proxy, or name the host in NO_PROXY.',
      },
    );
  }
  if (challenges.length > 0 && !challenges.some(challenge => /(^|,)\s*basic\b/i.test(challenge))) {
    return new MediaError(
      'proxy_failed',
      `The proxy ${proxy.host} does not accept Basic credentials (${status}).`,
      {
        status,
        hint: 'Run a local proxy that logs in there, such as cntlm or px, and name that one in HTTPS_PROXY.',
      },
    );
  }
  return new MediaError(
    'proxy_failed',
    proxy.username === ''
      ? `The proxy ${proxy.host} asks for credentials (${status}).`
      : `The proxy ${proxy.host} does not accept the credentials in the proxy variable (${status}).`,
    {
      status,
      hint:
        proxy.username === ''
          ? 'Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.'
          : 'Correct HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT; write @ as %40, : as %3A, / as %2F and % as %25.',
    },
  );
}
