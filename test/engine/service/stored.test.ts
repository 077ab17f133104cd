import {createServer} from 'node:http';
import {expect, test} from 'vitest';
import {isStillStored} from '../../../src/engine/service/stored.ts';
import {systemClock} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {listen, urlOf} from '../../support/loopback.ts';

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
