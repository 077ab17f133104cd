import {expect, test} from 'vitest';
import {graphqlUrl, uploadUrl} from '../../../src/engine/service/client.ts';
import {isLoopback} from '../../../src/lib/url.ts';

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
