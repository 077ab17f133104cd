import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parseContentLength, readContentType} from '../../src/embedded/api/upload-route.ts';
import type {ServiceOptions} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {ManualClock} from '../support/manual-clock.ts';
import {namesIn, parseAnswer, png, rawConnection, serviceWithKey, upload, uploadHead} from './support.ts';

for (const type of [
  'text/plain',
  'application/octet-stream',
  'application/json',
  'audio/mpeg',
  'multipart/form-data; boundary=x',
  'image',
  'image/',
  'image/*',
  'video/*; q=1',
  'images/png',
  'x-image/png',
  'image/png, text/html',
  'image/png;a=b, text/html',
  'image/png;codecs=avc1 text/html',
  'image/png;a="b',
  'image/png;a',
]) {
  test(`Content-Type ${type}: 415 and nothing stored`, async () => {
    const {service, key} = await serviceWithKey();
    const response = await upload(service, key, png(1, 1), {'Content-Type': type});
    expect(response.status).toBe(415);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({code: 415, message: expect.any(String)});
    expect(await service.records()).toEqual([]);
  });
}

test('no Content-Type: 415', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  const head = uploadHead(service, key, {'Content-Length': 5}).replace(/Content-Type: [^\r]*\r\n/, '');
  socket.write(`${head}hello`);
  expect((await eventually(() => parseAnswer(text()))).status).toBe(415);
});

test('content types that are accepted', () => {
  const accepted = [
    'image/svg+xml',
    'video/vnd.dlna.mpeg-tts',
    'Video/MP4;Codecs="avc1.4d002a, mp4a.40.2";; a="text/html;" ',
  ];
  expect(accepted.map(readContentType)).toEqual([
    'image/svg+xml',
    'video/vnd.dlna.mpeg-tts',
    'video/mp4; codecs="avc1.4d002a, mp4a.40.2"',
  ]);
});

test('content lengths beyond what can be counted: refused', () => {
  expect(parseContentLength('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => parseContentLength('9007199254740993')).toThrow('not a length');
});

test('a chunked body: 411', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  socket.write(`${uploadHead(service, key, {'Transfer-Encoding': 'chunked'})}5\r\nhello\r\n0\r\n\r\n`);
  const answer = await eventually(() => parseAnswer(text()));
  expect(answer.status).toBe(411);
  expect(JSON.parse(answer.body)).toEqual({code: 411, message: expect.any(String)});
  expect(await service.records()).toEqual([]);
});

test('neither Content-Length nor a body: 411', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {}));
  expect((await eventually(() => parseAnswer(text()))).status).toBe(411);
});

test('Content-Length 0: 400, and the connection stays of use', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': 0}));
  expect((await eventually(() => parseAnswer(text()))).status).toBe(400);
  const seen = text().length;
  const bytes = png(1, 1);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.write(bytes);
  expect((await eventually(() => parseAnswer(text().slice(seen)))).status).toBe(200);
});

test('a body larger than the disk: 507 before it is sent', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const {socket, ended} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': 2 ** 52}));
  const answer = parseAnswer(await ended());
  expect(answer?.status).toBe(507);
  expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
});

// A client such as Python's http.client reads nothing before it has written everything.
for (const [name, status, fields] of [
  ['an unknown key', 401, {Authorization: 'Bearer mk_unknown'}],
  ['a refused type', 415, {'Content-Type': 'text/plain'}],
] as const) {
  test(`${name} and 64 MiB that the client writes before it reads: the ${status} arrives`, async () => {
    // Who is refused may stay for 30 s, which a busy machine may need for what takes less than one.
    const {service, key} = await serviceWithKey({clock: new ManualClock()});
    const body = Buffer.alloc(64 * 1024 * 1024);
    for (let round = 0; round < 2; round += 1) {
      const {socket, ended} = await rawConnection(service);
      socket.pause();
      socket.write(uploadHead(service, key, {...fields, 'Content-Length': body.length}));
      await new Promise<void>((resolve, reject) => {
        socket.write(body, error => (error ? reject(error) : resolve()));
      });
      socket.resume();
      const answer = parseAnswer(await ended());
      expect(answer?.status).toBe(status);
      expect(answer?.headers).toMatchObject({connection: 'close', 'accept-idempotency-key': '?1'});
    }
    expect(await service.records()).toEqual([]);
  });
}

test('requests after an early response on the same connection: not carried out', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, ended} = await rawConnection(service);
  const bytes = png(1, 1);
  const refused = Buffer.alloc(1024 * 1024);
  socket.write(uploadHead(service, key, {'Content-Type': 'text/plain', 'Content-Length': refused.length}));
  await ended();
  socket.write(refused);
  socket.write(uploadHead(service, key, {'Content-Length': bytes.length}));
  socket.end(bytes);
  await eventually(() => socket.closed);
  expect(await service.records()).toEqual([]);
});

/** A service with a clock of the test, and an upload of which so many bytes have come. */
async function sendingSlowly(bytes: number, options: Partial<ServiceOptions> = {}) {
  const clock = new ManualClock();
  const {service, key, dataDirectory} = await serviceWithKey({clock, ...options});
  const {socket, text} = await rawConnection(service);
  let sent = 0;
  const send = async (count: number) => {
    socket.write(Buffer.alloc(count));
    sent += count;
    await eventually(async () => {
      const [name = ''] = await namesIn(dataDirectory, 'temporary');
      return (await stat(join(dataDirectory, 'temporary', name))).size === sent;
    });
  };
  socket.write(uploadHead(service, key, {'Content-Length': 20_000}));
  await send(bytes);
  const passMinute = async () => {
    await clock.advance(60_000);
    expect((await fetch(service.url)).status).toBe(200);
  };
  const answer = () => eventually(() => parseAnswer(text()));
  return {text, send, passMinute, answer};
}

test('a body of 6,000 bytes in a minute: goes on; of one less in the next: 408', async () => {
  const {text, send, passMinute, answer} = await sendingSlowly(6_000);
  await passMinute();
  expect(text()).toBe('');
  await send(5_999);
  await passMinute();
  expect(JSON.parse((await answer()).body)).toEqual({
    code: 408,
    message: 'The body came too slowly: less than 100 bytes a second for 60 s.',
  });
});

test('a body that waits for a slow disk: not too slow until all of it is written', async () => {
  const {text, passMinute, answer} = await sendingSlowly(100, {faults: {list: ['upload:bandwidth=1']}});
  await passMinute();
  expect(text()).toBe('');
  await passMinute();
  expect((await answer()).status).toBe(408);
});

/** A connection whose upload was refused at once, and whose client could send on for ever. */
async function refusedAtOnce(clock = new ManualClock()) {
  const {service} = await serviceWithKey({clock});
  const {socket, ended} = await rawConnection(service);
  socket.on('error', () => {});
  socket.write(uploadHead(service, 'mk_unknown', {'Content-Length': 2 ** 40}));
  expect(parseAnswer(await ended())?.status).toBe(401);
  return {service, socket};
}

test('a refused client that sends on: cut off after 30 s', async () => {
  const clock = new ManualClock();
  const {service, socket} = await refusedAtOnce(clock);
  await clock.advance(29_999);
  expect((await fetch(service.url)).status).toBe(200);
  socket.write('x');
  expect(socket.destroyed).toBe(false);
  await clock.advance(1);
  await eventually(() => {
    socket.write('x');
    return socket.destroyed;
  });
});
