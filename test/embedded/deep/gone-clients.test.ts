import {once} from 'node:events';
import {readdir, readlink} from 'node:fs/promises';
import {createServer} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {defaultPace, exchangeOf} from '../../../src/embedded/exchange/http-exchange.ts';
import {receiveBody} from '../../../src/embedded/exchange/request-body.ts';
import {systemClock} from '../../../src/host.ts';
import {afterTest} from '../../support/after-test.ts';
import type {RequestEntry, ServiceOptions} from '../../support/embedded-service.ts';
import {endless} from '../../support/endless-mov.ts';
import {eventually} from '../../support/eventually.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';
import {fixture, namesIn, png, query, rawConnection, serviceWithKey, upload, uploadHead} from '../support.ts';

const image = png(6, 4);

/** A service with its log, and a connection on which one upload was sent whole. */
async function uploading(fault: string, options: Partial<ServiceOptions> = {}) {
  const entries: RequestEntry[] = [];
  const started = await serviceWithKey({
    faults: {list: [fault]},
    onRequest: entry => entries.push(entry),
    ...options,
  });
  const connection = await rawConnection(started.service);
  connection.socket.on('error', () => {});
  connection.socket.write(uploadHead(started.service, started.key, {'Content-Length': image.length}));
  connection.socket.write(image);
  await eventually(() => started.service.faults?.counts()[0]?.applied === 1);
  return {...started, ...connection, entries};
}

test.each([
  ['upload:latency=60m,after=body', 'close', 'destroy'],
  ['upload:latency=60m,after=body', 'reset', 'resetAndDestroy'],
  ['upload:latency=60m', 'close', 'destroy'],
  ['upload:latency=60m', 'reset', 'resetAndDestroy'],
] as const)(
  '%s and the %s of a connection: the wait ends, and nothing is stored',
  async (fault, _, leave) => {
    const {service, socket, entries, dataDirectory} = await uploading(fault);
    socket[leave]();
    await eventually(() => entries.length === 1);
    await service.close();
    expect(await service.records()).toEqual([]);
    for (const folder of ['temporary', 'files']) expect(await namesIn(dataDirectory, folder)).toEqual([]);
  },
);

