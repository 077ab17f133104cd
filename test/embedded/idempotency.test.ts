import {rm, truncate} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parseIdempotencyKey} from '../../src/embedded/state/idempotency.ts';
import type {EmbeddedService} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {
  fixture,
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

const idempotent = {'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"'};

async function idOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return ((await response.json()) as {id: string}).id;
}

async function onlyId(service: EmbeddedService): Promise<string | null | undefined> {
  const records = await service.records();
  expect(records).toHaveLength(1);
  return records[0]?.record.id;
}

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

test('the same key and content when the file was cut off, or is gone: stored again under the same ID', async () => {
  const {service, key, dataDirectory} = await serviceWithKey({previews: true});
  const clip = await fixture('clip.mp4');
  const send = () => upload(service, key, clip, {...idempotent, 'Content-Type': 'video/mp4'});
  const first = await (await send()).json();
  expect(first).toHaveProperty('hlsUrl');
  const path = join(dataDirectory, 'files', (await onlyId(service)) ?? '');
  for (const damage of [() => truncate(path, 9), () => rm(path)]) {
    await damage();
    expect(await (await send()).json()).toEqual(first);
    const response = await fetch(`${service.url}/files/${await onlyId(service)}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(clip)).toBe(true);
  }
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

test('a first request cut off before its end: the second is not told of a conflict', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = png(9, 9);
  for (let round = 0; round < 10; round += 1) {
    const headers = {'Idempotency-Key': `"round ${round}"`};
    const {socket} = await rawConnection(service);
    socket.write(uploadHead(service, key, {...headers, 'Content-Length': bytes.length}));
    await new Promise(resolve => socket.write(bytes.subarray(0, -1), resolve));
    await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
    socket.destroy();
    expect((await upload(service, key, bytes, headers)).status).toBe(200);
  }
  expect(await service.records()).toHaveLength(10);
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

test('equal requests at once to two processes on one directory: one record', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const other = await startedService({dataDirectory});
  for (let round = 1; round <= 20; round += 1) {
    const headers = {'Idempotency-Key': `"round ${round}"`};
    const ids = await Promise.all([
      upload(service, key, png(5, 5), headers).then(idOf),
      upload(other, key, png(5, 5), headers).then(idOf),
    ]);
    expect(ids[0]).toBe(ids[1]);
    expect(await service.records()).toHaveLength(round);
  }
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
