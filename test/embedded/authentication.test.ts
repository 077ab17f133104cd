import {readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {startEmbeddedService} from '../support/embedded-service.ts';
import {namesIn, png, query, serviceWithKey, startedService, temporaryDirectory, upload} from './support.ts';

const targets = ['/v1/media/upload', '/graphql'];

async function post(url: string, authorization?: string): Promise<Response> {
  const contentType = url.endsWith('graphql') ? 'application/json' : 'image/png';
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': contentType,
      ...(authorization === undefined ? {} : {Authorization: authorization}),
    },
    body: url.endsWith('graphql') ? '{"query":"{__typename}"}' : png(1, 1),
  });
}

for (const target of targets) {
  test(`${target} with an unknown key: 401 and a challenge`, async () => {
    const {service} = await serviceWithKey();
    const response = await post(service.url + target, 'Bearer mk_unknown');
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toEqual({code: 401, message: expect.any(String)});
  });

  for (const [name, authorization] of [
    ['no Authorization', undefined],
    ['a scheme other than Bearer', 'Basic dXNlcjpwYXNz'],
    ['Bearer without a token', 'Bearer'],
  ] as const) {
    test(`${target} with ${name}: 403`, async () => {
      const service = await startedService();
      const response = await post(service.url + target, authorization);
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({code: 403, message: expect.any(String)});
    });
  }

  test(`${target} with a key that lacks the permission: 403`, async () => {
    const lacking = target === '/graphql' ? 'upload' : 'graphql';
    const service = await startedService();
    const key = await service.createKey({permissions: [lacking]});
    expect((await post(service.url + target, `Bearer ${key}`)).status).toBe(403);
    expect(await service.records()).toEqual([]);
  });

  test(`${target} with the scheme in another case: accepted`, async () => {
    const {service, key} = await serviceWithKey();
    for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
      expect((await post(service.url + target, `${scheme} ${key}`)).status).toBe(200);
    }
  });
}

test('a key of one permission may use that one', async () => {
  const service = await startedService();
  const uploading = await service.createKey({permissions: ['upload']});
  const asking = await service.createKey({permissions: ['graphql']});
  expect((await upload(service, uploading, png(1, 1))).status).toBe(200);
  expect(await query(service, asking, '{__typename}')).toEqual({data: {__typename: 'Query'}});
});

test('a key: long, random, url-safe, and stored as a hash in a file for its owner alone', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  expect(key).toMatch(/^mk_[A-Za-z0-9_-]{32,}$/);
  expect(await service.createKey()).not.toBe(key);
  const path = join(dataDirectory, 'keys.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).not.toContain(key.slice(3));
  expect((await stat(dataDirectory)).mode & 0o077).toBe(0);
});

test('a key made by one process: known to another on the same directory, and after a restart', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const other = await startedService({dataDirectory});
  expect((await upload(other, key, png(1, 1))).status).toBe(200);
  await service.close();
  await other.close();
  const restarted = await startedService({dataDirectory});
  expect((await upload(restarted, key, png(1, 1))).status).toBe(200);
});

test('a key that is not to persist: known to its process only', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const key = await service.createKey({persist: false, label: 'own'});
  expect((await upload(service, key, png(1, 1))).status).toBe(200);
  const other = await startedService({dataDirectory});
  expect((await upload(other, key, png(1, 1))).status).toBe(401);
  await service.revokeKeys('own');
  expect((await upload(service, key, png(1, 1))).status).toBe(401);
});

test('a key that expires: valid until then, refused from then on', async () => {
  const {service} = await serviceWithKey();
  for (const [validForMs, status] of [
    [60 * 60_000, 200],
    [0, 401],
  ] as const) {
    const key = await service.createKey({validForMs});
    expect((await upload(service, key, png(1, 1))).status).toBe(status);
  }
});

test('revoked keys: unknown at once in every process; other labels stay', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const first = await service.createKey({label: 'serve'});
  const kept = await service.createKey({label: 'other'});
  const other = await startedService({dataDirectory});
  expect((await upload(other, first, png(1, 1))).status).toBe(200);
  await service.revokeKeys('serve');
  const second = await service.createKey({label: 'serve'});
  expect((await upload(other, first, png(1, 1))).status).toBe(401);
  for (const good of [second, kept, key]) expect((await upload(other, good, png(1, 1))).status).toBe(200);
});

test('unused keys are revoked: those that were used stay, and the last one, which may be used yet', async () => {
  const {service, key} = await serviceWithKey();
  const labels = ['serve', 'serve', 'serve', 'other'];
  const keys: string[] = [];
  for (const label of labels) keys.push(await service.createKey({label}));
  const statusOf = async (one = '') => (await upload(service, one, png(1, 1))).status;
  expect(await statusOf(keys[0])).toBe(200);
  await service.revokeKeys('serve', 'unused');
  const statuses = [];
  for (const one of [...keys, key]) statuses.push(await statusOf(one));
  expect(statuses).toEqual([200, 401, 200, 200, 200]);
});

test('keys that are revoked by their label: nothing is kept of their use', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const key = await service.createKey({label: 'serve'});
  expect((await upload(service, key, png(1, 1))).status).toBe(200);
  await service.revokeKeys('serve');
  expect(await namesIn(dataDirectory, 'key-uses')).toEqual([]);
});

test('a use of a key that cannot be written down: no reason to refuse it, and shown as none', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await writeFile(join(dataDirectory, 'key-uses'), 'a file where the directory would be');
  expect((await upload(service, key, png(1, 1))).status).toBe(200);
  expect(await query(service, key, '{viewer {apiKeys {lastUsedAt}}}')).toEqual({
    data: {viewer: {apiKeys: [{lastUsedAt: null}]}},
  });
});

test('keys made at the same time by two processes: none is lost', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const other = await startedService({dataDirectory});
  const keys = await Promise.all(
    Array.from({length: 20}, (_, index) => (index % 2 === 0 ? service : other).createKey()),
  );
  for (const key of keys) expect((await upload(service, key, png(1, 1))).status).toBe(200);
});

test('a key whose expiry was changed to something that is no time: refused', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const key = await service.createKey({validForMs: 60_000});
  const path = join(dataDirectory, 'keys.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/("expiresAt": )"[^"]*"/, '$1"tomorrow"'));
  expect((await upload(service, key, png(1, 1))).status).toBe(401);
});

test('a damaged keys.json: the service does not start, and says which file', async () => {
  const dataDirectory = await temporaryDirectory();
  await writeFile(join(dataDirectory, 'keys.json'), '{');
  await expect(startEmbeddedService({dataDirectory})).rejects.toThrow('keys.json is damaged');
});

test('credentials are judged before the body is asked for', async () => {
  const {service} = await serviceWithKey();
  const response = await fetch(`${service.url}/v1/media/upload`, {
    method: 'POST',
    headers: {'Content-Type': 'text/plain', Authorization: 'Bearer mk_unknown'},
    body: 'neither the type nor the key is right',
  });
  expect(response.status).toBe(401);
});
