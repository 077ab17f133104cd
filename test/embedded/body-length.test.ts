import {expect, test} from 'vitest';
import {eventually} from '../support/eventually.ts';
import {namesIn, parseAnswer, png, rawConnection, serviceWithKey, uploadHead} from './support.ts';

const bytes = png(20, 20);
const large = Buffer.alloc(3 * 1024 * 1024, 'media');

async function expectNothingStored(service: {records(): Promise<unknown[]>}, dataDirectory: string) {
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 0);
  expect(await service.records()).toEqual([]);
  expect(await namesIn(dataDirectory, 'files')).toEqual([]);
}

for (const [name, body] of [
  ['a small body', bytes],
  ['a large body', large],
] as const) {
  test(`${name} one byte short, then the client ends its side: 400 and nothing stored`, async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const {socket, ended} = await rawConnection(service);
    socket.write(uploadHead(service, key, {'Content-Length': body.length + 1}));
    socket.end(body);
    const answer = parseAnswer(await ended());
    expect(answer?.status).toBe(400);
    expect(answer?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(answer?.body ?? '')).toEqual({code: 400, message: expect.any(String)});
    await expectNothingStored(service, dataDirectory);
  });

  test(`${name} one byte short, then the client resets the connection: nothing stored`, async () => {
    const entries: {status: number}[] = [];
    const errors: unknown[] = [];
    const {service, key, dataDirectory} = await serviceWithKey({
      onRequest: entry => entries.push(entry),
      onError: error => errors.push(error),
    });
    const {socket} = await rawConnection(service);
    socket.write(uploadHead(service, key, {'Content-Length': body.length + 1}));
    await new Promise(resolve => socket.write(body, resolve));
    await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 1);
    socket.resetAndDestroy();
    await eventually(() => entries.length === 1);
    await expectNothingStored(service, dataDirectory);
    expect(entries[0]?.status).toBe(400);
    expect(errors).toEqual([]);
  });

  for (const surplus of ['x', '\0\0\0\0', '--boundary--\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
    test(`${name} with ${JSON.stringify(surplus)} after it: 400 and nothing stored`, async () => {
      const {service, key, dataDirectory} = await serviceWithKey();
      const {socket, ended} = await rawConnection(service);
      const head = Buffer.from(uploadHead(service, key, {'Content-Length': body.length}));
      socket.write(Buffer.concat([head, body, Buffer.from(surplus)]));
      const answer = parseAnswer(await ended());
      expect(answer?.status).toBe(400);
      expect(JSON.parse(answer?.body ?? '')).toEqual({code: 400, message: expect.stringContaining('longer')});
      await expectNothingStored(service, dataDirectory);
    });
  }
}

test('bytes that come after the body while the service waits: 400 at once and nothing stored', async () => {
  const {service, key, dataDirectory} = await serviceWithKey({
    faults: {list: ['upload:latency=60m,after=body']},
  });
  const {socket, ended} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.write(bytes);
  await eventually(() => service.faults?.counts()[0]?.applied === 1);
  socket.write('x');
  expect(parseAnswer(await ended())?.status).toBe(400);
  await expectNothingStored(service, dataDirectory);
});

test('twenty connections with bytes after the body: twenty times 400', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const statuses = await Promise.all(
    Array.from({length: 20}, async () => {
      const {socket, ended} = await rawConnection(service);
      socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
      socket.write(Buffer.concat([bytes, Buffer.from('surplus')]));
      return parseAnswer(await ended())?.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([400]));
  await expectNothingStored(service, dataDirectory);
});

test('a next request after the body: both get a response', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, ended} = await rawConnection(service);
  const host = new URL(service.url).host;
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.end(Buffer.concat([bytes, Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)]));
  const text = await ended();
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  expect(await service.records()).toHaveLength(1);
});

test('two Content-Length fields, and one beside Transfer-Encoding: 400 and nothing stored', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  for (const extra of [`Content-Length: ${bytes.length + 1}`, 'Transfer-Encoding: chunked']) {
    const {socket, ended} = await rawConnection(service);
    const head = uploadHead(service, key, {'Content-Length': bytes.length});
    socket.write(head.replace('\r\n\r\n', `\r\n${extra}\r\n\r\n`));
    socket.write(bytes);
    expect(parseAnswer(await ended())?.status).toBe(400);
  }
  await expectNothingStored(service, dataDirectory);
});
