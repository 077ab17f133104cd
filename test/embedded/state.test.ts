import {mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryNames} from '../../src/embedded/state/clean-up.ts';
import {Store} from '../../src/embedded/state/data-store.ts';
import type {StoredRecord} from '../../src/embedded/state/stored-record.ts';
import {systemClock} from '../../src/host.ts';
import {eventually} from '../support/eventually.ts';
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

const image = png(6, 4);

test('a second exclusive service on a directory: refused with the process of the first, until that has ended', async () => {
  const {service, dataDirectory} = await serviceWithKey({exclusive: true});
  await expect(startedService({dataDirectory, exclusive: true})).rejects.toMatchObject({
    name: 'DirectoryInUse',
    message: expect.stringContaining(
      `${dataDirectory} is in use by another media serve, process ${process.pid} on `,
    ),
  });
  await startedService({dataDirectory});
  await service.close();
  await startedService({dataDirectory, exclusive: true});
});

test('a port that is in use: the directory is free again, and nothing listens for changes of faults', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const port = Number(new URL(service.url).port);
  const listening = () => process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap').length;
  const before = listening();
  const faults = {control: {port: 0}};
  await expect(startedService({dataDirectory, exclusive: true, port, faults})).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  expect(listening()).toBeLessThanOrEqual(before);
  await startedService({dataDirectory, exclusive: true});
});

test('keys that are damaged: refused, and the directory is free again', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  await service.close();
  await writeFile(join(dataDirectory, 'keys.json'), '{');
  await expect(startedService({dataDirectory, exclusive: true})).rejects.toThrow(/keys\.json is damaged/);
  await rm(join(dataDirectory, 'keys.json'));
  await startedService({dataDirectory, exclusive: true});
});

/** A data directory with one upload, and what services that were killed may leave behind. */
async function leftBehind() {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, image);
  const [stored] = await service.records();
  const id = stored?.record.id ?? '';
  await service.close();
  const otherId = (last: string) => `${id.slice(0, -1)}${id.endsWith(last) ? 'z' : last}`;
  const names = temporaryNames();
  const own = names.next();
  const dead = own.replace(`-${process.pid}-`, '-4194304999-');
  await writeFile(join(dataDirectory, 'temporary', dead), 'half of a body');
  await mkdir(join(dataDirectory, 'temporary', dead.replace(/.{4}$/, '0000')));
  // Of a process that had the id of this one.
  await writeFile(join(dataDirectory, 'temporary', own.replace(/-\w*(-\w{32})$/, '-1$1')), 'half of a body');
  // Another process is about to commit this one.
  const draft = `${own}.${otherId('1')}`;
  await writeFile(join(dataDirectory, 'temporary', draft), JSON.stringify({id: otherId('1')}));
  await writeFile(join(dataDirectory, 'files', otherId('1')), image);
  await writeFile(join(dataDirectory, 'files', otherId('2')), image);
  await writeFile(join(dataDirectory, 'thumbnails', `${otherId('2')}.webp`), image);
  await writeFile(join(dataDirectory, 'thumbnails', `${otherId('3')}.webp`), image);
  await writeFile(join(dataDirectory, 'files', '.DS_Store'), '');
  return {dataDirectory, id, otherId, draft};
}

test('what killed services left behind: an exclusive one cleans up', async () => {
  const {dataDirectory, id, otherId, draft} = await leftBehind();
  const service = await startedService({dataDirectory, exclusive: true});
  expect(service.leftBehind).toEqual({temporary: 3, lost: [otherId('2'), otherId('3')]});
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([draft]);
  expect(await namesIn(dataDirectory, 'files')).toEqual(['.DS_Store', id, otherId('1')].sort());
  expect(await namesIn(dataDirectory, 'thumbnails')).toEqual([]);
  expect(await namesIn(dataDirectory, 'records')).toEqual([`${id}.json`]);
});

test('records that are not there at a start, twice: the files and streams stay whole, in lost/', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, image);
  await service.close();
  const [id = ''] = await namesIn(dataDirectory, 'files');
  const lose = async () => {
    await rm(join(dataDirectory, 'records'), {recursive: true});
    await mkdir(join(dataDirectory, 'streams', id));
    await writeFile(join(dataDirectory, 'streams', id, 'index.m3u8'), '#EXTM3U');
    const again = await startedService({dataDirectory, exclusive: true});
    expect(again.leftBehind).toEqual({temporary: 0, lost: [id]});
    await again.close();
    expect(await readFile(join(dataDirectory, 'lost/files', id))).toEqual(image);
    expect(await namesIn(dataDirectory, `lost/streams/${id}`)).toEqual(['index.m3u8']);
    expect(await namesIn(dataDirectory, 'files')).toEqual([]);
  };
  await lose();
  await rename(join(dataDirectory, 'lost/files', id), join(dataDirectory, 'files', id));
  await lose();
});

