import {rm, truncate} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {idempotent, idOf, onlyId} from '../idempotent.ts';
import {
  fixture,
  namesIn,
  png,
  rawConnection,
  serviceWithKey,
  startedService,
  upload,
  uploadHead,
} from '../support.ts';

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
