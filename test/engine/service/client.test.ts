import {readFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {connect, createServer as createTcpServer} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ServiceClient} from '../../../src/engine/service/client.ts';
import type {UploadRequest} from '../../../src/engine/service/uploader.ts';
import {Disk} from '../../../src/engine/sources/open/disk.ts';
import {filesIn} from '../../../src/engine/sources/open/file-source.ts';
import {systemClock} from '../../../src/host.ts';
import {systemFiles} from '../../../src/lib/files/file-system.ts';
import {Secret} from '../../../src/lib/secrets/secret.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {embeddedService} from '../../support/embedded.ts';
import {eventually} from '../../support/eventually.ts';
import {listen, portOf, urlOf} from '../../support/loopback.ts';
import {ManualClock} from '../../support/manual-clock.ts';
import {fixture} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';
import {someRecord} from '../../support/scripted-server.ts';
import {loopbackNames, makeCertificate, tlsService} from '../../support/tls.ts';
import {clientOf, memorySource, uploadEach} from './support.ts';

/** A client of a new embedded service; `key` replaces the one that may do everything. */
async function client(key?: string) {
  const embedded = await embeddedService();
  const options = {clock: systemClock, env: {}, headers: {'user-agent': 'media/test'}};
  const secret = new Secret(key ?? embedded.key);
  return {...embedded, client: new ServiceClient({baseUrl: new URL(embedded.service.url)}, secret, options)};
}

function request(bytes: Buffer, changes: Partial<UploadRequest> = {}): UploadRequest {
  return {
    contentType: 'image/png',
    idempotencyKey: crypto.randomUUID(),
    body: {length: bytes.length, content: bytes},
    signal: new AbortController().signal,
    ...changes,
  };
}

describe('the client and the embedded service', () => {
  test('three files over one connection: their bytes and types are stored, in order', async () => {
    const {client: uploader, service} = await client();
    const names = ['photo.png', 'photo.jpg', 'photo.gif'];
    const sources = names.map(name => filesIn('/', new Disk(systemFiles))(fixture(name)));
    const outcomes = await uploadEach(sources, uploader);
    await uploader.close();
    expect(outcomes.map(({status}) => status)).toEqual(['uploaded', 'uploaded', 'uploaded']);
    const stored = await service.records();
    const bytes = await Promise.all(stored.map(({path}) => readFile(path)));
    expect(bytes).toEqual(await Promise.all(names.map(name => readFile(fixture(name)))));
    expect(outcomes.map(outcome => outcome.status === 'uploaded' && outcome.record)).toEqual(
      stored.map(({record}) => record),
    );
  });

  test('the same idempotency key twice: one record, the same response', async () => {
    const {client: uploader, service} = await client();
    const bytes = await readFile(fixture('photo.png'));
    const twice = request(bytes);
    const first = await uploader.upload(twice);
    expect(await uploader.upload(twice)).toEqual(first);
    expect(await service.records()).toHaveLength(1);
    await uploader.close();
  });

  test('a key that the service does not know: 401 with its error record', async () => {
    const {client: uploader, service} = await client('no-such-key');
    const answer = await uploader.upload(request(await readFile(fixture('photo.png'))));
    expect(answer).toMatchObject({kind: 'refused', status: 401, message: expect.any(String)});
    expect(await service.records()).toEqual([]);
    await uploader.close();
  });

  test('text/plain: 415 with its error record', async () => {
    const {client: uploader, service} = await client();
    const answer = await uploader.upload(request(Buffer.from('text'), {contentType: 'text/plain'}));
    expect(answer).toMatchObject({kind: 'refused', status: 415, message: expect.any(String)});
    expect(await service.records()).toEqual([]);
    await uploader.close();
  });

  test.each([
    [
      'throws',
      async function* () {
        yield Buffer.alloc(10);
        throw new Error('no more');
      },
    ],
    [
      'ends short of Content-Length',
      async function* () {
        yield Buffer.alloc(10);
      },
    ],
    ['yields nothing', async function* () {}],
    [
      'yields more than Content-Length',
      async function* () {
        yield Buffer.alloc(20);
        yield Buffer.alloc(20);
      },
    ],
  ])('a body that %s: the request rejects, nothing is stored, the next request works', async (_, content) => {
    const {client: uploader, service} = await client();
    const bytes = await readFile(fixture('photo.png'));
    await expect(uploader.upload(request(Buffer.alloc(30), {body: {length: 30, content}}))).rejects.toThrow();
    expect(await service.records()).toEqual([]);
    expect(await uploader.upload(request(bytes))).toMatchObject({kind: 'stored'});
    await uploader.close();
  });

  test('an aborted signal: rejects with its reason, sends nothing', async () => {
    const {client: uploader, service} = await client();
    const reason = new Error('stop');
    const signal = AbortSignal.abort(reason);
    await expect(uploader.upload(request(Buffer.alloc(30), {signal}))).rejects.toBe(reason);
    expect(await service.records()).toEqual([]);
    await uploader.close();
  });

  test('a GraphQL query: its response', async () => {
    const {client: uploader} = await client();
    const answer = await uploader.graphql({query: '{__typename}'});
    expect({status: answer.status, body: JSON.parse(answer.body.toString())}).toEqual({
      status: 200,
      body: {data: {__typename: 'Query'}},
    });
    await uploader.close();
  });
});

