import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {createServer as createTcpServer} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {
  MediaClient,
  type MediaClientOptions,
  publicUrl,
  sourceOf,
  startService,
  type UploadRequest,
  upload,
  uploadAll,
} from '../../src/index.ts';
import {packageVersion} from '../../src/package-file.ts';
import {deadUrl} from '../engine/service/support.ts';
import {eventually} from '../support/eventually.ts';
import {freePort} from '../support/free-ports.ts';
import {listen, portOf} from '../support/loopback.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {someRecord} from '../support/scripted-server.ts';
import {loopbackNames, makeCertificate} from '../support/tls.ts';

const apiKey = 'key-of-the-test';

/** A server that responds to each request with `respond`, by default with a record, and a client for `path` of it. */
async function serving(
  {path = '', ...options}: Partial<MediaClientOptions> & {path?: string} = {},
  respond = (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, {'Content-Type': 'application/json'}).end(someRecord);
  },
) {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume().on('end', () => respond(request, response));
  });
  server.on('connection', () => {
    connections += 1;
  });
  await listen(server);
  const url = `http://127.0.0.1:${portOf(server)}`;
  const client = new MediaClient({baseUrl: url + path, apiKey, ...options});
  onTestFinished(() => client.close());
  return {client, requests, url, connections: () => connections};
}

/** An upload of a few bytes. */
function request(signal = new AbortController().signal): UploadRequest {
  const content = Buffer.from('\0\0\x01\0'.padEnd(22), 'latin1');
  return {
    contentType: 'image/x-icon',
    idempotencyKey: 'key-1',
    body: {length: content.length, content},
    signal,
  };
}

