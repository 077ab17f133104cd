import {createServer as createHttpServer, type RequestListener, type ServerResponse} from 'node:http';
import {createServer as createHttpsServer} from 'node:https';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {MediaError} from '../../src/errors.ts';
import {nextTurn, systemClock} from '../../src/host.ts';
import {Secret} from '../../src/lib/secrets/secret.ts';
import {Stop} from '../../src/lib/stop.ts';
import {ServiceClient} from '../../src/service/client.ts';
import {eventually} from '../support/eventually.ts';
import {temporaryDirectory} from '../support/media.ts';
import {running} from '../support/running.ts';
import {someRecord} from '../support/scripted-server.ts';
import {loopbackNames, makeCertificate} from '../support/tls.ts';
import {sandboxFor} from './program.ts';
import {answerText, clientOf, listen, memorySource, portOf, uploadEach, urlOf, writePng} from './support.ts';

/** Listens, and records the connections of a server for the current test. */
async function watched<Kind extends Server>(server: Kind) {
  const all: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    all.push(socket.on('error', () => {}));
  });
  await listen(server);
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
    server.close();
  });
  return {
    url: urlOf(server),
    port: portOf(server),
    connections: () => all.length,
    open: () => all.filter(({destroyed}) => !destroyed).length,
  };
}

/** A service that holds its responses until `release`, but those to the first `early` requests. */
async function holding(early = 0) {
  const held: ServerResponse[] = [];
  let [requests, isReleased] = [0, false];
  const server = createHttpServer((request, response) => {
    requests += 1;
    const isEarly = requests <= early;
    request.resume().on('end', () => {
      if (isEarly || isReleased) response.end(someRecord);
      else held.push(response);
    });
  });
  const release = (status = 200) => {
    isReleased = true;
    for (const response of held) response.writeHead(status).end(someRecord);
  };
  return {...(await watched(server)), requests: () => requests, release};
}

/** A proxy that takes 100 ms to open a tunnel to the service at `port`, or does what `reply` says. */
async function slowProxy(
  port: number,
  reply = (_socket: Socket, _number: number, tunnel: () => void) => tunnel(),
) {
  let number = 0;
  const server = createServer(socket => {
    socket.once('data', () => {
      number += 1;
      reply(socket, number, () => {
        const service = connect(port, '127.0.0.1').on('error', () => socket.destroy());
        onTestFinished(() => {
          service.destroy();
        });
        setTimeout(() => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          service.pipe(socket).pipe(service);
        }, 100);
      });
    });
  });
  const proxy = await watched(server);
  return {...proxy, env: {HTTP_PROXY: proxy.url}, base: 'http://media.invalid'};
}

function upload(client: ServiceClient, signal = new AbortController().signal) {
  const content = Buffer.from('bytes');
  const body = {length: content.length, content};
  return client.upload({contentType: 'image/png', idempotencyKey: crypto.randomUUID(), body, signal});
}

describe('connections opened ahead', () => {
  test.each(['http', 'https'])('three over %s, then three uploads: over these', async scheme => {
    let requests = 0;
    const {certificate: cert, key} = await makeCertificate(loopbackNames);
    const respond: RequestListener = (request, response) => {
      requests += 1;
      request.resume().on('end', () => response.end(someRecord));
    };
    const service = await watched(
      scheme === 'http' ? createHttpServer(respond) : createHttpsServer({cert, key}, respond),
    );
    const baseUrl = new URL(`${scheme}://127.0.0.1:${service.port}`);
    const options = {clock: systemClock, env: {}, userAgent: 'media/test', certificateAuthorities: cert};
    // On a machine that pauses for a second they are closed before.
    await eventually(async () => {
      const before = {connections: service.connections(), requests};
      const client = new ServiceClient({baseUrl}, new Secret('key-of-the-test'), options);
      client.openAhead(2);
      client.openAhead(3);
      await eventually(() => service.connections() === before.connections + 3);
      expect(requests).toBe(before.requests);
      const answers = await Promise.all([upload(client), upload(client), upload(client)]);
      expect(answers.map(({kind}) => kind)).toEqual(['stored', 'stored', 'stored']);
      await client.close();
      return service.connections() === before.connections + 3;
    });
    await eventually(() => service.open() === 0);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes', socket => socket.end()],
    ['resets', socket => socket.resetAndDestroy()],
    ['answers unasked, with 408,', socket => socket.write(answerText(408, ''))],
  ])('two that the service %s: the upload goes over a third, no more are opened ahead', async (_, end) => {
    const server = createHttpServer((request, response) => {
      request.resume().on('end', () => response.end(someRecord));
    });
    const service = await watched(server);
    server.on('connection', (socket: Socket) => {
      if (service.connections() <= 2) end(socket);
    });
    const client = clientOf(service.url);
    client.openAhead(2);
    await eventually(() => service.connections() === 2 && service.open() === 0);
    expect(await upload(client)).toMatchObject({kind: 'stored'});
    client.openAhead(9);
    expect(await upload(client)).toMatchObject({kind: 'stored'});
    expect(service.connections()).toBe(3);
  });

  test('an upload that takes one while it is opened, which fails: it opens another', async () => {
    const service = await holding();
    service.release();
    let refuse = () => {};
    const proxy = await slowProxy(service.port, (socket, number, tunnel) => {
      if (number > 1) tunnel();
      else refuse = () => socket.end('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n');
    });
    const client = clientOf(proxy.base, undefined, proxy.env);
    client.openAhead(1);
    await eventually(() => proxy.connections() === 1);
    const answer = upload(client);
    // Until it waits.
    await nextTurn();
    await nextTurn();
    await eventually(() => {
      refuse();
      return service.requests() === 1;
    });
    expect(await answer).toMatchObject({kind: 'stored'});
    expect(proxy.connections()).toBe(2);
  });

  test('an upload that is aborted while it waits for one: its reason, and the connection is closed', async () => {
    const proxy = await slowProxy(0, () => {});
    const client = clientOf(proxy.base, undefined, proxy.env);
    client.openAhead(1);
    await eventually(() => proxy.connections() === 1);
    const abort = new AbortController();
    const answer = upload(client, abort.signal);
    const reason = new Error('stop');
    // Until it waits.
    await nextTurn();
    await nextTurn();
    abort.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await eventually(() => proxy.open() === 0);
  });

  test('two that are not open yet when the client is closed: both are closed', async () => {
    const proxy = await slowProxy(0, () => {});
    const client = clientOf(proxy.base, undefined, proxy.env);
    client.openAhead(2);
    await eventually(() => proxy.connections() === 2);
    await client.close();
    await eventually(() => proxy.open() === 0);
  });

  test('one that nothing is sent over: it is closed', async () => {
    const service = await holding();
    clientOf(service.url).openAhead(1);
    await eventually(() => service.connections() === 1 && service.open() === 0);
  });
});