test('a service that takes 9 s to say which one it is: known', async () => {
  let [isPosted, answer] = [false, undefined as (() => void) | undefined];
  const server = createServer((request, response) => {
    isPosted ||= request.method === 'POST';
    if (request.method === 'GET') answer = () => response.writeHead(405, {'media-service-id': 'one'}).end();
  });
  await listen(server);
  const clock = new ManualClock();
  const options = {clock, env: {}, headers: {'user-agent': 'media/test'}};
  const client = new ServiceClient({baseUrl: new URL(urlOf(server))}, new Secret('key-of-the-test'), options);
  const id = client.serviceId(new Stop());
  await eventually(() => isPosted);
  await clock.advance(1_000);
  await eventually(() => answer !== undefined);
  await clock.advance(8_000);
  answer?.();
  expect(await id).toBe('one');
});

test('a run that is stopped while it asks which service is there: rejects with its reason', async () => {
  let isAsked = false;
  const server = createServer(() => {
    isAsked = true;
  });
  await listen(server);
  const stop = new Stop<Error>();
  const id = clientOf(urlOf(server)).serviceId(stop);
  await eventually(() => isAsked);
  stop.abort(new Error('stopped'));
  await expect(id).rejects.toThrow('stopped');
});

test('a connection is used again at once, but not after 700 ms, when the server may be closing it', async () => {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(someRecord));
  });
  server.on('connection', () => {
    connections += 1;
  });
  await listen(server);
  const uploader = clientOf(urlOf(server));
  const opened = async (pauseMs: number) => {
    const before = connections;
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    await uploader.upload(request(Buffer.from('bytes')));
    return connections - before;
  };
  expect(await opened(0)).toBe(1);
  // A busy machine may make a pause.
  await eventually(async () => (await opened(0)) === 0);
  expect(await opened(700)).toBe(1);
  await uploader.close();
  server.close();
});

test('whether a file is still stored is asked without the client certificate', async () => {
  const mine = await makeCertificate([{type: 2, value: 'me.example'}]);
  const options = {requestCert: true, ca: mine.certificate, resets: false};
  const {port, pem, uploads} = await tlsService(loopbackNames, options);
  const url = `https://127.0.0.1:${port}`;
  const client = new ServiceClient({baseUrl: new URL(url)}, new Secret('key-of-the-test'), {
    ...{clock: systemClock, env: {}, headers: {'user-agent': 'media/test'}},
    ...{certificateAuthorities: pem, clientCertificate: mine},
  });
  onTestFinished(() => client.close());
  const source = memorySource('a.png', Buffer.from('a'));
  expect(await uploadEach([source], client)).toMatchObject([{status: 'uploaded'}]);
  const {signal} = new AbortController();
  await client.isStored({id: 'm_1', fileUrl: `${url}/m_1`}, 1, signal).catch(() => false);
  expect(uploads).toEqual(['POST /v1/media/upload']);
});