test('upload: one POST below the base URL, with key, type, Idempotency-Key and User-Agent', async () => {
  const {client, requests, url} = await serving({path: '/prefix//'});
  expect({host: client.host, baseUrl: client.baseUrl}).toEqual({
    host: url.slice(7),
    baseUrl: `${url}/prefix`,
  });
  expect(await client.upload(request())).toMatchObject({kind: 'stored', received: {record: {id: 'm_1'}}});
  expect(requests.map(({method, url: path}) => `${method} ${path}`)).toEqual([
    'POST /prefix/v1/media/upload',
  ]);
  expect(requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${apiKey}`,
    'content-type': 'image/x-icon',
    'idempotency-key': '"key-1"',
    'user-agent': `media/${packageVersion()}`,
  });
});

test.each([301, 307, 503])(
  'upload with a response of %i: returned as it is, neither followed nor repeated',
  async status => {
    const {client, requests} = await serving({}, (_request, response) => {
      response
        .writeHead(status, {Location: '/elsewhere', 'Retry-After': '1'})
        .end('{"code":1,"message":"Why."}');
    });
    const location = `${client.baseUrl}/elsewhere`;
    const response = await client.upload(request());
    expect(response).toMatchObject({kind: 'refused', status, message: 'Why.', location});
    expect(requests).toHaveLength(1);
  },
);

test('`userAgent` is sent; `baseUrl` may be a URL', async () => {
  const {client, requests, url} = await serving({userAgent: 'own/1'});
  await client.upload(request());
  const other = new MediaClient({baseUrl: new URL(url), apiKey});
  onTestFinished(() => other.close());
  await other.upload(request());
  expect(requests.map(({headers}) => headers['user-agent'])).toEqual(['own/1', `media/${packageVersion()}`]);
});

test.each(['own\n1', 'größe 1€', '\0'])(
  '`userAgent` %j: usage, since no request could carry it',
  userAgent => {
    expect(() => new MediaClient({baseUrl: 'https://media.invalid', apiKey, userAgent})).toThrow(
      'userAgent must be a text of ASCII characters',
    );
  },
);

test('many calls with one signal: no warning of a leak', async () => {
  const {client} = await serving({});
  const warnings: string[] = [];
  const onWarning = ({message}: Error) => warnings.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const {signal} = new AbortController();
  const calls = Array.from({length: 12}, () => [
    client.graphql({query: '{ a }'}, signal),
    upload(sourceOf('a.png', Buffer.from('\x89PNG\r\n\x1a\n'.padEnd(57), 'latin1')), {client, signal}),
  ]);
  await Promise.allSettled(calls.flat());
  expect(warnings).toEqual([]);
});

test('graphql: at the root of the host, or where `graphqlUrl` says, with the key', async () => {
  const {client, requests, url} = await serving({path: '/prefix'});
  await client.graphql({query: '{ a }', variables: {b: 1}, operationName: 'c'});
  const other = new MediaClient({
    baseUrl: 'https://media.invalid',
    apiKey,
    graphqlUrl: new URL(`${url}/ask`),
  });
  onTestFinished(() => other.close());
  await other.graphql({query: '{ a }'});
  expect(requests.map(({method, url: path, headers}) => [method, path, headers.authorization])).toEqual([
    ['POST', '/graphql', `Bearer ${apiKey}`],
    ['POST', '/ask', `Bearer ${apiKey}`],
  ]);
});

test('graphql: a body of more than 1 MiB is cut there, and a key in it is removed', async () => {
  const {client} = await serving({}, (_request, response) => {
    response.end(`${apiKey} ${'x'.repeat(2 ** 21)}`);
  });
  const {status, body, truncated} = await client.graphql({query: '{ a }'});
  expect({status, length: body.length <= 2 ** 20, truncated}).toEqual({
    status: 200,
    length: true,
    truncated: true,
  });
  expect(body.includes(apiKey)).toBe(false);
});

test.each(['before', 'meanwhile'])(
  'graphql aborted %s: rejects with the reason, whatever that is',
  async when => {
    const {client, requests} = await serving({}, () => {});
    const caller = new AbortController();
    if (when === 'before') caller.abort('enough');
    const answer = client.graphql({query: '{ a }'}, caller.signal);
    answer.catch(() => {});
    if (when === 'meanwhile') {
      await eventually(() => requests.length === 1);
      caller.abort('enough');
    }
    await expect(answer).rejects.toBe('enough');
    expect(requests).toHaveLength(when === 'before' ? 0 : 1);
  },
);

test('uploads one after the other share a connection; at a time, each has its own', async () => {
  const {client, requests, connections} = await serving();
  await client.upload(request());
  await client.upload(request());
  expect({requests: requests.length, connections: connections()}).toEqual({requests: 2, connections: 1});
  await Promise.all([client.upload(request()), client.upload(request()), client.upload(request())]);
  expect(connections()).toBe(3);
});

test('close: pending requests fail at once, and every connection is closed', async () => {
  let closed = 0;
  const {client, requests} = await serving({}, pending => {
    pending.socket.on('close', () => {
      closed += 1;
    });
  });
  const pending = Promise.allSettled([client.upload(request()), client.graphql({query: '{ a }'})]);
  await eventually(() => requests.length === 2);
  await client.close();
  expect((await pending).map(({status}) => status)).toEqual(['rejected', 'rejected']);
  await eventually(() => closed === 2);
});

test('without a service: a MediaError that says so; probeAvailability says it, too', async () => {
  const client = new MediaClient({baseUrl: await deadUrl(), apiKey});
  await expect(client.upload(request())).rejects.toMatchObject({
    name: 'MediaError',
    code: 'connection_refused',
  });
  expect(await client.probeAvailability(new AbortController().signal)).toContain(client.host);
  await client.close();
});

test('upload, with https where the service has none: the hint is in the words of the library', async () => {
  const {url} = await serving();
  const client = new MediaClient({baseUrl: url.replace('http:', 'https:'), apiKey});
  onTestFinished(() => client.close());
  const hint = expect.stringContaining('allowHttp: true');
  await expect(client.upload(request())).rejects.toMatchObject({code: 'tls_failed', hint});
});

test.each([
  [405, undefined],
  [200, undefined],
  [502, 'It returned 502.'],
])('probeAvailability of a service that answers %i: %s', async (status, why) => {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await listen(server);
  const client = new MediaClient({baseUrl: `http://127.0.0.1:${portOf(server)}`, apiKey});
  onTestFinished(() => client.close());
  expect(await client.probeAvailability(new AbortController().signal)).toBe(why);
});

test('`certificateAuthorities`: trusted instead of the system’s', async () => {
  const {certificate, key} = await makeCertificate(loopbackNames);
  const server = createTlsServer({cert: certificate, key}, (received, response) => {
    received.resume().on('end', () => {
      response.writeHead(200, {'Content-Type': 'application/json'}).end(someRecord);
    });
  });
  await listen(server);
  const baseUrl = `https://localhost:${portOf(server)}`;
  const trusting = new MediaClient({baseUrl, apiKey, certificateAuthorities: certificate});
  const other = new MediaClient({baseUrl, apiKey});
  onTestFinished(async () => void (await Promise.all([trusting.close(), other.close()])));
  expect(await trusting.upload(request())).toMatchObject({kind: 'stored'});
  await expect(other.upload(request())).rejects.toMatchObject({code: 'tls_failed'});
});

test('`connectTimeoutMs`: a connection that does not come about is given up after so long', async () => {
  const silent = createTcpServer(socket => void socket.on('error', () => {}));
  await listen(silent);
  // The handshake of TLS never begins.
  const baseUrl = `https://127.0.0.1:${portOf(silent)}`;
  const [usual, brief] = [{}, {connectTimeoutMs: 200}].map(
    options => new MediaClient({baseUrl, apiKey, ...options}),
  );
  const ended: string[] = [];
  const waiting = usual?.upload(request()).catch(() => ended.push('usual'));
  await expect(brief?.upload(request())).rejects.toMatchObject({code: 'connect_timeout'});
  // That one waits for 10 s.
  expect(ended).toEqual([]);
  await Promise.all([usual?.close(), brief?.close(), waiting]);
});

test('`allowHttp`: plain http to another machine; the proxy of the environment is asked for it', async () => {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('request', ({url}, response) => {
    asked.push(String(url));
    response.writeHead(407, {Connection: 'close'}).end();
  });
  await listen(proxy);
  const before = {...process.env};
  onTestFinished(() => {
    for (const name of ['http_proxy', 'no_proxy']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  Object.assign(process.env, {http_proxy: `http://127.0.0.1:${portOf(proxy)}`, no_proxy: ''});
  const client = new MediaClient({baseUrl: 'http://media.invalid', apiKey, allowHttp: true});
  onTestFinished(() => client.close());
  await expect(client.upload(request())).rejects.toMatchObject({code: 'proxy_failed'});
  expect(asked).toEqual(['http://media.invalid/v1/media/upload']);
});

test.each([
  ['base URL', {baseUrl: 'http://media.example'}],
  ['GraphQL URL', {baseUrl: 'https://media.example', graphqlUrl: 'http://media.example/graphql'}],
])('without `allowHttp`, the key goes to no other machine in plain text: %s', (name, urls) => {
  const refused = expect.objectContaining({code: 'usage', message: expect.stringContaining(name)});
  expect(() => new MediaClient({...urls, apiKey})).toThrow(refused);
});

test('a key that a service repeats is in no message', async () => {
  const {client} = await serving({}, (_request, response) => {
    response.writeHead(422, {'Content-Type': 'application/json'});
    response.end(`{"code":422,"message":"The key ${apiKey} may not."}`);
  });
  for await (const result of uploadAll([sourceOf('a.ico', Buffer.from('\0\0\x01\0'.padEnd(22)))], {client})) {
    expect(result).toMatchObject({status: 'failed', error: {message: expect.stringContaining('may not')}});
    expect(JSON.stringify(result) + String('error' in result && result.error.stack)).not.toContain(apiKey);
  }
});

test('startService: the system’s error for a port in use and for a directory that cannot be made', async () => {
  const directory = await temporaryDirectory();
  const port = await freePort();
  const service = await startService({dataDirectory: directory, port});
  onTestFinished(() => service.close());
  await expect(startService({dataDirectory: await temporaryDirectory(), port})).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await expect(startService({dataDirectory: `${fixture('photo.png')}/below`})).rejects.toMatchObject({
    code: 'ENOTDIR',
  });
  await service.close();
  const again = await startService({dataDirectory: directory, port});
  onTestFinished(() => again.close());
  expect(again.url).toBe(service.url);
});

test('publicUrl: the URL that everybody may see', () => {
  const urls = [
    {variant: 'THUMBNAIL', url: 'https://cdn.example/small'},
    {variant: 'PUBLIC', url: 'https://cdn.example/large'},
  ];
  expect(publicUrl({id: 'm_1', type: 'IMAGE', urls})).toBe('https://cdn.example/large');
  expect(publicUrl({id: 'm_1', type: 'IMAGE', urls: []})).toBeUndefined();
});
