import {describe, expect, test} from 'vitest';
import {describeConnectError, describeUnasked} from '../../../src/engine/http/connection-errors.ts';
import {graphqlUrl, uploadUrl} from '../../../src/engine/service/client.ts';
import {isLoopback} from '../../../src/lib/url.ts';
import {hintOf} from '../../support/hints.ts';

test.each([
  ['https://api.example.com', 'https://api.example.com/v1/media/upload'],
  ['https://api.example.com/', 'https://api.example.com/v1/media/upload'],
  ['https://api.example.com///', 'https://api.example.com/v1/media/upload'],
  ['https://api.example.com/media', 'https://api.example.com/media/v1/media/upload'],
  ['https://api.example.com/a/b/', 'https://api.example.com/a/b/v1/media/upload'],
  ['https://api.example.com//other.example', 'https://api.example.com//other.example/v1/media/upload'],
  ['https://api.example.com//other.example//', 'https://api.example.com//other.example/v1/media/upload'],
  ['https://api.example.com/a%20b/%2e%2e', 'https://api.example.com/v1/media/upload'],
  ['https://api.example.com/a%2Fb', 'https://api.example.com/a%2Fb/v1/media/upload'],
  ['http://127.0.0.1:4010/x', 'http://127.0.0.1:4010/x/v1/media/upload'],
  ['http://[::1]:4010', 'http://[::1]:4010/v1/media/upload'],
])('files for the base URL %s go to %s', (baseUrl, expected) => {
  const url = new URL(baseUrl);
  expect(uploadUrl(url).href).toBe(expected);
  expect(uploadUrl(url).origin).toBe(url.origin);
});

test.each([
  ['https://api.example.com/prefix/', undefined, 'https://api.example.com/graphql'],
  ['https://api.example.com//x', undefined, 'https://api.example.com/graphql'],
  ['https://api.example.com', 'https://api.example.com/query?v=2', 'https://api.example.com/query?v=2'],
])('GraphQL of the base URL %s with the setting %s is at %s', (baseUrl, setting, expected) => {
  const address = {
    baseUrl: new URL(baseUrl),
    ...(setting === undefined ? {} : {graphqlUrl: new URL(setting)}),
  };
  expect(graphqlUrl(address).href).toBe(expected);
});

test.each([
  ['http://localhost', true],
  ['http://LOCALHOST:80', true],
  ['http://127.0.0.1', true],
  ['http://127.255.3.4', true],
  ['http://127.1', true],
  ['http://2130706433', true],
  ['http://[::1]', true],
  ['http://[0:0:0:0:0:0:0:1]', true],
  ['http://0.0.0.0', false],
  ['http://128.0.0.1', false],
  ['http://127.0.0.1.example.com', false],
  ['http://127.example.com', false],
  ['http://localhost.example.com', false],
  ['http://[::2]', false],
  ['http://[::ffff:10.0.0.1]', false],
  ['http://media.invalid', false],
])('%s is loopback: %s', (url, expected) => {
  expect(isLoopback(new URL(url).hostname)).toBe(expected);
});

