import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parseIdempotencyKey} from '../../src/embedded/state/idempotency.ts';
import {eventually} from '../support/eventually.ts';
import {idempotent, idOf, onlyId} from './idempotent.ts';
import {
  namesIn,
  parseAnswer,
  png,
  query,
  rawConnection,
  serviceWithKey,
  startedService,
  upload,
  uploadHead,
} from './support.ts';

test('the same key and content: the same record, stored once', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const first = await upload(service, key, png(2, 2), idempotent);
  const second = await upload(service, key, png(2, 2), idempotent);
  expect(second.status).toBe(200);
  expect(await second.json()).toEqual(await first.json());
  expect(await service.records()).toHaveLength(1);
  expect(await namesIn(dataDirectory, 'files')).toHaveLength(1);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
});

test('another key, or none, with the same content: another record', async () => {
  const {service, key} = await serviceWithKey();
  const ids = [
    await idOf(await upload(service, key, png(2, 2), idempotent)),
    await idOf(await upload(service, key, png(2, 2), {'Idempotency-Key': '"another"'})),
    await idOf(await upload(service, key, png(2, 2))),
    await idOf(await upload(service, key, png(2, 2))),
  ];
  expect(new Set(ids).size).toBe(4);
});

for (const [name, body, headers] of [
  ['other bytes', png(3, 3), {}],
  ['another content type', png(2, 2), {'Content-Type': 'image/x-png'}],
] as const) {
  test(`the same key and ${name}: 422, and the record stays`, async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const id = await idOf(await upload(service, key, png(2, 2), idempotent));
    const response = await upload(service, key, body, {...idempotent, ...headers});
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({code: 422, message: expect.any(String)});
    expect(await onlyId(service)).toBe(id);
    expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
    expect(await idOf(await upload(service, key, png(2, 2), idempotent))).toBe(id);
  });
}

test('the same key while its first request is still in flight: 409, and afterwards the record', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = png(9, 9);
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {...idempotent, 'Content-Length': bytes.length}));
  socket.write(bytes.subarray(0, -1));
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
  const conflict = await upload(service, key, png(2, 2), idempotent);
  expect(conflict.status).toBe(409);
  expect(await conflict.json()).toEqual({code: 409, message: expect.any(String)});
  socket.write(bytes.subarray(-1));
  const {id} = JSON.parse((await eventually(() => parseAnswer(text()))).body);
  expect(await idOf(await upload(service, key, bytes, idempotent))).toBe(id);
});

test('ten equal requests at once: one record', async () => {
  const {service, key} = await serviceWithKey();
  const responses = await Promise.all(
    Array.from({length: 10}, () => upload(service, key, png(5, 5), idempotent)),
  );
  const statuses = new Set(responses.map(response => response.status));
  expect([...statuses].filter(status => status !== 200 && status !== 409)).toEqual([]);
  expect(statuses).toContain(200);
  await onlyId(service);
});

test('the same value under two API keys: two records', async () => {
  const {service, key} = await serviceWithKey();
  const other = await service.createKey();
  const first = await idOf(await upload(service, key, png(2, 2), idempotent));
  const second = await idOf(await upload(service, other, png(2, 2), idempotent));
  expect(second).not.toBe(first);
});

test('a key that replaces another of its label: owns what the earlier one began', async () => {
  const {service} = await serviceWithKey();
  const first = await idOf(
    await upload(service, await service.createKey({label: 'serve'}), png(2, 2), idempotent),
  );
  await service.revokeKeys('serve');
  const key = await service.createKey({label: 'serve'});
  expect(await idOf(await upload(service, key, png(2, 2), idempotent))).toBe(first);
});

test('after a restart: the same record, and 422 for other content', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const id = await idOf(await upload(service, key, png(2, 2), idempotent));
  await service.close();
  const restarted = await startedService({dataDirectory});
  expect(await idOf(await upload(restarted, key, png(2, 2), idempotent))).toBe(id);
  expect((await upload(restarted, key, png(3, 3), idempotent)).status).toBe(422);
  expect(await onlyId(restarted)).toBe(id);
});

