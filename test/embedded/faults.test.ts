import {describe, expect, test} from 'vitest';
import type {EmbeddedService, RequestEntry} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {ManualClock} from '../support/manual-clock.ts';
import {seededRandom} from '../support/seeded.ts';
import {
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

/** A service with these faults, and all that its log says. */
async function faultyService(...list: string[]) {
  const entries: RequestEntry[] = [];
  const started = await serviceWithKey({faults: {list}, onRequest: entry => entries.push(entry)});
  return {...started, entries};
}

/** What an upload comes to: the status, or `lost` for a connection without a whole response. */
async function outcome(service: EmbeddedService, key: string, headers: Record<string, string> = {}) {
  try {
    const response = await upload(service, key, image, headers);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 'lost';
  }
}

async function outcomes(service: EmbeddedService, key: string, count: number) {
  const all: (number | string)[] = [];
  for (let index = 0; index < count; index += 1) all.push(await outcome(service, key));
  return all;
}

describe('one fault', () => {
  test.each([
    ['upload:status=503', 503, 0],
    ['upload:status=503,after=body', 503, 0],
    ['upload:status=503,after=store', 503, 1],
    ['any:status=429,retry-after=7', 429, 0],
    ['upload:reset', 'lost', 0],
    ['upload:reset,after=body', 'lost', 0],
    ['upload:reset,after=store', 'lost', 1],
    ['upload:cut', 'lost', 1],
    ['upload:latency=1ms..2ms', 200, 1],
    ['upload:bandwidth=1M', 200, 1],
    ['upload:wrong=size', 200, 1],
  ] as const)('%s: %s, and %i stored; the log names it', async (fault, expected, stored) => {
    const {service, key, entries} = await faultyService(fault);
    expect(await outcome(service, key)).toBe(expected);
    expect(await service.records()).toHaveLength(stored);
    const [entry] = await eventually(() => (entries.length > 0 ? entries : undefined));
    expect(entry?.faults).toEqual([fault]);
    expect(service.faults?.counts()).toEqual([{fault, matched: 1, applied: 1}]);
  });

  test.each(['head', 'body', 'store'])(
    'upload:silence,after=%s: no response, and the service can end',
    async stage => {
      const {service, key, entries} = await faultyService(`upload:silence,after=${stage}`);
      const connection = await rawConnection(service);
      connection.socket.write(uploadHead(service, key, {'Content-Length': image.length}));
      connection.socket.write(image);
      const [entry] = await eventually(() => (entries.length > 0 ? entries : undefined));
      expect(entry).toMatchObject({status: 0, faults: [`upload:silence,after=${stage}`]});
      expect(await service.records()).toHaveLength(stage === 'store' ? 1 : 0);
      await service.close();
      expect(connection.text()).toBe('');
    },
  );

  test('status with a record and Retry-After: an error record', async () => {
    const {service, key} = await faultyService('upload:status=503,retry-after=7');
    const response = await upload(service, key, image);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toEqual({code: 503, message: expect.any(String)});
  });

  test('record=no: HTML, as a gateway has it', async () => {
    const {service, key} = await faultyService('upload:status=502,record=no,retry-after=7');
    const response = await upload(service, key, image);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toMatch(/^<!doctype html>/);
  });

  test.each([
    ['size', image.length + 1],
    ['id', 'wrong'],
    ['thumbnailUrl', 'wrong'],
  ])('wrong=%s: %s in an otherwise correct record', async (field, value) => {
    const {service, key} = await faultyService(`upload:wrong=${field}`);
    const record = await (await upload(service, key, image)).json();
    const [stored] = await service.records();
    expect(record).toEqual({...stored?.record, [field]: value});
  });

  test('cut: half of what Content-Length declares', async () => {
    const {service, key} = await faultyService('upload:cut');
    const {socket, text, ended} = await rawConnection(service);
    socket.write(uploadHead(service, key, {'Content-Length': image.length}));
    socket.write(image);
    await ended().catch(() => {});
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    expect(text()).toContain('{"id":"m_');
    expect(parseAnswer(text())).toBeUndefined();
  });

  test('bandwidth: no response before the time that the bytes take', async () => {
    const {service, key} = await faultyService('upload:bandwidth=4K');
    const bytes = Buffer.concat([image, Buffer.alloc(2048)]);
    const start = performance.now();
    expect((await upload(service, key, bytes)).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(450);
  });

  test('bandwidth of a small file: its head at once, none of its bytes before their time', async () => {
    const clock = new ManualClock();
    const {service: usual, key, dataDirectory} = await serviceWithKey();
    const bytes = Buffer.concat([image, Buffer.alloc(3 * 4096 - image.length)]);
    const {id} = (await (await upload(usual, key, bytes)).json()) as {id: string};
    const service = await startedService({dataDirectory, clock, faults: {list: ['files:bandwidth=4K']}});
    const {socket, text} = await rawConnection(service);
    socket.write(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
    const received = () => text().length - text().indexOf('\r\n\r\n') - 4;
    await eventually(() => service.faults?.counts()[0]?.applied === 1);
    for (const pieces of [0, 1, 2, 3]) {
      await eventually(() => text().includes('\r\n\r\n') && received() === pieces * 4096);
      await clock.advance(1_000);
    }
    expect(received()).toBe(bytes.length);
  });

  test('instead-of=403: a 404 for what lacks a key, nothing else', async () => {
    const {service, key} = await faultyService('any:status=404,instead-of=403');
    const statusOf = async (token: string) => outcome(service, key, {Authorization: token});
    expect(await statusOf('')).toBe(404);
    expect(await statusOf('Bearer mk_unknown')).toBe(401);
    expect(await outcome(service, key)).toBe(200);
  });

  test('two with instead-of=403: each counts every 403, also one that the other takes', async () => {
    const {service, key} = await faultyService(
      'any:status=404,instead-of=403,nth=1',
      'any:status=410,instead-of=403,nth=2',
    );
    const statusOf = () => outcome(service, key, {Authorization: ''});
    expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([404, 410, 403]);
  });
});

describe('which requests', () => {
  test('nth=2, nth=3-4, nth=6-: counted from 1', async () => {
    const {service, key} = await faultyService(
      'upload:status=500,nth=2',
      'upload:status=501,nth=3-4',
      'upload:status=502,nth=6-',
    );
    expect(await outcomes(service, key, 7)).toEqual([200, 500, 501, 501, 200, 502, 502]);
  });

  test('graphql, after=store: the mutation is carried out, as an upload is stored', async () => {
    const {service, key} = await faultyService('graphql:status=500,after=store,nth=1');
    const rename = 'mutation {updateProfile(name: "Ada") {name}}';
    expect(await query(service, key, rename)).toMatchObject({code: 500});
    expect(await query(service, key, '{viewer {name}}')).toEqual({data: {viewer: {name: 'Ada'}}});
  });

  test('graphql and files: not an upload', async () => {
    const {service, key} = await faultyService('graphql:status=500,after=body', 'files:cut');
    expect(await outcome(service, key)).toBe(200);
    expect(await query(service, key, '{viewer {id}}')).toEqual({code: 500, message: expect.any(String)});
    const [stored] = await service.records();
    const file = await fetch(stored?.record.fileUrl ?? '');
    expect(file.status).toBe(200);
    await expect(file.arrayBuffer()).rejects.toThrow();
  });

  test('rate=0.3: the same requests for the same seed, others for another', async () => {
    const {service, key} = await faultyService();
    const run = async (seed: number) => {
      const faults = ['upload:status=503,rate=0.3', 'upload:latency=0ms~1,rate=0.5'];
      service.faults?.replace(faults.map(fault => `${fault},seed=${seed}`));
      return (await outcomes(service, key, 40)).join(' ');
    };
    const first = await run(1);
    expect(await run(1)).toBe(first);
    expect(await run(2)).not.toBe(first);
    const share = first.split('503').length - 1;
    expect(share).toBeGreaterThan(4);
    expect(share).toBeLessThan(24);
  });
});

test('rate and a random latency: which requests it is, is drawn before how long they take', async () => {
  const {service, key} = await faultyService('upload:status=503,latency=0ms..1ms,rate=0.5,seed=3');
  const random = seededRandom(3);
  const expected = Array.from({length: 12}, () => {
    const share = random();
    random();
    return share < 0.5 ? 503 : 200;
  });
  expect(await outcomes(service, key, 12)).toEqual(expected);
  expect(new Set(expected).size).toBe(2);
});

test('a latency of an hour, and the service ends: the upload is stored, with a response', async () => {
  const {service, key, entries} = await faultyService('upload:latency=60m,after=body');
  const answered = upload(service, key, image);
  await eventually(() => service.faults?.counts()[0]?.applied === 1);
  await service.close();
  expect((await answered).status).toBe(200);
  await eventually(() => entries.length === 1);
});

test.each([
  ['uploads:reset', 'it must begin with "upload:", "graphql:"'],
  ['upload', 'it must begin with'],
  ['upload:', '"" is not one of nth'],
  ['upload:rate=0.5', 'it needs one of status, latency, bandwidth, wrong, reset, silence, cut'],
  ['upload:status=200', 'status must be an HTTP status from 400 to 599'],
  ['upload:status=503,after=never', 'after must be head, body, store'],
  ['upload:reset,rate=2', 'rate must be a share of the requests, such as 0.1'],
  ['upload:reset,seed=x', 'seed must be a whole number'],
  ['upload:reset,nth=0', 'nth must be the number of a request'],
  ['upload:reset,nth=3-2', 'nth must be the number of a request'],
  ['upload:latency=5', 'latency must be a time'],
  ['upload:latency=2s..1s', 'latency must be a time'],
  ['upload:bandwidth=0', 'bandwidth must be bytes per second'],
  ['upload:reset,retry-after=1', 'retry-after needs status'],
  ['upload:reset,silence', 'reset and silence exclude each other'],
  ['upload:status=503,wrong=id', 'status and wrong exclude each other'],
  ['upload:status=404,instead-of=403,after=body', 'instead-of and after exclude each other'],
  ['upload:reset,name=*.png', '"name=*.png" is not one of nth'],
  ['upload:constructor', '"constructor" is not one of'],
])('%j: not a fault, with the reason', async (fault, reason) => {
  const {service} = await faultyService('upload:reset');
  expect(() => service.faults?.replace([fault])).toThrow(`The fault "${fault}" cannot be used: ${reason}`);
  expect(service.faults?.counts()).toHaveLength(1);
});
