import {rename, stat, writeFile} from 'node:fs/promises';
import {Agent, request} from 'node:http';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {RequestEntry} from '../support/embedded-service.ts';
import {startEmbeddedService} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {freePort} from '../support/free-ports.ts';
import {
  namesIn,
  parseAnswer,
  png,
  rawConnection,
  serviceWithKey,
  startedService,
  temporaryDirectory,
  upload,
  uploadHead,
} from './support.ts';

test('a port in use: rejects with EADDRINUSE', async () => {
  const service = await startedService();
  const port = Number(new URL(service.url).port);
  await expect(startEmbeddedService({dataDirectory: await temporaryDirectory(), port})).rejects.toMatchObject(
    {
      code: 'EADDRINUSE',
    },
  );
});

for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.com', '']) {
  test(`host "${host}": rejected, nothing made`, async () => {
    const dataDirectory = join(await temporaryDirectory(), 'data');
    await expect(startEmbeddedService({dataDirectory, host})).rejects.toThrow(
      'beyond this machine, the service needs a key',
    );
    await expect(stat(dataDirectory)).rejects.toThrow('ENOENT');
  });
}

test('host localhost: responds under that name', async () => {
  const service = await startedService({host: 'localhost'});
  expect(service.url).toMatch(/^http:\/\/localhost:\d+$/);
  expect((await fetch(service.url)).status).toBe(200);
});

const fixedKey = 'a-key-of-the-owner-1';

test.runIf(process.platform === 'linux')(
  'another address of this machine: responds at the URL that it names, and at no other',
  async () => {
    const service = await startedService({host: '127.0.0.2', fixedKey});
    expect((await fetch(service.url)).status).toBe(200);
    const {socket, ended} = await rawConnection(service);
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.2:1\r\nConnection: close\r\n\r\n');
    expect(parseAnswer(await ended())?.status).toBe(421);
  },
);

for (const host of ['fe80::1%eth0', '[::1]', 'two words', 'http://127.0.0.1']) {
  test(`host "${host}": rejected, since no URL can have it`, async () => {
    const dataDirectory = await temporaryDirectory();
    await expect(startEmbeddedService({dataDirectory, host, fixedKey})).rejects.toMatchObject({
      name: 'InvalidOption',
      message: `"${host}" cannot be the host of a URL.`,
    });
  });
}

for (const publicUrl of [
  'ftp://example.com',
  'example.com',
  'https://example.com/?q',
  'https://example.com/?',
  'https://me:hunter2@example.com',
]) {
  test(`publicUrl ${publicUrl}: rejected, and not repeated`, async () => {
    await expect(
      startEmbeddedService({dataDirectory: await temporaryDirectory(), publicUrl}),
    ).rejects.toThrow(/^The public URL must be (?!.*hunter2)/);
  });
}

test('a data directory that is a file: rejects with the system error', async () => {
  const dataDirectory = join(await temporaryDirectory(), 'data');
  await writeFile(dataDirectory, '');
  await expect(startEmbeddedService({dataDirectory})).rejects.toMatchObject({code: 'EEXIST'});
});

test('GET /: says what it is', async () => {
  const service = await startedService();
  expect(await (await fetch(service.url)).json()).toEqual({
    service: 'media embedded service',
    upload: '/v1/media/upload',
    graphql: '/graphql',
  });
});

test('close: connections end, the port is free again, and closing twice does no harm', async () => {
  const port = await freePort();
  const service = await startedService({port});
  const idle = await rawConnection(service);
  await Promise.all([service.close(), service.close()]);
  await idle.ended();
  await service.close();
  await expect(fetch(service.url)).rejects.toThrow();
  expect((await startedService({port})).url).toBe(service.url);
});

test('close in the middle of an upload: nothing stays of it', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const {socket} = await rawConnection(service);
  socket.on('error', () => {});
  socket.write(uploadHead(service, key, {'Content-Length': 1000}));
  socket.write(Buffer.alloc(500));
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
  await service.close();
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
  expect(await namesIn(dataDirectory, 'records')).toEqual([]);
});