test('a connection that breaks after one that was refused for want of a certificate: not taken for a refusal', async () => {
  const mine = await makeCertificate([{type: 2, value: 'me.example'}]);
  const strict = await tlsService(loopbackNames, {requestCert: true, ca: mine.certificate, resets: false});
  const {certificate, key} = await makeCertificate(loopbackNames);
  const breaking = createTlsServer({key, cert: certificate}, ({socket}) => socket.destroy());
  await listen(breaking);
  const ports = [strict.port, portOf(breaking)];
  const front = createTcpServer(socket => {
    const behind = connect(ports.shift() ?? 0, '127.0.0.1');
    for (const end of [socket, behind]) end.on('error', () => {});
    socket.pipe(behind).pipe(socket);
  });
  await listen(front);
  const client = new ServiceClient(
    {baseUrl: new URL(`https://127.0.0.1:${portOf(front)}`)},
    new Secret('key-of-the-test'),
    {clock: systemClock, env: {}, headers: {}, certificateAuthorities: `${strict.pem}\n${certificate}`},
  );
  onTestFinished(async () => {
    await client.close();
    for (const server of [front, breaking]) server.close();
  });
  const codes: unknown[] = [];
  for (const bytes of ['one', 'two'])
    await client.upload(request(Buffer.from(bytes))).catch(({code}) => codes.push(code));
  expect(codes).toEqual(['tls_failed', expect.not.stringMatching('tls_failed')]);
  expect(ports).toEqual([]);
});

test('the fields of a client are in each request to the service: uploads, GraphQL, probes, questions about a file', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-own']}`);
    if (request.headers['content-type'] === 'text/plain') request.socket.destroy();
    else request.resume().on('end', () => response.end(someRecord));
  });
  await listen(server);
  onTestFinished(() => void server.close());
  const baseUrl = new URL(urlOf(server));
  const client = new ServiceClient({baseUrl}, new Secret('key-of-the-test'), {
    ...{clock: systemClock, env: {}, headers: {'x-own': 'yes'}},
  });
  onTestFinished(() => client.close());
  const {signal} = new AbortController();
  await client.upload(request(Buffer.from('bytes')));
  await client.graphql({query: '{__typename}'});
  await client.serviceId(signal);
  await client.isStored({id: 'm_1', fileUrl: `${baseUrl.href}m_1`}, 1, signal);
  expect(seen).toEqual([
    'POST /v1/media/upload yes',
    'POST /graphql yes',
    'POST /v1/media/upload yes',
    'GET /v1/media/upload yes',
    'HEAD /m_1 yes',
  ]);
});

describe('whether the service honours keys, after responses that declare', () => {
  const ask = {
    upload: (client: ServiceClient) => client.upload(request(Buffer.from('bytes'))),
    question: (client: ServiceClient) => client.askUploadPath('GET', patienceMs, new Stop()),
  };

  test.each<[string, boolean | undefined, ...(readonly [keyof typeof ask, string?])[]]>([
    ['nothing', undefined, ['upload'], ['question']],
    ['?1, then nothing', true, ['upload', '?1'], ['upload'], ['question']],
    ['?0, then nothing', false, ['upload', '?0'], ['upload'], ['question']],
    ['?1 to a question, then nothing', true, ['question', '?1'], ['upload']],
    ['?1, then what is no boolean', true, ['upload', '?1'], ['upload', 'yes']],
    ['?1, then what only begins as one', true, ['upload', '?1'], ['upload', '?01'], ['question', '?0.']],
    ['?1 with a parameter (RFC 9651)', true, ['upload', '?1;since=1'], ['upload']],
    ['?0 with a parameter, after a space', false, ['question', '?0 ; a']],
    ['?1, then ?0: as the last one', false, ['upload', '?1'], ['question', '?0']],
    ['?0, then ?1: as the last one', true, ['question', '?0'], ['upload', '?1']],
  ])('%s: %s', async (_name, expected, ...exchanges) => {
    const declarations = exchanges.map(([, declared]) => declared);
    const client = clientOf(await declaring(declarations));
    for (const [kind] of exchanges) await ask[kind](client);
    expect(client.honoursKeys).toBe(expected);
  });

  test('by GraphQL of another origin, which stores no files: not known', async () => {
    const [baseUrl, graphqlUrl] = [new URL(await declaring([])), new URL(await declaring(['?1']))];
    const options = {clock: systemClock, env: {}, headers: {}};
    const client = new ServiceClient({baseUrl, graphqlUrl}, new Secret('key-of-the-test'), options);
    onTestFinished(() => client.close());
    await client.graphql({query: '{__typename}'});
    expect(client.honoursKeys).toBeUndefined();
  });

  /** The URL of a service that answers 502, and declares that about keys in one response after the other. */
  async function declaring(declarations: (string | undefined)[]): Promise<string> {
    const server = createServer((message, response) => {
      const declared = declarations.shift();
      if (declared !== undefined) response.setHeader('accept-idempotency-key', declared);
      message.resume().on('end', () => response.writeHead(502).end());
    });
    await listen(server);
    return urlOf(server);
  }
});
