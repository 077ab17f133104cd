import {readFile} from 'node:fs/promises';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {embeddedService} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {contractFile} from '../support.ts';

/** Prism as a validating proxy in front of a service; resolves to its URL. */
async function prismBefore(url: string): Promise<string> {
  const prism = execa('prism', ['proxy', contractFile, url, '--port', '0', '--errors'], {
    reject: false,
    all: true,
  });
  onTestFinished(() => {
    prism.kill();
  });
  let text = '';
  prism.all?.on('data', chunk => {
    text += chunk;
  });
  return eventually(() => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(text)?.[1]);
}

test('the embedded service behind Prism: records, refusals and GraphQL keep to the contract; a wrong record would not', async context => {
  needPrograms(context, ['prism']);
  const {service, key} = await embeddedService({faults: {list: ['upload:wrong=urls,nth=3']}});
  const url = await prismBefore(service.url);
  // Prism passes bodies on as text: those of other images would not arrive as they were.
  const body = await readFile(fixture('photo.svg'), 'utf8');
  const upload = async (token: string) => {
    const headers = {Authorization: `Bearer ${token}`, 'Content-Type': 'image/svg+xml'};
    const response = await fetch(`${url}/v1/media/upload`, {method: 'POST', headers, body});
    return {status: response.status, body: (await response.json()) as Record<string, unknown>};
  };
  const [stored, unknown] = [await upload(key), await upload('mk_unknown')];
  const [record] = await service.records();
  expect(stored).toEqual({status: 200, body: record?.record});
  expect(unknown).toEqual({status: 401, body: {code: 401, message: expect.any(String)}});
  expect(await upload(key)).toMatchObject({status: 500, body: {type: expect.stringMatching(/VIOLATIONS$/)}});
  const query = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
    body: '{"query":"{mediaList {totalCount}}"}',
  });
  expect(await query.json()).toEqual({data: {mediaList: {totalCount: 2}}});
});