test('a wait of an hour and a client that has closed its side, but still reads: it is served', async () => {
  const {service, socket, text, ended} = await uploading('upload:latency=60m,after=body');
  socket.end();
  await eventually(() => text().split('HTTP/1.1 102 ').length > 3);
  await service.close();
  expect(await ended()).toMatch(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
  expect(await service.records()).toHaveLength(1);
});

test('a wait of an hour and a client that ends its side within the body: refused at once', async () => {
  const {service, key} = await serviceWithKey({faults: {list: ['upload:latency=60m']}});
  const {socket, ended} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Length': image.length + 1}));
  socket.end(image);
  expect(await ended()).toMatch(/^HTTP\/1\.1 400 /);
  expect(await service.records()).toEqual([]);
});

test('silence and the close of a connection: it is given up', async () => {
  const {service, socket, text, ended} = await uploading('upload:silence,after=body');
  socket.end();
  expect(await ended()).toBe('');
  expect(text()).toBe('');
  expect(await service.records()).toEqual([]);
});

test('silence before the body is read: the connection is closed after an hour, even if its end was not seen', async () => {
  const clock = new ManualClock();
  const {service, key} = await serviceWithKey({faults: {list: ['upload:silence']}, clock});
  const {socket, ended} = await rawConnection(service);
  socket.on('error', () => {}).write(uploadHead(service, key, {'Content-Length': 50_000_000}));
  socket.end(Buffer.alloc(50_000_000));
  await eventually(() => service.faults?.counts()[0]?.applied === 1);
  let isOver = false;
  const over = ended()
    .catch(() => '')
    .then(() => {
      isOver = true;
    });
  await clock.advance(3_599_000);
  expect(isOver).toBe(false);
  await clock.advance(1_000);
  await over;
});

test('a reader that goes before its file is sent: in the log, and the service can end', async () => {
  const entries: RequestEntry[] = [];
  const {service, key} = await serviceWithKey({
    faults: {list: ['files:latency=60m']},
    onRequest: entry => entries.push(entry),
  });
  const {id} = (await (await upload(service, key, image)).json()) as {id: string};
  const {socket} = await rawConnection(service);
  socket
    .on('error', () => {})
    .write(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
  await eventually(() => service.faults?.counts()[0]?.applied === 1);
  socket.resetAndDestroy();
  await eventually(() => entries.some(({path}) => path === `/files/${id}`));
  await expect(service.close()).resolves.toBeUndefined();
});

test.runIf(process.platform === 'linux')(
  'two requests at once for a large file, of a reader that goes: it is open once, both are given up, and it is closed',
  async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const {id} = (await (await upload(service, key, Buffer.alloc(32 * 1024 * 1024))).json()) as {id: string};
    const {socket, text} = await rawConnection(service);
    const head = `GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`;
    socket.on('error', () => {}).write(head + head);
    const path = join(dataDirectory, 'files', id);
    const open = async () => {
      const all = await readdir('/proc/self/fd');
      const targets = await Promise.all(all.map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return targets.filter(target => target === path).length;
    };
    await eventually(() => text() !== '');
    socket.pause();
    await eventually(async () => (await open()) === 1);
    socket.resetAndDestroy();
    await expect(service.close()).resolves.toBeUndefined();
    await eventually(async () => (await open()) === 0);
  },
);

test('a slow download and a client that has closed its side: it gets the file and nothing else', async () => {
  const {service, key} = await serviceWithKey({faults: {list: ['files:bandwidth=1K']}});
  const {id} = (await (await upload(service, key, image)).json()) as {id: string};
  const {socket, ended} = await rawConnection(service);
  socket.end(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
  const response = await ended();
  expect(Buffer.from(response.slice(response.indexOf('\r\n\r\n') + 4), 'latin1')).toEqual(image);
});

test('a reset while the file is being read, right before it would be stored: nothing is stored', async () => {
  const entries: RequestEntry[] = [];
  const {service, key, dataDirectory} = await serviceWithKey({
    faults: {list: ['upload:latency=1ms,after=body,nth=1']},
    onRequest: entry => entries.push(entry),
  });
  // Its reader is busy until it is ended.
  const body = endless(await fixture('clip.mov'));
  const {socket} = await rawConnection(service);
  socket.write(uploadHead(service, key, {'Content-Type': 'video/quicktime', 'Content-Length': body.length}));
  socket.write(body);
  await eventually(() => service.faults?.counts()[0]?.applied === 1);
  // The body is received and checked by then, since one process does both.
  for (let round = 0; round < 5; round += 1) await query(service, key, '{__typename}');
  expect(await namesIn(dataDirectory, 'temporary')).toHaveLength(1);
  socket.resetAndDestroy();
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 0);
  await eventually(() => entries.some(({path}) => path === '/v1/media/upload'));
  expect(await service.records()).toEqual([]);
  expect(await namesIn(dataDirectory, 'files')).toEqual([]);
});

test('a body that came whole, and a connection that is destroyed before the body is read: the client is gone', async () => {
  const ended = new Promise<unknown>(resolve => {
    const server = createServer(async (request, response) => {
      request.on('error', () => {});
      // As on a slow disk, while the service stops: the file for the body is there only now.
      await eventually(() => request.complete);
      request.socket.destroy();
      await new Promise(resolve => request.once('close', resolve));
      const conditions = {clock: systemClock, pace: defaultPace, commonHeaders: {}};
      receiveBody(exchangeOf(request, response, conditions), new PassThrough()).then(resolve, resolve);
    });
    server.listen(0, '127.0.0.1', () => {
      const {port} = server.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody');
    });
    afterTest(() => server.close());
  });
  expect(await ended).toMatchObject({
    status: 400,
    message: 'The connection ended before the body was complete.',
  });
});

test('20 clients that ask for a file and read nothing: disconnected; one that reads gets its file', async () => {
  const actions = new Set<() => void>();
  const every = (_ms: number, action: () => void) => {
    actions.add(action);
    return () => void actions.delete(action);
  };
  const entries: RequestEntry[] = [];
  const {service, key} = await serviceWithKey({
    clock: {...systemClock, every},
    onRequest: entry => entries.push(entry),
  });
  // More than the buffers of the system on both sides take.
  const window = 16_000_000;
  const large = Buffer.concat([image, Buffer.alloc(7 * window)]);
  const {fileUrl = ''} = (await (await upload(service, key, large)).json()) as {fileUrl?: string};
  const {pathname, host, hostname, port} = new URL(fileUrl);
  const ask = () => {
    const socket = connect({host: hostname, port: Number(port)}).on('error', () => {});
    afterTest(() => void socket.destroy());
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return socket;
  };
  // Node reads no more than a little while nobody takes it.
  for (let count = 0; count < 20; count += 1) await once(ask(), 'readable');
  let read = 0;
  let windows = 0;
  for await (const chunk of ask()) {
    read += chunk.length;
    if (read < (windows + 1) * window) continue;
    windows += 1;
    // The service fills the buffers again, so that something waits for this client, too.
    for (let turn = 0; turn < 2_000; turn += 1) await settled();
    for (const action of [...actions]) action();
  }
  await eventually(() => entries.filter(({method}) => method === 'GET').length === 21);
  expect(read).toBeGreaterThan(large.length);
  expect(windows).toBe(7);
});

test('a client that leaves in the middle of a download: no error of the service', async () => {
  const errors: unknown[] = [];
  const paths: string[] = [];
  const {service, key} = await serviceWithKey({
    onError: error => errors.push(error),
    onRequest: entry => paths.push(entry.path),
  });
  const response = await upload(service, key, Buffer.alloc(20 * 1024 * 1024));
  const {id} = (await response.json()) as {id: string};
  const {socket, text} = await rawConnection(service);
  socket.write(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
  await eventually(() => text().length > 0);
  socket.resetAndDestroy();
  await eventually(() => paths.includes(`/files/${id}`));
  expect(errors).toEqual([]);
  expect((await fetch(`${service.url}/files/${id}`, {method: 'HEAD'})).status).toBe(200);
});

test.skipIf(process.platform !== 'linux')(
  'clients that ask for 30 MB and read nothing: disconnected, and the file is closed for each',
  async () => {
    const {service, key, dataDirectory} = await serviceWithKey({pace: {windowMs: 500}});
    const response = await upload(service, key, Buffer.concat([png(3, 2), Buffer.alloc(30_000_000)]));
    const {id} = (await response.json()) as {id: string};
    const path = join(dataDirectory, 'files', id);
    const openFiles = async () => {
      const links = (await readdir('/proc/self/fd')).map(fd =>
        readlink(`/proc/self/fd/${fd}`).catch(() => ''),
      );
      return (await Promise.all(links)).filter(target => target === path).length;
    };
    for (let count = 0; count < 30; count += 1) {
      const {socket} = await rawConnection(service);
      socket.pause();
      socket.write(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
    }
    await eventually(async () => (await openFiles()) > 0);
    await eventually(async () => (await openFiles()) === 0);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  },
);
