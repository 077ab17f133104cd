import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {constants} from 'node:os';
import {join} from 'node:path';
import {getSystemErrorName} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {refusalOf} from '../../src/embedded/exchange/refusal.ts';
import type {EmbeddedService} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {
  parseAnswer,
  png,
  type RawAnswer,
  rawConnection,
  serviceWithKey,
  startedService,
  upload,
} from './support.ts';

function expectErrorRecord(answer: RawAnswer, status: number): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['accept-idempotency-key']).toBe('?1');
  expect(answer.headers['media-service-id']).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.parse(answer.body)).toEqual({code: status, message: expect.stringMatching(/\S/)});
}

async function answerTo(service: EmbeddedService, request: string): Promise<RawAnswer> {
  const {socket, text} = await rawConnection(service);
  socket.write(request, 'latin1');
  return eventually(() => parseAnswer(text()));
}

for (const path of [
  '/nowhere',
  '/v1/media/upload/',
  '/V1/media/upload',
  '/v1/media',
  '/files',
  '/files/',
  '/graphql/x',
  '//',
]) {
  test(`GET ${path}: 404`, async () => {
    const {service} = await serviceWithKey();
    const host = new URL(service.url).host;
    expectErrorRecord(await answerTo(service, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), 404);
  });
}

for (const [method, path, allowed] of [
  ['GET', '/v1/media/upload', 'POST'],
  ['PUT', '/v1/media/upload', 'POST'],
  ['OPTIONS', '/v1/media/upload', 'POST'],
  ['PATCH', '/graphql', 'GET, POST'],
  ['DELETE', '/files/m_00000000000000000000000000000', 'GET, HEAD'],
  ['POST', '/', 'GET, HEAD'],
] as const) {
  test(`${method} ${path}: 405 with Allow`, async () => {
    const {service} = await serviceWithKey();
    const host = new URL(service.url).host;
    const answer = await answerTo(service, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expectErrorRecord(answer, 405);
    expect(answer.headers.allow).toBe(allowed);
  });
}

test('OPTIONS *: 404', async () => {
  const {service} = await serviceWithKey();
  const host = new URL(service.url).host;
  expectErrorRecord(await answerTo(service, `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`), 404);
});

test('CONNECT, alone and behind a request whose response is not complete: the connection is closed', async () => {
  const {service} = await serviceWithKey();
  const {host} = new URL(service.url);
  for (const before of ['', `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`]) {
    const {socket} = await rawConnection(service);
    socket.on('error', () => {});
    socket.write(`${before}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n`);
    await once(socket.resume(), 'end');
  }
  expect((await fetch(service.url)).status).toBe(200);
});

test('clients that reset their CONNECT: the service goes on', async () => {
  const {service} = await serviceWithKey();
  for (let count = 0; count < 20; count += 1) {
    const {socket} = await rawConnection(service);
    socket.on('error', () => {});
    await new Promise(resolve => socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\nmore', resolve));
    socket.resetAndDestroy();
  }
  expect((await fetch(service.url)).status).toBe(200);
});

test('a query is no part of the path', async () => {
  const {service} = await serviceWithKey();
  expect((await fetch(`${service.url}/?x=/nowhere`)).status).toBe(200);
});

for (const host of [
  'example.com',
  'localhost',
  '127.0.0.1:1',
  '127.0.0.2:PORT',
  'localhost.example.com:PORT',
  '127.0.0.1:PORT@example.com',
  '0.0.0.0:PORT',
  '',
]) {
  test(`Host: ${host || '(empty)'}: 421`, async () => {
    const {service} = await serviceWithKey();
    const field = host.replace('PORT', new URL(service.url).port);
    expectErrorRecord(await answerTo(service, `GET / HTTP/1.1\r\nHost: ${field}\r\n\r\n`), 421);
  });
}

for (const host of ['localhost', 'LocalHost', '127.0.0.1', '[::1]']) {
  test(`Host: ${host} and the right port: accepted`, async () => {
    const {service} = await serviceWithKey();
    const field = `${host}:${new URL(service.url).port}`;
    expect((await answerTo(service, `GET / HTTP/1.1\r\nHost: ${field}\r\n\r\n`)).status).toBe(200);
  });
}

test('no Host, or two: 400', async () => {
  const {service} = await serviceWithKey();
  const host = new URL(service.url).host;
  expectErrorRecord(await answerTo(service, 'GET / HTTP/1.1\r\n\r\n'), 400);
  expectErrorRecord(await answerTo(service, `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`), 400);
});

test('a target in absolute form: its authority counts, not Host', async () => {
  const {service} = await serviceWithKey();
  const host = new URL(service.url).host;
  const good = await answerTo(service, `GET http://${host}/?q HTTP/1.1\r\nHost: example.com\r\n\r\n`);
  expect(good.status).toBe(200);
  const bad = await answerTo(service, `GET http://example.com/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expectErrorRecord(bad, 421);
});

for (const [name, text, status] of [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a TLS greeting', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 400],
  ['an unknown method', 'FETCH / HTTP/1.1\r\n\r\n', 400],
  ['a header line without a colon', 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n', 400],
  ['a negative Content-Length', 'POST /v1/media/upload HTTP/1.1\r\nContent-Length: -1\r\n\r\n', 400],
  ['20 KB of header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
] as const) {
  test(`${name}: ${status}, then the connection ends`, async () => {
    const {service} = await serviceWithKey();
    const {socket, ended} = await rawConnection(service);
    socket.write(text, 'latin1');
    const answer = parseAnswer(await ended());
    if (answer === undefined) throw new Error('no answer');
    expectErrorRecord(answer, status);
    expect(answer.headers.connection).toBe('close');
  });
}

test('a request head that breaks off: 400', async () => {
  const {service} = await serviceWithKey();
  const {socket, ended} = await rawConnection(service);
  socket.end('GET / HTTP/1.1\r\nHos');
  const answer = parseAnswer(await ended());
  if (answer === undefined) throw new Error('no answer');
  expectErrorRecord(answer, 400);
});

test('a good request, then garbage on the same connection: a response, then the end', async () => {
  const {service} = await serviceWithKey();
  const host = new URL(service.url).host;
  const {socket, text, ended} = await rawConnection(service);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await eventually(() => parseAnswer(text()));
  const seen = text().length;
  socket.write('garbage\r\n\r\n');
  const answer = parseAnswer((await ended()).slice(seen));
  expect(answer?.status).toBe(400);
});

test('a dozen requests and then garbage, all at once: one response, and no warning of too many listeners', async () => {
  const {service} = await serviceWithKey();
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const {socket, ended} = await rawConnection(service);
  const request = `GET /nowhere HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`;
  socket.write(`${request.repeat(12)}NONSENSE\r\n\r\n`);
  expect((await ended()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  expect(warnings).toEqual([]);
});

test('a damaged record file: 500, the cause is told to the service and not to the client', async () => {
  const errors: unknown[] = [];
  const {service, key, dataDirectory} = await serviceWithKey({onError: error => errors.push(error)});
  const {id} = (await (await upload(service, key, png(1, 1))).json()) as {id: string};
  await writeFile(join(dataDirectory, 'records', `${id}.json`), '{');
  const response = await fetch(`${service.url}/files/${id}`);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({code: 500, message: 'Internal error.'});
  expect(errors).toEqual([expect.objectContaining({name: 'DamagedFile'})]);
});

test('a HEAD that fails: the status without a body', async () => {
  const service = await startedService();
  const response = await fetch(`${service.url}/nowhere`, {method: 'HEAD'});
  expect(response.status).toBe(404);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
  expect(await response.text()).toBe('');
});

for (const [code, status] of [
  ['ENOSPC', 507],
  ['EDQUOT', 507],
  ['EACCES', undefined],
  ['EIO', undefined],
] as const) {
  test(`the system error ${code}: ${status ?? 'an internal error'}`, () => {
    // Node has no name for a full quota.
    const errno = -constants.errno[code];
    const name = getSystemErrorName(errno);
    expect(refusalOf(Object.assign(new Error(name), {code: name, errno}))?.status).toBe(status);
  });
}
