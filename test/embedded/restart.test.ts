import {readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {namesIn, png, query, serviceWithKey, startedService, temporaryDirectory, upload} from './support.ts';

test('stopped and started again: keys, records, files and /graphql are as before', async () => {
  const {service, key, dataDirectory} = await serviceWithKey({publicUrl: 'http://127.0.0.1:1'});
  const bytes = [png(1, 1), png(2, 2)];
  for (const each of bytes) await upload(service, key, each);
  const before = await service.records();
  await service.close();
  const restarted = await startedService({dataDirectory, publicUrl: 'http://127.0.0.1:1'});
  expect(await restarted.records()).toEqual(before);
  for (const [index, stored] of before.entries()) {
    const response = await fetch(`${restarted.url}/files/${stored.record.id}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes[index]);
  }
  expect(await query(restarted, key, '{mediaList {nodes {id}}}')).toEqual({
    data: {mediaList: {nodes: before.map(stored => ({id: stored.record.id})).reverse()}},
  });
  expect((await upload(restarted, key, png(3, 3))).status).toBe(200);
  expect((await restarted.records()).slice(0, 2)).toEqual(before);
});

test('started again on another port: the URLs of records are those of the running service', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = png(1, 1);
  await upload(service, key, bytes);
  const other = await startedService({dataDirectory});
  const fileUrl = (await other.records())[0]?.record.fileUrl ?? '';
  expect(fileUrl.startsWith(other.url)).toBe(true);
  expect(Buffer.from(await (await fetch(fileUrl)).arrayBuffer())).toEqual(bytes);
});

test('two services on one directory: each sees at once what the other stores', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const other = await startedService({dataDirectory});
  await Promise.all([upload(service, key, png(1, 1)), upload(other, key, png(2, 2))]);
  expect(await service.records()).toHaveLength(2);
  for (const {record} of await service.records()) {
    for (const each of [service, other]) {
      expect((await fetch(`${each.url}/files/${record.id}`)).status).toBe(200);
      expect(await query(each, key, `{media(id: "${record.id}") {id}}`)).toEqual({
        data: {media: {id: record.id}},
      });
    }
  }
});

test('temporary files at the start: those of today stay, those older than a day go', async () => {
  const dataDirectory = await temporaryDirectory();
  await (await startedService({dataDirectory})).close();
  const now = Date.now() / 1000;
  for (const [name, hours] of [
    ['fresh', 1],
    ['stale', 25],
  ] as const) {
    const path = join(dataDirectory, 'temporary', name);
    await writeFile(path, name);
    await utimes(path, now - hours * 3600, now - hours * 3600);
  }
  await startedService({dataDirectory});
  expect(await namesIn(dataDirectory, 'temporary')).toEqual(['fresh']);
});

test('foreign files among the records: ignored', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, png(1, 1));
  await writeFile(join(dataDirectory, 'records', '.DS_Store'), '');
  await writeFile(join(dataDirectory, 'records', 'notes.json'), 'no record');
  expect(await service.records()).toHaveLength(1);
  expect(await query(service, key, '{mediaList {nodes {id}}}')).not.toHaveProperty('errors');
});

test('the record file holds no address', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, png(1, 1));
  const [name = ''] = await namesIn(dataDirectory, 'records');
  expect(await readFile(join(dataDirectory, 'records', name), 'utf8')).not.toContain('127.0.0.1');
});