test('close while uploads are being committed: all that is stored got a response', async () => {
  for (let round = 0; round < 10; round += 1) {
    const {service, key} = await serviceWithKey();
    const answers: number[] = [];
    const uploads = Array.from({length: 8}, async (_, index) => {
      const response = await upload(service, key, png(index + 1, 1));
      if (response.ok) answers.push(((await response.json()) as {width: number}).width);
    });
    await eventually(async () => (await service.records()).length > round % 4);
    await service.close();
    await Promise.allSettled(uploads);
    const stored = (await service.records()).map(({record}) => record.width);
    expect(answers.sort()).toEqual(stored.sort());
  }
});

test('an upload that pauses: goes on and succeeds', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const bytes = png(30, 30);
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.write(bytes.subarray(0, 20));
  await eventually(async () => {
    const [name] = await namesIn(dataDirectory, 'temporary');
    return name !== undefined && (await stat(join(dataDirectory, 'temporary', name))).size === 20;
  });
  socket.write(bytes.subarray(20));
  expect((await eventually(() => parseAnswer(text()))).status).toBe(200);
});

test('keep-alive: many uploads over one connection', async () => {
  const {service, key} = await serviceWithKey();
  const agent = new Agent({keepAlive: true, maxSockets: 1});
  const ports = new Set<number | undefined>();
  for (let width = 1; width <= 10; width += 1) {
    const bytes = png(width, 1);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(`${service.url}/v1/media/upload`, {
        method: 'POST',
        agent,
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'image/png',
          'Content-Length': bytes.length,
        },
      });
      outgoing.on('response', response => {
        ports.add(outgoing.socket?.localPort);
        response.resume().on('end', () => resolve(response.statusCode));
      });
      outgoing.on('error', reject).end(bytes);
    });
    expect(status).toBe(200);
  }
  agent.destroy();
  expect(ports.size).toBe(1);
  expect(await service.records()).toHaveLength(10);
});

test('onRequest: one entry a request, with what went over the connection', async () => {
  const entries: RequestEntry[] = [];
  const {service, key} = await serviceWithKey({onRequest: entry => entries.push(entry)});
  const bytes = png(5, 5);
  const {fileUrl} = (await (await upload(service, key, bytes)).json()) as {fileUrl: string};
  await upload(service, 'mk_unknown', bytes);
  await (await fetch(`${fileUrl}?secret=1`)).arrayBuffer();
  await eventually(() => entries.length === 3);
  const path = new URL(fileUrl).pathname;
  expect(entries.map(({method, path, status, bytes}) => ({method, path, status, bytes}))).toEqual([
    {method: 'POST', path: '/v1/media/upload', status: 200, bytes: bytes.length},
    {method: 'POST', path: '/v1/media/upload', status: 401, bytes: expect.any(Number)},
    {method: 'GET', path, status: 200, bytes: bytes.length},
  ]);
  for (const {elapsedMs} of entries) expect(elapsedMs).toBeGreaterThanOrEqual(0);
});

test('clients that vanish at every stage: no internal error, and the service goes on', async () => {
  const errors: unknown[] = [];
  const {service, key, dataDirectory} = await serviceWithKey({onError: error => errors.push(error)});
  const bytes = png(50, 50);
  const whole = Buffer.concat([
    Buffer.from(uploadHead(service, key, {'Content-Length': bytes.length})),
    bytes,
  ]);
  for (let length = 1; length < whole.length; length += 5) {
    const {socket} = await rawConnection(service);
    socket.on('error', () => {});
    await new Promise(resolve => socket.write(whole.subarray(0, length), resolve));
    if (length % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  expect((await upload(service, key, bytes)).status).toBe(200);
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 0);
  expect(await service.records()).toHaveLength(1);
  expect(errors).toEqual([]);
});

test('a data directory that disappears: 500 and a report, and 200 once it is back', async () => {
  const errors: unknown[] = [];
  const {service, dataDirectory} = await serviceWithKey({onError: error => errors.push(error)});
  const key = await service.createKey({persist: false});
  await rename(join(dataDirectory, 'temporary'), join(dataDirectory, 'elsewhere'));
  const response = await upload(service, key, png(1, 1));
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({code: 500, message: 'Internal error.'});
  expect(errors).toMatchObject([{code: 'ENOENT'}]);
  await rename(join(dataDirectory, 'elsewhere'), join(dataDirectory, 'temporary'));
  expect((await upload(service, key, png(1, 1))).status).toBe(200);
});
