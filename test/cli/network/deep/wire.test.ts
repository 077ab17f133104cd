import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import packageJson from '../../../../package.json' with {type: 'json'};
import {sandboxFor, testKey} from '../../../engine/service/program.ts';
import {mebibyte, writePng} from '../../../engine/service/support.ts';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {type RawRequest, type Script, scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');

const storeIt: Script = async connection => {
  await connection.request();
  connection.answer(200, someRecord);
};

const tooBusy: Script = async connection => {
  await connection.request();
  connection.answer(429, '', {'retry-after': '0'});
};

/** The fields of a request by their names in lower case; each must occur once. */
function fieldsOf(request: RawRequest | undefined): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of request?.head.slice(1) ?? []) {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    expect(fields).not.toHaveProperty(name.toLowerCase());
    fields[name.toLowerCase()] = value;
  }
  return fields;
}

async function uploaded(scripts: Script[], parameters: string[], basePath = '') {
  const {url, requests} = await scriptedServer(...scripts);
  const result = await (await sandboxFor(`${url}${basePath}`)).run(['upload', ...parameters]);
  expect(result.stderr).toBe('');
  expect(result.exitCode).toBe(0);
  return {requests, host: new URL(url).host};
}

const uuid = /^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/;

test('photo.png: the request line, each field once, no other field, the raw bytes', async () => {
  const {requests, host} = await uploaded([storeIt], [photo]);
  const bytes = await readFile(photo);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.head[0]).toBe('POST /v1/media/upload HTTP/1.1');
  expect(fieldsOf(requests[0])).toEqual({
    host,
    connection: 'keep-alive',
    authorization: `Bearer ${testKey}`,
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'idempotency-key': expect.stringMatching(uuid),
    'user-agent': `media/${packageJson.version}`,
    'accept-encoding': 'identity',
  });
  expect(requests[0]?.body.equals(bytes)).toBe(true);
});

test.each([1, 65_535, 65_536, 65_537, 524_288, 524_289, 5 * mebibyte, 5 * mebibyte + 1])(
  'a file of %i bytes: Content-Length is its size, the body its bytes',
  async size => {
    const path = await writePng(await temporaryDirectory(), 'a.png', size);
    const {requests} = await uploaded([storeIt], [path, '--content-type', 'image/png']);
    const fields = fieldsOf(requests[0]);
    expect(fields['content-length']).toBe(String(size));
    expect(fields).not.toHaveProperty('transfer-encoding');
    expect(requests[0]?.body.equals(await readFile(path))).toBe(true);
  },
);

test('--content-type video/mp4; codecs="avc1": sent as it was given', async () => {
  const {requests} = await uploaded([storeIt], [photo, '--content-type', 'video/mp4; codecs="avc1"']);
  expect(fieldsOf(requests[0])['content-type']).toMatch(/^video\/mp4; ?codecs="avc1"$/);
});

describe('Idempotency-Key', () => {
  test('the same over the tries of one file, another for the next file of the same bytes', async () => {
    const copy = join(await temporaryDirectory(), 'copy.png');
    await copyFile(photo, copy);
    const {requests} = await uploaded(
      [tooBusy, tooBusy, storeIt, tooBusy, storeIt],
      [photo, copy, '-c', '1', '--retries', '5', '--quiet'],
    );
    const keys = requests.map(request => fieldsOf(request)['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3], keys[3]]);
    expect(keys[0]).toMatch(uuid);
    expect(keys[3]).toMatch(uuid);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test('another in the next run', async () => {
    const runs = await Promise.all([uploaded([storeIt], [photo]), uploaded([storeIt], [photo])]);
    const [one, two] = runs.map(({requests}) => fieldsOf(requests[0])['idempotency-key']);
    expect(one).not.toBe(two);
  });
});

test.each([
  ['/', '/v1/media/upload'],
  ['///', '/v1/media/upload'],
  ['/api', '/api/v1/media/upload'],
  ['/a/b%20c//', '/a/b%20c/v1/media/upload'],
  ['//other.example', '//other.example/v1/media/upload'],
])('a base URL that ends in %s: POST %s', async (basePath, target) => {
  const {requests, host} = await uploaded([storeIt], [photo], basePath);
  expect(requests[0]?.head[0]).toBe(`POST ${target} HTTP/1.1`);
  expect(fieldsOf(requests[0])['host']).toBe(host);
});

test('the key is nowhere in what is printed, even with --verbose', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(400, JSON.stringify({code: 1, message: 'no'}));
  });
  const {stdout, stderr} = await (await sandboxFor(url)).run([
    'upload',
    photo,
    '--verbose',
    '--retries',
    '0',
  ]);
  expect(stdout + stderr).not.toContain(testKey);
  expect(stderr).toContain('refused');
});
