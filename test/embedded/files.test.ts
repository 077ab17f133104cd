import {createHash} from 'node:crypto';
import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../support/eventually.ts';
import {
  fixture,
  parseAnswer,
  png,
  rawConnection,
  serviceWithKey,
  startedService,
  temporaryDirectory,
  upload,
} from './support.ts';

async function uploaded(bytes: Buffer<ArrayBuffer>, contentType: string) {
  const {service, key, dataDirectory} = await serviceWithKey();
  const response = await upload(service, key, bytes, {'Content-Type': contentType});
  const {id, fileUrl} = (await response.json()) as {id: string; fileUrl: string};
  return {service, key, dataDirectory, id, fileUrl};
}

test('GET: the bytes under their content type, without a key', async () => {
  const bytes = await fixture('photo.jpg');
  const {fileUrl} = await uploaded(bytes, 'image/jpeg');
  const response = await fetch(fileUrl);
  expect(response.status).toBe(200);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/jpeg',
    'content-length': String(bytes.length),
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
  });
});

test('HEAD: the same header, no body', async () => {
  const bytes = png(3, 3);
  const {fileUrl} = await uploaded(bytes, 'image/png');
  const response = await fetch(fileUrl, {method: 'HEAD'});
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  expect(await response.text()).toBe('');
});

test('a script in an SVG, and HTML under an image type: may do nothing in a browser', async () => {
  const html = Buffer.from('<!doctype html><script>alert(1)</script>');
  for (const type of ['image/svg+xml', 'image/png']) {
    const {fileUrl} = await uploaded(html, type);
    const {headers} = await fetch(fileUrl);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    // Opened by itself, an SVG would be a page of this origin.
    expect(headers.get('content-disposition')).toBe(type === 'image/png' ? 'inline' : 'attachment');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(expect.arrayContaining(['sandbox', "default-src 'none'"]));
    expect(policy).not.toContain('script-src');
    expect(policy).not.toContain('allow-scripts');
  }
});

test('ranges: the first bytes, the last bytes, from the middle, and none such', async () => {
  const bytes = await fixture('clip.mp4');
  const {fileUrl} = await uploaded(bytes, 'video/mp4');
  for (const [range, part] of [
    ['bytes=0-9', bytes.subarray(0, 10)],
    ['bytes=-7', bytes.subarray(-7)],
    ['bytes=1000-', bytes.subarray(1000)],
  ] as const) {
    const response = await fetch(fileUrl, {headers: {Range: range}});
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toMatch(new RegExp(`^bytes \\d+-\\d+/${bytes.length}$`));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(part);
  }
  const none = await fetch(fileUrl, {headers: {Range: `bytes=${bytes.length}-`}});
  expect(none.status).toBe(416);
  expect(none.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  expect(none.headers.get('cache-control')).toBe('no-store');
  expect(none.headers.get('content-type')).toBe('application/json');
  expect(await none.json()).toEqual({code: 416, message: expect.any(String)});
});

test('validators: 304 for the same, 200 for another, 412 for a failed precondition', async () => {
  const {service, id, fileUrl} = await uploaded(png(3, 3), 'image/png');
  const etag = (await fetch(fileUrl)).headers.get('etag') ?? '';
  const {host} = new URL(service.url);
  // By hand, because fetch adds Cache-Control: no-cache to a conditional request.
  const answerTo = async (field: string) => {
    const {socket, text} = await rawConnection(service);
    socket.write(`GET /files/${id} HTTP/1.1\r\nHost: ${host}\r\n${field}\r\n\r\n`);
    return eventually(() => text().includes('\r\n\r\n') && text());
  };
  expect(await answerTo(`If-None-Match: ${etag}`)).toMatch(/^HTTP\/1\.1 304 .*\r\n\r\n$/s);
  expect(await answerTo('If-None-Match: "other"')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await answerTo(`If-Match: ${etag}`)).toMatch(/^HTTP\/1\.1 200 /);
  const failed = await fetch(fileUrl, {headers: {'If-Match': '"other"'}});
  expect(failed.status).toBe(412);
  expect(await failed.json()).toEqual({code: 412, message: expect.any(String)});
});

test('an ID that does not exist, or whose bytes are gone: 404', async () => {
  const {service, id, fileUrl, dataDirectory} = await uploaded(png(3, 3), 'image/png');
  const unknown = await fetch(`${service.url}/files/m_${'0'.repeat(29)}`);
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toEqual({code: 404, message: expect.any(String)});
  await rm(join(dataDirectory, 'files', id));
  const gone = await fetch(fileUrl);
  expect(gone.status).toBe(404);
  expect(gone.headers.get('cache-control')).toBe('no-store');
  expect(await gone.json()).toEqual({code: 404, message: expect.any(String)});
});

for (const path of [
  '/files/../keys.json',
  '/files/..%2fkeys.json',
  '/files/%2e%2e%2fkeys.json',
  '/files/..%5ckeys.json',
  '/files/....//keys.json',
  '/files/keys.json',
  '/files/%00',
  '/files/%',
  '/files/.',
  '/files/..',
  '/files/m_x/../../keys.json',
]) {
  test(`GET ${path}: 404`, async () => {
    const {service} = await serviceWithKey();
    const {socket, text} = await rawConnection(service);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
    const answer = await eventually(() => parseAnswer(text()));
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('hash');
  });
}

test('a file in the data directory without a record: 404', async () => {
  const {service, dataDirectory} = await serviceWithKey();
  const name = `m_${'1'.repeat(29)}`;
  await writeFile(join(dataDirectory, 'files', name), 'bytes');
  expect((await fetch(`${service.url}/files/${name}`)).status).toBe(404);
});

test('a data directory whose name needs escaping in URLs and begins with a dot', async () => {
  const dataDirectory = join(await temporaryDirectory(), '.100% data #1');
  const service = await startedService({dataDirectory});
  const bytes = png(2, 2);
  const response = await upload(service, await service.createKey(), bytes);
  const {fileUrl} = (await response.json()) as {fileUrl: string};
  expect(Buffer.from(await (await fetch(fileUrl)).arrayBuffer())).toEqual(bytes);
});