test('temporary files of another machine: removed after a day, and no sooner', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  await service.close();
  const [recent, old] = ['0', '1'].map(last =>
    temporaryNames()
      .next()
      .replace(/^.{8}(.*).$/, `ffffffff$1${last}`),
  ) as [string, string];
  for (const name of [recent, old]) await writeFile(join(dataDirectory, 'temporary', name), 'half of a body');
  const dayAgo = Date.now() / 1000 - 25 * 60 * 60;
  await utimes(join(dataDirectory, 'temporary', old), dayAgo, dayAgo);
  expect((await startedService({dataDirectory})).leftBehind).toMatchObject({temporary: 1});
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([recent]);
});

test('what killed services left behind: one that shares the directory removes temporary files alone', async () => {
  const {dataDirectory} = await leftBehind();
  const service = await startedService({dataDirectory});
  expect(service.leftBehind).toEqual({temporary: 3, lost: []});
  expect(await readdir(join(dataDirectory, 'files'))).toHaveLength(4);
});

test('maxSize: 413 for one byte more, before the body is sent', async () => {
  const {service, key} = await serviceWithKey({maxSize: image.length});
  expect((await upload(service, key, image)).status).toBe(200);
  const connection = await rawConnection(service);
  connection.socket.write(uploadHead(service, key, {'Content-Length': image.length + 1}));
  const {status, body} = await eventually(() => parseAnswer(connection.text()));
  expect({status, ...JSON.parse(body)}).toEqual({
    status: 413,
    code: 413,
    message: `The file has ${image.length + 1} bytes, but this service accepts at most ${image.length}.`,
  });
});

test('quota: 507 for what does not fit, counted over restarts and deletions', async () => {
  const quota = 2 * image.length;
  const {service, key, dataDirectory} = await serviceWithKey({quota});
  const statuses = async () => {
    const all = await Promise.all([1, 2, 3].map(() => upload(service, key, image)));
    return all.map(({status}) => status).sort();
  };
  expect(await statuses()).toEqual([200, 200, 507]);
  expect(await (await upload(service, key, image)).json()).toEqual({
    code: 507,
    message: `This service stores at most ${quota} bytes, and ${quota} are used.`,
  });
  const [stored] = await service.records();
  await query(service, key, 'mutation ($id: ID!) {deleteMedia(id: $id)}', {id: stored?.record.id});
  expect(await statuses()).toEqual([200, 507, 507]);
  await service.close();
  const again = await startedService({dataDirectory, quota: quota + 1});
  expect((await upload(again, key, image)).status).toBe(507);
  expect((await upload(again, key, png(1, 1).subarray(0, 1))).status).toBe(200);
});

test('an upload that is deleted several times at once: counts once for the quota', async () => {
  const {service, key} = await serviceWithKey({quota: 2 * image.length});
  const {id} = (await (await upload(service, key, image)).json()) as {id: string};
  expect((await upload(service, key, image)).status).toBe(200);
  const mutation = `mutation {deleteMedia(id: "${id}")}`;
  await Promise.all(Array.from({length: 8}, () => query(service, key, mutation)));
  expect((await upload(service, key, image)).status).toBe(200);
  expect((await upload(service, key, image)).status).toBe(507);
});

test('a refused upload, a repeated one: neither takes of the quota', async () => {
  const {service, key} = await serviceWithKey({quota: 2 * image.length});
  const repeated = {'Idempotency-Key': '"one"'};
  for (let count = 0; count < 3; count += 1) {
    expect((await upload(service, key, image, repeated)).status).toBe(200);
    expect((await upload(service, key, image, {'Content-Type': 'text/plain'})).status).toBe(415);
  }
  expect(await service.records()).toHaveLength(1);
  expect((await upload(service, key, image)).status).toBe(200);
});

test('a repeated upload after the quota is used up: its record, and a 422 for other content', async () => {
  const {service, key} = await serviceWithKey({quota: image.length});
  const once = {'Idempotency-Key': '"one"'};
  const record = await (await upload(service, key, image, once)).json();
  expect((await upload(service, key, image)).status).toBe(507);
  expect(await (await upload(service, key, image, once)).json()).toEqual(record);
  expect((await upload(service, key, png(3, 2), once)).status).toBe(422);
});

