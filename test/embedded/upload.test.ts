import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../support/eventually.ts';
import {
  fixture,
  namesIn,
  parseAnswer,
  png,
  rawConnection,
  serviceWithKey,
  sha256,
  upload,
  uploadHead,
} from './support.ts';

test('a PNG: the response is its media record, and the bytes are stored', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = png(7, 5);
  const response = await upload(service, key, bytes);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  const record = (await response.json()) as {id: string};
  const url = `${service.url}/files/${record.id}`;
  expect(record).toEqual({
    id: expect.stringMatching(/^m_[0-9a-z]{29}$/),
    type: 'IMAGE',
    urls: [{variant: 'PUBLIC', url}],
    width: 7,
    height: 5,
    imageType: 'png',
    fileUrl: url,
    size: bytes.length,
  });
  const [stored, ...others] = await service.records();
  expect(others).toEqual([]);
  expect(stored).toEqual({
    record,
    contentType: 'image/png',
    path: join(dataDirectory, 'files', record.id),
    sha256: sha256(bytes),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
  expect(await readFile(stored?.path ?? '')).toEqual(bytes);
  expect((await stat(stored?.path ?? '')).mode & 0o777).toBe(0o600);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
});

test('an MP4: type VIDEO with duration, without imageType', async () => {
  const {service, key} = await serviceWithKey();
  const bytes = await fixture('clip.mp4');
  const response = await upload(service, key, bytes, {'Content-Type': 'video/mp4'});
  const record = await response.json();
  expect(record).toMatchObject({type: 'VIDEO', width: 320, height: 180, duration: 1, size: bytes.length});
  expect(record).not.toHaveProperty('imageType');
  expect(record).not.toHaveProperty('thumbnailUrl');
  expect(record).not.toHaveProperty('hlsUrl');
});

test('a content type with parameters, in mixed case: what is foreign to media is not stored', async () => {
  const {service, key} = await serviceWithKey();
  const response = await upload(service, key, png(1, 1), {
    'Content-Type': 'Image/SVG+XML; Charset=utf-8; name="a b.png"',
  });
  expect(response.status).toBe(200);
  expect((await service.records())[0]?.contentType).toBe('image/svg+xml; charset=utf-8');
});

test('a given publicUrl: the URLs of records begin with it', async () => {
  const {service, key} = await serviceWithKey({publicUrl: 'https://media.example/base/'});
  const {id, fileUrl} = (await (await upload(service, key, png(1, 1))).json()) as {
    id: string;
    fileUrl: string;
  };
  expect(fileUrl).toBe(`https://media.example/base/files/${id}`);
});

test('three uploads: records() lists them oldest first', async () => {
  const {service, key} = await serviceWithKey();
  const ids: string[] = [];
  for (const width of [1, 2, 3]) {
    ids.push(((await (await upload(service, key, png(width, 1))).json()) as {id: string}).id);
  }
  expect((await service.records()).map(stored => stored.record.id)).toEqual(ids);
});

test('forty uploads at once: forty records', async () => {
  const {service, key} = await serviceWithKey();
  const widths = Array.from({length: 40}, (_, index) => index + 1);
  const records = await Promise.all(
    widths.map(async width => (await upload(service, key, png(width, 1))).json() as Promise<{width: number}>),
  );
  expect(records.map(record => record.width)).toEqual(widths);
  expect(await service.records()).toHaveLength(40);
});

test('a body that is still on its way: its bytes are already on the disk', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = Buffer.alloc(8 * 1024 * 1024, 'media');
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.write(bytes.subarray(0, -1));
  await eventually(async () => {
    const [name] = await namesIn(dataDirectory, 'temporary');
    return (
      name !== undefined && (await stat(join(dataDirectory, 'temporary', name))).size === bytes.length - 1
    );
  });
  expect(await service.records()).toEqual([]);
  socket.write(bytes.subarray(-1));
  const answer = await eventually(() => parseAnswer(text()));
  expect(answer.status).toBe(200);
  expect((await service.records())[0]?.sha256).toBe(sha256(bytes));
});

test('a body sent byte by byte', async () => {
  const {service, key} = await serviceWithKey();
  const bytes = png(3, 3);
  const {socket, text} = await rawConnection(service);
  socket.setNoDelay(true);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  for (const byte of bytes) {
    await new Promise(resolve => socket.write(Buffer.from([byte]), resolve));
  }
  expect((await eventually(() => parseAnswer(text()))).status).toBe(200);
  expect((await service.records())[0]?.sha256).toBe(sha256(bytes));
});

test('a client that ends its side after the body still gets its record', async () => {
  const {service, key} = await serviceWithKey();
  const bytes = png(3, 3);
  const {socket, ended} = await rawConnection(service);
  socket.end(Buffer.concat([Buffer.from(uploadHead(service, key, {'Content-Length': bytes.length})), bytes]));
  expect(parseAnswer(await ended())?.status).toBe(200);
  expect(await service.records()).toHaveLength(1);
});

test('two uploads on one connection', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  const first = png(1, 1);
  socket.write(uploadHead(service, key, {'Content-Length': first.length}));
  socket.write(first);
  const answer = await eventually(() => parseAnswer(text()));
  expect(answer.headers).toMatchObject({connection: 'keep-alive'});
  const seen = text().length;
  const second = png(2, 2);
  socket.write(uploadHead(service, key, {'Content-Length': second.length}));
  socket.write(second);
  expect((await eventually(() => parseAnswer(text().slice(seen)))).status).toBe(200);
  expect(await service.records()).toHaveLength(2);
});
