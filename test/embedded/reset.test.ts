import {hash} from 'node:crypto';
import {readFile, rename, rm, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {EmbeddedService, SeedFile} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {ManualClock} from '../support/manual-clock.ts';
import {fixture} from '../support/media.ts';
import {
  namesIn,
  parseAnswer,
  png,
  query,
  rawConnection,
  startedService,
  temporaryDirectory,
  upload,
  uploadHead,
} from './support.ts';

/** Pictures in files of a new directory, as a seed. */
async function seedOf(...pictures: Buffer[]) {
  const directory = await temporaryDirectory();
  const paths = pictures.map((_, at) => join(directory, `${at}.png`));
  for (const [at, path] of paths.entries()) await writeFile(path, pictures[at] ?? '');
  let open = 0;
  const opened = async (path: string) => {
    open += 1;
    return {
      ...(await openFile(path)),
      close: async () => {
        open -= 1;
      },
    };
  };
  async function* seed(): AsyncGenerator<SeedFile> {
    for (const path of paths) yield {name: path, contentType: 'image/png', open: () => opened(path)};
  }
  return {seed: seed(), paths, countOpen: () => open};
}

async function openFile(path: string) {
  const bytes = await readFile(path);
  return {
    size: bytes.length,
    read: async (position: number, length: number) => bytes.subarray(position, position + length),
  };
}

/** A service whose state can be reset, the key of its owner, and what the control port returns. */
async function resettable(
  seed: AsyncGenerator<SeedFile> | undefined,
  list: string[] = [],
  dataDirectory?: string,
) {
  dataDirectory ??= await temporaryDirectory();
  const service = await startedService({
    dataDirectory,
    ...(seed === undefined ? {} : {seed}),
    faults: {list, control: {port: 0}},
  });
  const {url = '', key: controlKey = ''} = service.faultControl ?? {};
  const control = async (method: string, path: string, body?: string, token = controlKey) => {
    const headers = {Authorization: `Bearer ${token}`};
    const sent = body === undefined ? {method, headers} : {method, headers, body};
    const response = await fetch(new URL(path, url), sent);
    return {status: response.status, ...((await response.json()) as object)};
  };
  const reset = () => control('POST', '/state/reset');
  return {service, dataDirectory, control, reset, key: await service.createKey({label: 'serve'})};
}

const idsOf = async (service: EmbeddedService) =>
  (await service.records()).map(({record}) => String(record.id));

test('pictures of the seed: a thumbnail each, made when it is read; of one that breaks off, the picture itself', async () => {
  const [whole, broken] = [await readFile(fixture('photo.png')), await readFile(fixture('truncated.png'))];
  const dataDirectory = await temporaryDirectory();
  const {seed} = await seedOf(whole, broken);
  const service = await startedService({dataDirectory, seed, previews: true});
  const sha256 = hash('sha256', whole, 'hex');
  const records = (await service.records()).sort((one, _) => (one.sha256 === sha256 ? -1 : 1));
  const urls = records.map(({record}) => String(record.thumbnailUrl));
  expect(urls).toEqual(records.map(({record}) => `${service.url}/thumbnails/${record.id}.webp`));
  expect(await namesIn(dataDirectory, 'thumbnails')).toEqual([]);

  // Two for each picture at once, and one when they have ended.
  const get = async (url: string) => {
    const response = await fetch(url);
    const body = Buffer.from(await response.arrayBuffer());
    return {status: response.status, type: response.headers.get('content-type'), body};
  };
  const responses = await Promise.all([...urls, ...urls].map(get));
  const [made, itself] = await Promise.all(urls.map(get));
  expect(made?.type).toBe('image/webp');
  expect(itself).toEqual({status: 200, type: 'image/png', body: broken});
  expect(responses).toEqual([made, itself, made, itself]);
  expect(await namesIn(dataDirectory, 'thumbnails')).toEqual([`${records[0]?.record.id}.webp`]);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
});

test('a picture that could not be read: itself in place of its thumbnail, which is made when it is read a minute later', async () => {
  const picture = await readFile(fixture('photo.png'));
  const dataDirectory = await temporaryDirectory();
  const {seed} = await seedOf(picture);
  const clock = new ManualClock();
  const service = await startedService({dataDirectory, seed, previews: true, clock});
  const [stored] = await service.records();
  const typeNow = async () => {
    const {headers} = await fetch(String(stored?.record.thumbnailUrl), {method: 'HEAD'});
    // A browser must not keep what is not the thumbnail.
    expect(headers.get('cache-control')?.includes('immutable')).toBe(
      headers.get('content-type') === 'image/webp',
    );
    return headers.get('content-type');
  };
  const file = join(dataDirectory, 'files', String(stored?.record.id));
  await rename(file, `${file}-away`);
  await writeFile(file, picture.subarray(0, 1000));
  expect(await typeNow()).toBe('image/png');
  await rename(`${file}-away`, file);
  await clock.advance(59_000);
  expect(await typeNow()).toBe('image/png');
  await clock.advance(1_000);
  expect(await typeNow()).toBe('image/webp');
});

test('a reset: what was stored, deleted, named or made to fail since the start is as it was then', async () => {
  const [one, two] = [png(2, 1), png(3, 1)];
  const fault = 'upload:status=503,nth=2';
  const {seed, countOpen} = await seedOf(one, two, one);
  const {service, key, dataDirectory, control, reset} = await resettable(seed, [fault]);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
  const atStart = await service.records();
  expect(atStart.map(({createdAt, record}) => [createdAt, record.width])).toEqual([
    ['1970-01-01T00:00:00.000Z', expect.any(Number)],
    ['1970-01-01T00:00:00.000Z', expect.any(Number)],
  ]);
  const folders = ['files', 'records', 'thumbnails', 'streams', 'temporary'];
  const names = () => Promise.all(folders.map(folder => namesIn(dataDirectory, folder)));
  const before = await names();

  const idempotent = {'Idempotency-Key': '"a"'};
  const first = await upload(service, key, png(9, 9), idempotent);
  expect(first.status).toBe(200);
  expect((await upload(service, key, one)).status).toBe(503);
  const mutation = `mutation {
    deleteMedia(id: "${atStart[0]?.record.id}")
    updateProfile(name: "Ada") {name}
    createApiKey(name: "x", permissions: [UPLOAD]) {key}
  }`;
  const {data} = await query<{createApiKey: {key: string}}>(service, key, mutation);
  expect(await service.records()).toHaveLength(2);
  expect(await control('PUT', '/faults', '{"faults": ["upload:reset"]}')).toMatchObject({status: 200});

  expect(await reset()).toEqual({status: 200, media: 2});
  expect(await service.records()).toEqual(atStart);
  expect(await names()).toEqual(before);
  expect(countOpen()).toBe(0);
  expect(await control('GET', '/faults')).toEqual({
    status: 200,
    faults: [{fault, matched: 0, applied: 0}],
  });
  expect(await query(service, key, '{viewer {name apiKeys {name}}}')).toEqual({
    data: {viewer: {name: 'serve', apiKeys: [{name: null}]}},
  });
  expect((await upload(service, data?.createApiKey.key ?? '', png(1, 1))).status).toBe(401);
  // The same Idempotency-Key counts anew: the record that it was for is gone.
  expect(await control('DELETE', '/faults')).toMatchObject({status: 200});
  const again = await upload(service, key, png(9, 9), idempotent);
  expect(again.status).toBe(200);
  const {fileUrl} = (await again.json()) as {fileUrl: string};
  expect((await fetch(fileUrl)).status).toBe(200);
});

test('keys that were revoked: valid after a reset, but for those that the owner revoked', async () => {
  const dataDirectory = await temporaryDirectory();
  const before = await startedService({dataDirectory});
  await before.createKey({label: 'serve', name: 'of an earlier start'});
  await before.close();
  const {service, key, reset} = await resettable(undefined, [], dataDirectory);
  const other = await service.createKey({label: 'other'});
  const keysOf = async (plain: string) => {
    const {data} = await query<{viewer: {apiKeys: {id: string; name: null}[]}}>(
      service,
      plain,
      '{viewer {apiKeys {id name}}}',
    );
    return data?.viewer.apiKeys;
  };
  const [earlier, own, ...others] = (await keysOf(key)) ?? [];
  for (const one of [earlier, own]) await query(service, other, `mutation {revokeApiKey(id: "${one?.id}")}`);
  expect(await keysOf(key)).toBeUndefined();
  expect((await reset()).status).toBe(200);
  expect(await keysOf(key)).toEqual([earlier, own, ...others]);
  await service.revokeKeys('other');
  expect((await reset()).status).toBe(200);
  expect(await keysOf(key)).toEqual([earlier, own]);
});

test('a file of the seed that is gone from the data directory, or was cut off, or whose record is damaged: there again after a reset, and a start', async () => {
  const picture = png(2, 1);
  const dataDirectory = await temporaryDirectory();
  const started = async () => startedService({dataDirectory, seed: (await seedOf(picture)).seed});
  const service = await started();
  const [id = ''] = await idsOf(service);
  const path = join(dataDirectory, 'files', id);
  const record = join(dataDirectory, 'records', `${id}.json`);
  for (const damage of [() => truncate(path, 9), () => rm(path), () => truncate(record, 9)]) {
    for (const again of [() => service.reset?.(), started]) {
      await damage();
      await again();
      expect(await readFile(path)).toEqual(picture);
    }
  }
});

test('a close during a reset: resolves when the reset has ended', async () => {
  const [dataDirectory, picture] = [await temporaryDirectory(), png(2, 1)];
  const path = join(await temporaryDirectory(), '0.png');
  await writeFile(path, picture);
  let opened = 0;
  let goOn = () => {};
  let gate = Promise.resolve();
  async function* seed(): AsyncGenerator<SeedFile> {
    const open = async () => {
      opened += 1;
      await gate;
      return {...(await openFile(path)), close: async () => {}};
    };
    yield {name: path, contentType: 'image/png', open};
  }
  const service = await startedService({dataDirectory, seed: seed()});
  const [id = ''] = await idsOf(service);
  await rm(join(dataDirectory, 'files', id));
  gate = new Promise(resolve => {
    goOn = resolve;
  });
  const ended: string[] = [];
  const reset = service.reset?.().then(() => ended.push('reset'));
  await eventually(() => opened === 2);
  const closed = service.close().then(() => ended.push('close'));
  await eventually(() =>
    fetch(service.url).then(
      () => false,
      () => true,
    ),
  );
  goOn();
  await Promise.all([reset, closed]);
  expect(ended).toEqual(['reset', 'close']);
  expect(await namesIn(dataDirectory, 'files')).toEqual([id]);
});

test('an upload under way at the reset: 409, and nothing of it is stored later', async () => {
  const {service, key, dataDirectory, reset} = await resettable(undefined);
  const image = png(6, 4);
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': image.length}));
  socket.write(image.subarray(0, 20));
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
  // Of 20 uploads at once, some are being committed.
  const others = Array.from({length: 20}, () => upload(service, key, image).then(({status}) => status));
  await Promise.race(others);
  const answer = reset();
  socket.write(image.subarray(20));
  expect(await answer).toEqual({status: 200, media: 0});
  const late = await eventually(() => parseAnswer(text()));
  expect(JSON.parse(late.body)).toEqual({
    code: 409,
    message: 'The service was reset during this upload, and nothing was stored.',
  });
  const ended = await Promise.all(others);
  expect(ended.filter(status => status !== 200 && status !== 409)).toEqual([]);
  // An upload that began when the reset had ended is one of the next test.
  const begun = await idsOf(service);
  expect(begun.length).toBeLessThan(20);
  expect(await namesIn(dataDirectory, 'files')).toEqual(begun);
  expect((await upload(service, key, image)).status).toBe(200);
  expect(await Promise.all([reset(), reset(), reset()])).toEqual(Array(3).fill({status: 200, media: 0}));
});

test('a file of the seed that was deleted from both places, or has changed: 500 with its name', async () => {
  const {seed, paths} = await seedOf(png(2, 2));
  const {service, key, reset, control} = await resettable(seed);
  const [id] = await idsOf(service);
  expect(await query(service, key, `mutation {deleteMedia(id: "${id}")}`)).toEqual({data: {deleteMedia: id}});
  const bytes = await readFile(paths[0] ?? '');
  await writeFile(paths[0] ?? '', png(5, 5));
  const changed = {status: 500, code: 500, message: `${paths[0]} of the seed has changed since the start.`};
  expect(await reset()).toEqual(changed);
  await writeFile(paths[0] ?? '', bytes);
  expect(await reset()).toEqual({status: 200, media: 1});
  expect(await idsOf(service)).toEqual([id]);
  for (const [method, path, token, status] of [
    ['GET', '/state/reset', undefined, 405],
    ['POST', '/state/reset', key, 401],
    ['POST', '/state', undefined, 404],
  ] as const)
    expect(await control(method, path, undefined, token)).toMatchObject({status});
});

test('a data directory with media: they stay at a reset, and each start has the same seed', async () => {
  const pictures = [png(2, 1), png(3, 1)];
  const dataDirectory = await temporaryDirectory();
  const plain = await startedService({dataDirectory});
  const own = (await (await upload(plain, await plain.createKey(), png(7, 7))).json()) as {id: string};
  await plain.close();
  const starts: string[][] = [];
  for (let start = 0; start < 2; start += 1) {
    const service = await startedService({dataDirectory, seed: (await seedOf(...pictures)).seed});
    const key = await service.createKey({label: 'serve'});
    expect((await upload(service, key, png(8, 8))).status).toBe(200);
    expect(await service.reset?.()).toBe(3);
    starts.push(await idsOf(service));
    await service.close();
  }
  expect(starts[0]?.at(-1)).toBe(own.id);
  expect(starts[1]).toEqual(starts[0]);
});