describe('why there is no connection, and what to do', () => {
  const url = new URL('https://media.example:8443/api');
  const failed = (code: string, text = code) => Object.assign(new Error(text), {code});
  const ofTls = (problem: string, code = 'ERR_SSL_X') =>
    failed(code, `40:error:0A000418:SSL routines:f:${problem}:../x.c:1:\n`);
  const several = (...codes: string[]) => new AggregateError(codes.map(code => failed(code)));
  const forNames = (subjectaltname?: string) =>
    Object.assign(failed('ERR_TLS_CERT_ALTNAME_INVALID'), {cert: {subjectaltname}});
  const incomplete = failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no first; try running Node.js with --use-x');
  const selfSigned = failed('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate');
  const expired = failed('CERT_HAS_EXPIRED', 'certificate has expired');

  /** `place`: the variable of the proxy that is not reached, or "own" for authorities of one's own. */
  test.each<[failure: unknown, place: string, code: string, message: string, hint: string]>([
    [failed('ENOTFOUND'), '', 'host_not_found', 'no host called media.example.', 'spelling of the base URL'],
    [failed('ENOTFOUND'), 'HTTPS_PROXY', 'host_not_found', 'media.example.', 'spelling of HTTPS_PROXY'],
    [failed('EAI_AGAIN'), '', 'dns_unavailable', 'name media.example could', 'network'],
    [failed('ECONNREFUSED'), '', 'connection_refused', 'at media.example:8443:', 'service is running'],
    [failed('ECONNREFUSED'), 'HTTPS_PROXY', 'connection_refused', 'at the proxy media.example:8443:', ''],
    [failed('ETIMEDOUT'), '', 'connect_timeout', 'too long', 'firewall'],
    [failed('EMFILE'), '', 'too_many_open_files', 'too many', 'lower --concurrency'],
    [several('ENETUNREACH', 'ECONNREFUSED', 'ETIMEDOUT'), '', 'connection_refused', '', ''],
    [several('ECONNREFUSED', 'ECONNRESET'), '', 'connection_refused', '', ''],
    [several('ENETUNREACH', 'ETIMEDOUT'), '', 'connect_timeout', '', ''],
    [ofTls('wrong version number'), '', 'tls_failed', 'does not speak TLS', '--allow-http'],
    [
      ofTls('wrong version number'),
      'HTTPS_PROXY',
      'tls_failed',
      'The proxy media',
      'HTTPS_PROXY=http://HOST:PORT',
    ],
    [
      ofTls('ssl/tls alert unrecognized name'),
      '',
      'tls_failed',
      'this host name',
      'host name in the base URL',
    ],
    [ofTls('tlsv1 alert protocol version', 'EPROTO'), '', 'tls_failed', 'neither TLS 1.2 nor TLS 1.3', ''],
    [ofTls('tlsv1 alert no application protocol'), '', 'tls_failed', 'only HTTP/2', 'enable HTTP/1.1'],
    [
      ofTls('bad record mac'),
      'HTTPS_PROXY',
      'tls_failed',
      'handshake: bad record mac.',
      'port in HTTPS_PROXY',
    ],
    [
      ofTls('tlsv1 alert unknown ca', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'),
      '',
      'tls_failed',
      'unknown ca.',
      'MEDIA_CLIENT_CERT',
    ],
    [
      expired,
      '',
      'tls_failed',
      'accepted: certificate has expired.',
      'clock of this machine; if it is right, the service',
    ],
    [failed('EPROTO', 'write EPROTO.'), '', 'tls_failed', 'handshake: write EPROTO.', ''],
    [failed('CERT_NOT_YET_VALID'), 'HTTPS_PROXY', 'tls_failed', '', 'if it is right, the proxy'],
    [failed('CERT_REVOKED'), '', 'tls_failed', '', 'Ask the operator of the service'],
    [
      incomplete,
      '',
      'tls_failed',
      'accepted: no first.',
      '--cacert FILE. If not, ask the operator of the service',
    ],
    [incomplete, 'own', 'tls_failed', '', 'signed it: add that one, or ask'],
    [selfSigned, '', 'tls_failed', 'self-signed', 'name its certificate with --cacert FILE.'],
    [selfSigned, 'HTTPS_PROXY', 'tls_failed', 'of the proxy media', 'If the proxy uses'],
    [selfSigned, 'own', 'tls_failed', '', 'signed it: check that file'],
    [
      forNames('DNS:a.example, IP Address:192.0.2.1'),
      '',
      'tls_failed',
      'for a.example, 192.0.2.1.',
      'name in the base URL',
    ],
    [forNames(), 'HTTPS_PROXY', 'tls_failed', 'for another name.', 'name in HTTPS_PROXY'],
    [failed('HPE_INVALID_CONSTANT'), '', 'connect_failed', 'did not respond in HTTP.', ''],
    [failed('ECONNRESET', 'it was closed.\nThere.'), '', 'connect_failed', '8443: it was closed.', ''],
    [failed('ECONNRESET', ''), '', 'connect_failed', 'unknown reason', ''],
    [failed('ERR_INVALID_ARG_TYPE'), '', 'local_failure', 'failed in this process', ''],
  ])('%s %s: %s', (failure, place, code, message, hint) => {
    const isOwn = place === 'own';
    const error = describeConnectError(failure, url, isOwn || place === '' ? undefined : place, isOwn);
    expect([error.code, error.message, hintOf(error)]).toEqual([
      code,
      expect.stringContaining(message),
      expect.stringContaining(hint),
    ]);
  });

  test.each([
    ['HTTP/1.1 408 Request Timeout\r\n\r\n', undefined, 'not_http', 408, 'in the base URL'],
    ['HTTP/1.0 200 OK\r\n\r\n', 'HTTP_PROXY', 'proxy_failed', 200, 'in HTTP_PROXY'],
    ['SSH-2.0-OpenSSH_9.6\r\n', undefined, 'not_http', undefined, 'in the base URL'],
  ])('%j, which came unasked, from %s: %s, status %s', (text, variable, code, status, hint) => {
    const error = describeUnasked(Buffer.from(text), url, variable);
    const peer = variable === undefined ? 'media.example:8443 sent' : 'The proxy media.example:8443 sent';
    expect(error).toMatchObject({code, message: expect.stringContaining(peer)});
    expect([error.status, hintOf(error)]).toEqual([status, expect.stringContaining(hint)]);
  });
});