describe('-c auto where connections take long to open', () => {
  // With the first response there is no silence, in which the limit would rise.
  test.each([
    [70, 64],
    [20, 20],
  ])('%i files: %i connections are opened while 16 are sent', async (files, connections) => {
    const service = await holding(1);
    let requests = 0;
    const proxy = await slowProxy(service.port, (_socket, number, tunnel) => {
      if (number === connections) requests = service.requests();
      tunnel();
    });
    const client = clientOf(proxy.base, undefined, proxy.env);
    const sources = Array.from({length: files}, (_, index) =>
      memorySource(`${index}`, Buffer.from(`${index}`)),
    );
    const options = {concurrency: {most: 128}, retries: 5, several: true, stop: new Stop<MediaError>()};
    const outcomes = uploadEach(sources, client, options);
    await eventually(() => proxy.connections() === connections);
    expect(requests).toBeLessThanOrEqual(17);
    service.release();
    expect((await outcomes).map(({status, attempts}) => `${status} ${attempts}`)).toEqual(
      sources.map(() => 'uploaded 1'),
    );
    expect(service.requests()).toBe(files);
    await client.close();
    await eventually(() => proxy.open() === 0);
  });

  test('401 to all but the first, with a journal: no file that waits is sent', async () => {
    const service = await holding(1);
    const proxy = await slowProxy(service.port);
    const box = await sandboxFor(proxy.base, proxy.env);
    await Promise.all(
      Array.from({length: 70}, (_, index) => writePng(box.directory, `${index}.png`, 100 + index)),
    );
    const {child, stderr} = running(box, ['upload', '-r', '.', '--allow-http', '--journal', 'j']);
    await eventually(() => proxy.connections() >= 64 && service.requests() >= 17);
    // On a machine that pauses, the silence ends before the first response is read, and more are sent.
    const most = service.requests() === 17 ? 17 : 70;
    service.release(401);
    await child;
    expect(stderr()).toContain('media.invalid does not know this API key (401).');
    expect(service.requests()).toBeLessThanOrEqual(most);
  });

  test('SIGINT: nothing more is sent, and no connection stays open', async () => {
    const service = await holding(1);
    const proxy = await slowProxy(service.port);
    const directory = await temporaryDirectory();
    // More than are ever sent at once, on a machine that pauses too.
    await Promise.all(
      Array.from({length: 200}, (_, index) => writePng(directory, `${index}.png`, 100 + index)),
    );
    const box = await sandboxFor(proxy.base, proxy.env);
    const {child, stderr} = running(box, ['upload', '-r', directory, '--allow-http']);
    await eventually(() => proxy.connections() >= 64);
    child.kill('SIGINT');
    await eventually(() => stderr().includes('Stopping'));
    service.release();
    expect((await child).signal).toBe('SIGINT');
    expect(service.requests()).toBeLessThan(200);
    expect(stderr()).toMatch(
      new RegExp(`^${service.requests()} uploaded, 0 skipped, \\d+ failed, 0 unknown`, 'm'),
    );
    await eventually(() => proxy.open() === 0);
  });
});
