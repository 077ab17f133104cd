import {describe, expect, test} from 'vitest';
import {proxyVariableFor} from '../../../src/engine/http/proxy.ts';

const proxy = 'http://proxy.example:3128';

function goesThroughProxy(url: string, noProxy: string): boolean {
  return proxyVariableFor(new URL(url), {ALL_PROXY: proxy, NO_PROXY: noProxy}) !== undefined;
}

describe('the proxy variables', () => {
  test.each([
    ['https://a.example', {HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other'}, proxy],
    ['http://a.example', {HTTPS_PROXY: 'http://other', HTTP_PROXY: proxy}, proxy],
    ['https://a.example', {ALL_PROXY: 'http://other', HTTPS_PROXY: proxy}, proxy],
    ['https://a.example', {ALL_PROXY: proxy, HTTP_PROXY: 'http://other'}, proxy],
    ['https://a.example', {https_proxy: proxy, HTTPS_PROXY: 'http://other'}, proxy],
    ['https://a.example', {all_proxy: proxy, ALL_PROXY: 'http://other'}, proxy],
    ['https://a.example', {HTTPS_PROXY: proxy, no_proxy: 'a.example', NO_PROXY: 'b.example'}, undefined],
    ['https://a.example', {HTTPS_PROXY: proxy, no_proxy: 'b.example', NO_PROXY: 'a.example'}, proxy],
    ['https://a.example', {HTTPS_PROXY: '', all_proxy: proxy}, proxy],
    ['https://a.example', {HTTP_PROXY: proxy}, undefined],
    ['https://a.example', {}, undefined],
    ['https://a.example', {HTTPS_PROXY: 'proxy.example:3128'}, proxy],
    [
      'https://a.example',
      {HTTPS_PROXY: 'me:secret@proxy.example:3128'},
      'http://me:secret@proxy.example:3128',
    ],
    ['https://a.example', {HTTPS_PROXY: 'https://proxy.example'}, 'https://proxy.example'],
  ])('%s with %o: %s', (url, environment, expected) => {
    expect(proxyVariableFor(new URL(url), environment)?.value).toBe(expected);
  });
});

describe('NO_PROXY', () => {
  test.each([
    ['*', 'https://a.example'],
    ['other.example, *', 'https://a.example'],
    ['a.example', 'https://a.example'],
    ['A.Example', 'https://a.example'],
    ['a.example.', 'https://a.example'],
    ['a.example', 'https://a.example.'],
    ['x.example,a.example', 'https://a.example'],
    ['x.example a.example', 'https://a.example'],
    ['example', 'https://a.b.example'],
    ['.b.example', 'https://a.b.example'],
    ['.b.example', 'https://b.example'],
    ['*.b.example', 'https://a.b.example'],
    ['a.example:443', 'https://a.example'],
    ['a.example:80', 'http://a.example'],
    ['.example:8443', 'https://a.example:8443'],
    ['*:8443', 'https://a.example:8443'],
    ['192.0.2.7', 'https://192.0.2.7'],
    ['192.0.2.7:8443', 'https://192.0.2.7:8443'],
    ['192.0.2.0/24', 'https://192.0.2.7'],
    ['0.0.0.0/0', 'https://192.0.2.7'],
    ['2001:db8::7', 'https://[2001:db8::7]'],
    ['[2001:db8::7]', 'https://[2001:db8::7]'],
    ['2001:db8:0:0::7', 'https://[2001:db8::7]'],
    ['[2001:db8::7]:8443', 'https://[2001:db8::7]:8443'],
    ['2001:db8::/32', 'https://[2001:db8::7]'],
  ])('%s names %s', (noProxy, url) => {
    expect(goesThroughProxy(url, noProxy)).toBe(false);
  });

  test.each([
    ['', 'https://a.example'],
    [' , ', 'https://a.example'],
    ['other.example', 'https://a.example'],
    ['a.example', 'https://ba.example'],
    ['.a.example', 'https://ba.example'],
    ['a.example', 'https://a.example.org'],
    ['a.example:8443', 'https://a.example'],
    ['a.example:443', 'https://a.example:8443'],
    ['*:8443', 'https://a.example'],
    ['2.7', 'https://192.0.2.7'],
    ['192.0.2.0/24', 'https://192.0.3.7'],
    ['192.0.2.0/33', 'https://192.0.2.7'],
    ['192.0.2.0/x', 'https://192.0.2.7'],
    ['0.0.0.0/0', 'https://a.example'],
    ['0.0.0.0/0', 'https://[2001:db8::7]'],
    ['2001:db8::8', 'https://[2001:db8::7]'],
    ['.', 'https://a.example'],
  ])('%j does not name %s', (noProxy, url) => {
    expect(goesThroughProxy(url, noProxy)).toBe(true);
  });
});
