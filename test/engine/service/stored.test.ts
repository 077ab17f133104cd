import {createServer} from 'node:http';
import {describe, expect, test} from 'vitest';
import {isStillStored} from '../../../src/engine/service/stored.ts';
import {systemClock} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {deadUrl} from './support.ts';

test.each([
  ['fileUrl', (url: string) => ({fileUrl: url})],
  ['no fileUrl, and a public variant', (url: string) => ({urls: [{variant: 'PUBLIC', url}]})],
  [
    'an empty fileUrl, and a public variant',
    (url: string) => ({fileUrl: '', urls: [{variant: 'PUBLIC', url}]}),
  ],
] as const)('%s: the file is asked for there', async (_what, urls) => {
  const server = createServer((_request, response) => response.setHeader('Content-Length', 7).end());
  await listen(server);
  const url = urlOf(server);
  const options = {clock: systemClock, env: {}, headers: {}};
  const where = {baseUrl: new URL(url), signal: new Stop<Error>()};
  expect(await isStillStored({id: 'm_1', ...urls(`${url}/m_1`)}, 7, where, options)).toBe(true);
  expect(await isStillStored({id: 'm_1', ...urls(`${url}/m_1`)}, 8, where, options)).toBe(false);
});

describe('what is said of a file of 7 bytes', () => {
  const signal = new Stop<Error>();
  const options = {clock: systemClock, env: {}, headers: {'user-agent': 'media/test'}};

  /** A service that answers each HEAD with this status, and the requests to it. */
  async function answering(status: number) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(status, {'content-length': 7}).end();
    });
    server.on('connection', () => asked.push('connection'));
    await listen(server);
    return {url: urlOf(server), asked};
  }

  test.each([
    [200, true],
    [201, false],
    [206, false],
    [301, false],
    [404, false],
    [410, false],
    [429, 'service_unavailable'],
    [500, 'service_unavailable'],
    [503, 'service_unavailable'],
  ])('with %i: %s', async (status, expected) => {
    const {url} = await answering(status);
    const said = isStillStored({fileUrl: `${url}/m_1`}, 7, {baseUrl: new URL(url), signal}, options);
    expect(await said.catch(error => ({code: error.code, status: error.status}))).toEqual(
      typeof expected === 'string' ? {code: expected, status} : expected,
    );
  });

  test('by nobody, since nothing listens: it may pass', async () => {
    const url = await deadUrl();
    const said = isStillStored({fileUrl: `${url}/m_1`}, 7, {baseUrl: new URL(url), signal}, options);
    await expect(said).rejects.toMatchObject({code: 'connection_refused'});
  });

  test.each<[string, (url: string) => string | undefined]>([
    ['no URL', () => undefined],
    ['what is no URL', () => 'files/m_1'],
    ['a URL with a user name', url => url.replace('//', '//user@')],
    ['a URL with a password', url => url.replace('//', '//:word@')],
    ['a URL of another origin without TLS', url => url.replace('127.0.0.1', 'localhost')],
    ['another origin at a loopback address', url => url.replace('http:', 'https:')],
    ['a name of a loopback address', url => url.replace('http://127.0.0.1', 'https://localhost')],
  ])('by a record with %s: nothing, and it is not asked', async (_what, urlIn) => {
    const {url, asked} = await answering(200);
    const record = {fileUrl: urlIn(`${url}/m_1`) ?? null};
    expect(await isStillStored(record, 7, {baseUrl: new URL(url), signal}, options)).toBe(false);
    expect(asked).toEqual([]);
  });

  test('by a service in this process, whose records name another port', async () => {
    const {url, asked} = await answering(200);
    const where = {baseUrl: new URL(url), isEmbedded: true, signal};
    expect(await isStillStored({fileUrl: 'http://127.0.0.1:1/m_1'}, 7, where, options)).toBe(true);
    expect(asked).toEqual(['connection', 'HEAD /m_1']);
  });
});
