import {expect, test} from 'vitest';
import {type ServiceOptions, startEmbeddedService} from '../support/embedded-service.ts';
import {png, serviceWithKey, temporaryDirectory, upload} from './support.ts';

const page = 'http://localhost:5173';
const asked = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,x-a',
};

/** What a browser reads of a response before it lets a page have it. */
async function corsOf(url: string, init: RequestInit & {headers?: Record<string, string>}) {
  const {status, headers} = await fetch(url, init);
  const fields = [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary');
  return {status, ...Object.fromEntries(fields)};
}

const readable = {'access-control-expose-headers': '*', vary: 'Origin'};

test('a listed origin: preflight, responses and refusals can be read; other origins and null get nothing', async () => {
  const faults = {list: ['upload:status=503,retry-after=1,nth=1']};
  const {service, key} = await serviceWithKey({allowOrigins: ['http://a.test', page], faults});
  const endpoint = `${service.url}/v1/media/upload`;
  const preflight = {method: 'OPTIONS', headers: {...asked, Origin: page}};
  const allowed = {...readable, 'access-control-allow-origin': page};
  for (const path of ['/v1/media/upload', '/graphql', '/files/m_1', '/thumbnails/m_1.webp'])
    expect(await corsOf(service.url + path, preflight)).toEqual({
      ...{status: 204, ...allowed},
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'authorization,x-a',
      'access-control-allow-private-network': 'true',
      'access-control-max-age': '600',
    });
  const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png', Origin: page};
  const body = png(2, 1);
  // The fault was for the first upload, not for the preflights.
  expect(await corsOf(endpoint, {method: 'POST', headers, body})).toEqual({status: 503, ...allowed});
  expect(await corsOf(endpoint, {method: 'POST', headers, body})).toEqual({status: 200, ...allowed});
  expect(await corsOf(endpoint, {method: 'POST', headers: {Origin: page}})).toEqual({
    status: 403,
    ...allowed,
  });
  const [stored] = await service.records();
  const file = stored?.record.fileUrl ?? '';
  expect(await corsOf(file, {headers: {Origin: page, Range: 'bytes=0-1'}})).toEqual({
    status: 206,
    ...allowed,
  });
  for (const Origin of ['null', 'http://localhost:5174', `${page}/`, 'https://localhost:5173']) {
    expect(await corsOf(endpoint, {method: 'OPTIONS', headers: {...asked, Origin}})).toEqual({
      status: 405,
      vary: 'Origin',
    });
    expect(await corsOf(file, {headers: {Origin}})).toEqual({status: 200, vary: 'Origin'});
  }
  for (const path of ['/profile', '/', '/healthz', '/metrics', '/sign-out'])
    expect(await corsOf(service.url + path, preflight)).not.toHaveProperty('access-control-allow-origin');
});

test('any origin, with a chosen key; without the option, none', async () => {
  const any = await serviceWithKey({allowOrigins: ['*'], fixedKey: 'a-key-of-the-owner-1'});
  const preflight = {method: 'OPTIONS', headers: {...asked, Origin: 'null'}};
  const all = await corsOf(`${any.service.url}/graphql`, preflight);
  expect(all).toMatchObject({status: 204, 'access-control-allow-origin': '*'});
  // Without this field, no browser sends a cookie along or shows the response to a request with one.
  expect(all).not.toHaveProperty('access-control-allow-credentials');
  const none = await serviceWithKey();
  expect(await corsOf(`${none.service.url}/graphql`, preflight)).toEqual({status: 405});
  const {headers} = await upload(none.service, none.key, png(1, 1), {Origin: page});
  expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([null, null]);
});

test.each([
  ['http://localhost:5173/', '--allow-origin http://localhost:5173'],
  ['http://localhost:5173/app?x', '--allow-origin http://localhost:5173'],
  ['HTTP://Localhost:80', '--allow-origin http://localhost'],
  ['localhost:5173', '--allow-origin http://localhost:5173'],
  ['null', '--allow-origin http://localhost:5173'],
  ['', '--allow-origin http://localhost:5173'],
  ['http://*.test:5173', '--allow-origin http://localhost:5173'],
  ['*', 'MEDIA_SERVE_KEY'],
])('the origin %j is refused, with the right one: %s', async (origin, hint) => {
  const options: ServiceOptions = {dataDirectory: await temporaryDirectory(), allowOrigins: [origin]};
  await expect(startEmbeddedService(options)).rejects.toMatchObject({hint: expect.stringContaining(hint)});
});