// What a crash leaves behind, by the step after which it came.
for (const [step, lost] of [
  ['the idempotency entry', ['records', 'files']],
  ['the bytes', ['records']],
] as const) {
  test(`a crash after ${step}: nothing is stored, and the same request stores it once`, async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const id = await idOf(await upload(service, key, png(2, 2), idempotent));
    await service.close();
    for (const folder of lost) {
      for (const name of await namesIn(dataDirectory, folder)) await rm(join(dataDirectory, folder, name));
    }
    const restarted = await startedService({dataDirectory});
    expect(await restarted.records()).toEqual([]);
    expect((await fetch(`${restarted.url}/files/${id}`)).status).toBe(404);
    expect(await query(restarted, key, `{media(id: "${id}") {id}}`)).toEqual({data: {media: null}});
    const again = await idOf(await upload(restarted, key, png(2, 2), idempotent));
    expect(await onlyId(restarted)).toBe(again);
    expect(await idOf(await upload(restarted, key, png(2, 2), idempotent))).toBe(again);
    expect(await namesIn(dataDirectory, 'files')).toEqual([again]);
  });

  test(`a crash after ${step}, then other content under the same key: stored`, async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    await idOf(await upload(service, key, png(2, 2), idempotent));
    for (const folder of lost) {
      for (const name of await namesIn(dataDirectory, folder)) await rm(join(dataDirectory, folder, name));
    }
    const id = await idOf(await upload(service, key, png(3, 3), idempotent));
    expect(await onlyId(service)).toBe(id);
    expect(await idOf(await upload(service, key, png(3, 3), idempotent))).toBe(id);
    expect((await upload(service, key, png(2, 2), idempotent)).status).toBe(422);
  });
}

for (const value of [
  'unquoted',
  '"open',
  'open"',
  '""',
  '"a", "b"',
  '"a\\b"',
  '"ä"',
  ':YmFzZTY0:',
  '"a";p=1',
  '1',
]) {
  test(`Idempotency-Key: ${value}: 400`, async () => {
    const {service, key} = await serviceWithKey();
    const {socket, ended} = await rawConnection(service);
    socket.write(uploadHead(service, key, {'Idempotency-Key': value, 'Content-Length': 100}), 'latin1');
    const answer = parseAnswer(await ended());
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.body ?? '').message).toContain('Idempotency-Key');
  });
}

test('well-formed values', () => {
  expect(parseIdempotencyKey(undefined)).toBeUndefined();
  expect(parseIdempotencyKey('"a b!#[]~"')).toBe('a b!#[]~');
  expect(parseIdempotencyKey('"say \\"hi\\" \\\\"')).toBe('say "hi" \\');
});

test('two Idempotency-Key fields: 400', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, ended} = await rawConnection(service);
  const head = uploadHead(service, key, {...idempotent, 'Content-Length': 100});
  socket.write(head.replace('\r\n\r\n', '\r\nIdempotency-Key: "other"\r\n\r\n'));
  expect(parseAnswer(await ended())?.status).toBe(400);
});

test('every response declares that the service knows the field, and which service it is', async () => {
  const {service, key} = await serviceWithKey();
  const {id} = (await (await upload(service, key, png(1, 1))).json()) as {id: string};
  const answers = [
    await upload(service, key, png(1, 1)),
    await upload(service, 'mk_unknown', png(1, 1)),
    await upload(service, key, png(1, 1), {'Content-Type': 'text/plain'}),
    await fetch(`${service.url}/`),
    await fetch(`${service.url}/nowhere`),
    await fetch(`${service.url}/files/${id}`),
    await fetch(`${service.url}/files/${id}`, {headers: {Range: 'bytes=9999-'}}),
    await fetch(`${service.url}/graphql?query={__typename}`, {headers: {Authorization: `Bearer ${key}`}}),
    await fetch(`${service.url}/graphql`, {method: 'POST'}),
  ];
  expect(answers.map(answer => answer.headers.get('accept-idempotency-key'))).toEqual(
    answers.map(() => '?1'),
  );
  const ids = answers.map(answer => answer.headers.get('media-service-id'));
  expect(new Set(ids)).toEqual(new Set([service.identity]));
});

test('idempotency switched off: nothing declared, keys ignored whatever their form', async () => {
  const {service, key} = await serviceWithKey({idempotency: false});
  const answers = [
    await upload(service, key, png(2, 2), idempotent),
    await upload(service, key, png(2, 2), idempotent),
    await upload(service, key, png(3, 3), idempotent),
    await upload(service, key, png(3, 3), {'Idempotency-Key': 'unquoted'}),
    await fetch(`${service.url}/nowhere`),
  ];
  expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200, 404]);
  expect(answers.filter(answer => answer.headers.has('accept-idempotency-key'))).toEqual([]);
  expect(await service.records()).toHaveLength(4);
});
