import fc from 'fast-check';
import {describe, expect} from 'vitest';
import {parseProfileName} from '../../../src/cli/settings/parse.ts';
import {graphqlUrl, uploadUrl} from '../../../src/engine/service/client.ts';
import {parseKey, parseServiceUrl} from '../../../src/engine/service/service-url.ts';
import {MediaError} from '../../../src/errors.ts';
import {isLoopback} from '../../../src/lib/url.ts';
import {anyText, holdsFor} from '../../support/property.ts';

/** What a parser makes of a text; undefined where it refuses it as a usage error. */
function accepted<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    expect(error).toBeInstanceOf(MediaError);
    expect((error as MediaError).code).toBe('usage');
    return undefined;
  }
}

const schemes = fc.constantFrom('https://', 'http://', 'HTTP://', 'ftp://', 'javascript:', '//', '');
const hosts = fc.constantFrom(
  'api.example.com',
  'localhost',
  '127.0.0.1',
  '127.9.9.9:80',
  '[::1]:4010',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'user:pass@api.example.com',
  'user@localhost',
  '0x7f.1',
);
const urls = fc.oneof(
  anyText,
  fc.webUrl(),
  fc.tuple(schemes, hosts, anyText).map(parts => parts.join('')),
  fc.tuple(schemes, hosts, anyText).map(([scheme, host, text]) => `${scheme}${host}/${text}`),
);

describe('addresses of a service', () => {
  holdsFor(
    'any text: an address without credentials and query, encrypted unless it is this machine',
    [urls, fc.boolean()],
    (text, allowHttp) => {
      const url = accepted(() => parseServiceUrl(text, 'base URL', allowHttp));
      if (url === undefined) return;
      expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
      expect(
        url.protocol === 'https:' || (url.protocol === 'http:' && (allowHttp || isLoopback(url.hostname))),
      ).toBe(true);
    },
  );

  holdsFor('the upload and GraphQL addresses: at the same origin, whatever the path', [urls], text => {
    const baseUrl = accepted(() => parseServiceUrl(text, 'base URL', true));
    if (baseUrl === undefined) return;
    expect(uploadUrl(baseUrl).origin).toBe(baseUrl.origin);
    expect(uploadUrl(baseUrl).pathname).toMatch(/^\/(.*[^/]\/)?v1\/media\/upload$/);
    expect(graphqlUrl({baseUrl}).href).toBe(`${baseUrl.origin}/graphql`);
  });

  const names = fc.oneof(hosts, fc.domain(), fc.ipV4(), anyText);
  holdsFor('this machine: only names and addresses that cannot be anybody else', [names], name => {
    if (!isLoopback(name)) return;
    expect(name).toMatch(/^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i);
  });
});

describe('keys and profiles', () => {
  holdsFor(
    'any text: a key that fits into a header, or a refusal without it',
    [fc.oneof(anyText, fc.base64String({minLength: 8}))],
    text => {
      const key = accepted(() => parseKey(text, 'The key'));
      if (key !== undefined) expect(key.reveal()).toMatch(/^[!-~]+$/);
      if (key !== undefined) expect(key.reveal()).toBe(text.trim());
    },
  );

  holdsFor(
    'any text: a profile name that is safe anywhere, or a refusal',
    [fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'a', '../a', '-x'))],
    text => {
      const name = accepted(() => parseProfileName(text));
      if (name !== undefined) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
    },
  );
});