test('a file that is damaged and stored again: counts once for the quota', async () => {
  const {service, key, dataDirectory} = await serviceWithKey({quota: 2 * image.length});
  const once = {'Idempotency-Key': '"one"'};
  const {id} = (await (await upload(service, key, image, once)).json()) as {id: string};
  await writeFile(join(dataDirectory, 'files', id), image.subarray(0, 20));
  expect(await (await upload(service, key, image, once)).json()).toMatchObject({id});
  expect((await upload(service, key, image)).status).toBe(200);
  expect((await upload(service, key, image)).status).toBe(507);
});

test('a file that another process deletes while the quota counts: the service starts', async () => {
  const {service, dataDirectory} = await serviceWithKey({quota: 1000});
  await service.close();
  await symlink('deleted', join(dataDirectory, 'files', 'gone'));
  expect((await startedService({dataDirectory, quota: 1000})).identity).toBe(service.identity);
});

test('an upload that breaks off: what the quota had set aside for it is there again', async () => {
  const {service, key, dataDirectory} = await serviceWithKey({quota: image.length});
  const {socket} = await rawConnection(service);
  socket.on('error', () => {});
  socket.write(uploadHead(service, key, {'Content-Length': image.length}));
  socket.write(image.subarray(0, 20));
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
  expect((await upload(service, key, image)).status).toBe(507);
  socket.destroy();
  await eventually(async () => (await upload(service, key, image)).status === 200);
});

test('a list that was kept in memory: what another process stores is in the next one', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const other = await startedService({dataDirectory});
  await upload(service, key, image);
  const records = join(dataDirectory, 'records');
  await utimes(records, 1_000_000, 1_000_000);
  const count = async () => (await service.records()).length;
  expect([await count(), await count()]).toEqual([1, 1]);
  await upload(other, key, image);
  expect((await stat(records)).mtimeMs).not.toBe(1_000_000_000);
  expect(await count()).toBe(2);
});

test('two uploads within one tick of the clock of the file system: both are in the list', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const tick = Date.now() / 1000 + 3600;
  for (const count of [1, 2]) {
    await upload(service, key, image);
    await utimes(join(dataDirectory, 'records'), tick, tick);
    expect(await service.records()).toHaveLength(count);
  }
});

test('a commit that fails when another process has committed the same ID: the bytes of the other stay', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, image);
  const [stored] = await service.records();
  const id = stored?.record.id ?? '';
  const other = new Store(dataDirectory, systemClock);
  const commit = async (mine: string) => {
    const record = await other.find(id);
    const file = other.temporaryPath();
    await writeFile(file, image);
    await other.commit({...(record as StoredRecord), id: mine}, {file}, () => {
      throw new Error('the client has gone');
    });
  };
  for (const mine of [id, other.newId()]) await expect(commit(mine)).rejects.toThrow('the client has gone');
  expect(await namesIn(dataDirectory, 'files')).toEqual([id]);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
  expect((await fetch(stored?.record.fileUrl ?? '')).status).toBe(200);
});

test('a thumbnail that is made while its upload is deleted: not stored', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, image);
  await upload(service, key, image);
  const [kept, deleted] = (await service.records()).map(({record}) => String(record.id));
  const store = new Store(dataDirectory, systemClock);
  const place = async (id = '') => {
    const draft = store.temporaryPath();
    await writeFile(draft, 'picture');
    return store.placeThumbnail(id, draft);
  };
  await store.remove([String(deleted)]);
  expect([await place(kept), await place(deleted)]).toEqual([true, false]);
  expect(await namesIn(dataDirectory, 'thumbnails')).toEqual([`${kept}.webp`]);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
});

test('an upload right after its commit, before the end of its request: counts once for the quota', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  await upload(service, key, image);
  const [stored] = await service.records();
  const quota = 3 * image.length;
  const store = new Store(dataDirectory, systemClock, quota);
  await store.prepare(false);
  const file = store.temporaryPath();
  store.quota.reserve(file, image.length);
  await writeFile(file, image);
  const record = await store.find(stored?.record.id ?? '');
  await store.commit({...(record as StoredRecord), id: store.newId()}, {file}, () => {});
  store.quota.reserve(store.temporaryPath(), image.length);
  expect(() => store.quota.reserve(store.temporaryPath(), 1)).toThrow(`and ${quota} are used`);
});

test('temporary names: of this process, of one that has ended, of another machine', async () => {
  const names = temporaryNames();
  const own = names.next();
  expect(names.isAlive(own)).toBe(true);
  expect(names.isAlive(own.replace(`-${process.pid}-`, '-4194304999-'))).toBe(false);
  expect(names.isAlive(own.replace(/^.{8}/, 'ffffffff'))).toBeUndefined();
  expect(names.isAlive('0123456789abcdef0123456789abcdef')).toBeUndefined();
  // After another start of the machine.
  expect(names.isAlive(own.replace(/^(.{9}).{8}/, '$1ffffffff'))).toBe(false);
});
