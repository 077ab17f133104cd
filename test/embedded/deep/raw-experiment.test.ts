import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import {type Clock, systemClock} from '../../../src/host.ts';
import type {EmbeddedService} from '../../support/embedded-service.ts';
import {eventually} from '../../support/eventually.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {cannotMount, smallDisk} from '../../support/experiment/small-disk.ts';
import {namesIn, png, rawConnection, serviceWithKey, startedService, upload, uploadHead} from '../support.ts';

const image = png(2, 2);

interface RawCase {
  name: string;
  /** What is sent; HOST, KEY and BODY are replaced. */
  text: string;
  /** The status of the first answer; without it, the connection closes without one. */
  status?: number;
  /** How many records there are after it; none unless told. */
  records?: number;
}

const upper =
  'POST /v1/media/upload HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer KEY\r\nContent-Type: image/png\r\n';
const length = `Content-Length: ${image.length}\r\n`;
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n';
const chunked = `5\r\nabcde\r\n0\r\n\r\n`;

const rawCases: RawCase[] = [
  {name: 'an upload as it should be', text: `${upper}${length}\r\nBODY`, status: 200, records: 1},
  {
    name: 'CL.TE',
    text: `${upper}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    status: 400,
  },
  {
    name: 'TE.CL',
    text: `${upper}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunked}${smuggled}`,
    status: 400,
  },
  {name: 'TE alone', text: `${upper}Transfer-Encoding: chunked\r\n\r\n${chunked}`, status: 411},
  {name: 'TE with a tab', text: `${upper}Transfer-Encoding:\tchunked\r\n\r\n${chunked}`, status: 411},
  {name: 'TE in capitals', text: `${upper}TRANSFER-ENCODING: CHUNKED\r\n\r\n${chunked}`, status: 411},
  {
    name: 'TE twice',
    text: `${upper}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked}`,
    status: 400,
  },
  {name: 'TE of xchunked', text: `${upper}Transfer-Encoding: xchunked\r\n\r\n${chunked}`, status: 411},
  {
    name: 'TE of chunked, gzip',
    text: `${upper}Transfer-Encoding: chunked, gzip\r\n\r\n${chunked}`,
    status: 400,
  },
  {
    name: 'TE identity beside a length',
    text: `${upper}${length}Transfer-Encoding: identity\r\n\r\nBODY`,
    status: 400,
  },
  {
    name: 'TE behind a space',
    text: `${upper}${length} Transfer-Encoding: chunked\r\n\r\n${chunked}`,
    status: 400,
  },
  {
    name: 'TE before a space and a colon',
    text: `${upper}Transfer-Encoding : chunked\r\n${length}\r\nBODY`,
    status: 400,
  },
  {name: 'two lengths that differ', text: `${upper}${length}Content-Length: 5\r\n\r\nBODY`, status: 400},
  {name: 'two lengths that agree', text: `${upper}${length}${length}\r\nBODY`, status: 400},
  {
    name: 'a list of lengths',
    text: `${upper}Content-Length: ${image.length}, ${image.length}\r\n\r\nBODY`,
    status: 400,
  },
  {name: 'a length with a sign', text: `${upper}Content-Length: +${image.length}\r\n\r\nBODY`, status: 400},
  {name: 'a length in hexadecimal', text: `${upper}Content-Length: 0x49\r\n\r\nBODY`, status: 400},
  {
    name: 'a length with a fraction',
    text: `${upper}Content-Length: ${image.length}.0\r\n\r\nBODY`,
    status: 400,
  },
  {name: 'a negative length', text: `${upper}Content-Length: -1\r\n\r\nBODY`, status: 400},
  {
    name: 'a length of 2^64 and more',
    text: `${upper}Content-Length: 18446744073709551689\r\n\r\nBODY`,
    status: 400,
  },
  {name: 'an empty length', text: `${upper}Content-Length:\r\n\r\nBODY`, status: 400},
  {name: 'no length', text: `${upper}\r\n`, status: 411},
  {name: 'length 0', text: `${upper}Content-Length: 0\r\n\r\n`, status: 400},
  {name: 'a request behind the body', text: `${upper}${length}\r\nBODY${smuggled}`, status: 200, records: 1},
  {
    name: 'a body that is too long',
    text: `${upper}Content-Length: ${image.length - 1}\r\n\r\nBODY`,
    status: 400,
  },
  {name: 'two Hosts', text: `${upper}Host: HOST\r\n${length}\r\nBODY`, status: 400},
  {
    name: 'two Hosts, one of them foreign',
    text: `${upper}Host: evil.example\r\n${length}\r\nBODY`,
    status: 400,
  },
  {name: 'no Host', text: `${upper.replace('Host: HOST\r\n', '')}${length}\r\nBODY`, status: 400},
  {
    name: 'a second Host behind 2,500 headers',
    text: `${upper}${'a: b\r\n'.repeat(2_500)}Host: evil.example\r\n${length}\r\nBODY`,
    status: 400,
  },
  {name: 'an empty Host', text: `${upper.replace('HOST', '')}${length}\r\nBODY`, status: 421},
  {
    name: 'HTTP/1.0',
    text: `${upper.replace('HTTP/1.1', 'HTTP/1.0')}${length}\r\nBODY`,
    status: 200,
    records: 1,
  },
  {
    name: 'HTTP/1.0 with TE',
    text: `${upper.replace('HTTP/1.1', 'HTTP/1.0')}Transfer-Encoding: chunked\r\n\r\n${chunked}`,
    status: 411,
  },
  {name: 'HTTP/0.9', text: 'GET /\r\n\r\n', status: 400},
  {name: 'HTTP/2.0', text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 400},
  {name: 'HTTP/1.2', text: `${upper.replace('HTTP/1.1', 'HTTP/1.2')}${length}\r\nBODY`, status: 400},
  {name: 'a folded header', text: `${upper}X: a\r\n b\r\n${length}\r\nBODY`, status: 400},
  {name: 'a folded first header', text: `GET / HTTP/1.1\r\n Host: HOST\r\n\r\n`, status: 400},
  {name: 'line feeds alone', text: `${upper}${length}\r\nBODY`.replaceAll('\r\n', '\n'), status: 400},
  {
    name: 'a line feed alone in the head',
    text: `${upper}X: a\nTransfer-Encoding: chunked\r\n${length}\r\nBODY`,
    status: 400,
  },
  {
    name: 'a carriage return alone',
    text: `${upper}X: a\rTransfer-Encoding: chunked\r\n${length}\r\nBODY`,
    status: 400,
  },
  {name: 'a zero byte in a header', text: `${upper}X: a\0b\r\n${length}\r\nBODY`, status: 400},
  {name: 'a header without a name', text: `${upper}: x\r\n${length}\r\nBODY`, status: 400},
  {name: 'a header without a colon', text: `${upper}nonsense\r\n${length}\r\nBODY`, status: 400},
  {
    name: 'absolute form',
    text: `${upper.replace('/v1', 'http://HOST/v1')}${length}\r\nBODY`,
    status: 200,
    records: 1,
  },
  {
    name: 'absolute form, foreign',
    text: `${upper.replace('/v1', 'http://evil.example/v1')}${length}\r\nBODY`,
    status: 421,
  },
  {
    name: 'absolute form of https',
    text: `${upper.replace('/v1', 'https://HOST/v1')}${length}\r\nBODY`,
    status: 404,
  },
  {name: 'authority form', text: 'CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n'},
  {name: 'asterisk form', text: 'OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n', status: 404},
  {name: 'an unknown method', text: 'EVIL / HTTP/1.1\r\nHost: HOST\r\n\r\n', status: 400},
  {name: 'TRACE', text: 'TRACE / HTTP/1.1\r\nHost: HOST\r\n\r\n', status: 405},
  {
    name: 'a head of 20 kB',
    text: `GET / HTTP/1.1\r\nHost: HOST\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    status: 431,
  },
  {
    name: '5,000 short headers',
    text: `GET / HTTP/1.1\r\nHost: HOST\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
    status: 200,
  },
  {name: 'a path of 20 kB', text: `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: HOST\r\n\r\n`, status: 431},
  {
    name: 'an upgrade to WebSocket',
    text: 'GET / HTTP/1.1\r\nHost: HOST\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    status: 200,
  },
  {
    name: 'an upgrade to h2c',
    text: 'GET / HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    status: 200,
  },
  {
    name: 'an expectation that is none',
    text: `${upper}${length}Expect: evil\r\n\r\nBODY`,
    status: 100,
    records: 1,
  },
  {
    name: 'a Content-Type that breaks the line',
    text: `${upper.replace('image/png', 'image/png\rX: y')}${length}\r\nBODY`,
    status: 400,
  },
  {name: 'a TLS greeting', text: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', status: 400},
  {
    name: 'chunk extensions without end',
    text: `${upper.replace('/v1/media/upload', '/graphql')}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(20_000)}\r\n`,
    status: 400,
  },
];

/** What a service answers to these bytes on a connection of their own, until it closes it. */
async function answerTo(service: EmbeddedService, key: string, text: string): Promise<string> {
  const bytes = text.replaceAll('HOST', new URL(service.url).host).replaceAll('KEY', key);
  const [head = '', ...rest] = bytes.split('BODY');
  const parts = rest.flatMap(part => [image, Buffer.from(part, 'latin1')]);
  const {socket, ended} = await rawConnection(service);
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), ...parts]));
  return ended();
}

experiment('embedded service: requests byte by byte', async () => {
  expect(rawCases.length).toBeGreaterThanOrEqual(30);
  const broken: string[] = [];
  for (const {name, text, status, records = 0} of rawCases) {
    const errors: unknown[] = [];
    const {service, key, dataDirectory} = await serviceWithKey({onError: error => errors.push(error)});
    const answers = await answerTo(service, key, text);
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, found]) => Number(found));
    if (statuses[0] !== status) broken.push(`${name}: ${statuses.join(' ') || 'no answer'}, not ${status}`);
    if (/smuggled|evil\.example/.test(answers)) broken.push(`${name}: the answer repeats what was sent`);
    const stored = (await service.records()).length;
    if (stored !== records) broken.push(`${name}: ${stored} records`);
    const left = [...(await namesIn(dataDirectory, 'temporary')), ...(await namesIn(dataDirectory, 'files'))];
    if (left.length !== records) broken.push(`${name}: ${left.length} files`);
    broken.push(...errors.map(error => `${name}: ${String(error)}`));
    await service.close();
  }
  return {tried: rawCases.length, held: rawCases.length - broken.length, broken};
});

const hosts = [
  'evil.example',
  'evil.example:PORT',
  '127.0.0.1.evil.example:PORT',
  'localhost.evil.example:PORT',
  'evil-localhost:PORT',
  'localhost:1',
  'localhost',
  '127.0.0.1',
  '127.0.0.2:PORT',
  '127.1:PORT',
  '2130706433:PORT',
  '0.0.0.0:PORT',
  '0x7f.0.0.1:PORT',
  '[::]:PORT',
  '[::ffff:127.0.0.1]:PORT',
  'localhost.:PORT',
  'user@localhost:PORT',
  'localhost:PORT/path',
  'localhost:PORT localhost:PORT',
  'localhost:PORT, evil.example',
  'localhost:PORT#',
  'localhost:0PORT0',
];

experiment('embedded service: foreign Hosts, as DNS rebinding brings them', async () => {
  const {service, key} = await serviceWithKey();
  const {port} = new URL(service.url);
  const broken: string[] = [];
  const requests = [
    'GET / HTTP/1.1',
    'POST /v1/media/upload HTTP/1.1',
    'POST /graphql HTTP/1.1',
    'GET /files/x HTTP/1.1',
  ];
  for (const host of hosts.map(text => text.replace('PORT', port))) {
    for (const request of requests) {
      const fields = `Host: ${host}\r\nAuthorization: Bearer KEY\r\nContent-Type: image/png\r\n${request.startsWith('POST') ? length : ''}`;
      const body = request.startsWith('POST') ? 'BODY' : '';
      const answer = await answerTo(service, key, `${request}\r\n${fields}\r\n${body}`);
      if (!/^HTTP\/1\.1 (421|400) /.test(answer)) broken.push(`${host}: ${request}: ${answer.slice(0, 40)}`);
      if (/access-control-allow/i.test(answer)) broken.push(`${host}: shared with other origins`);
    }
  }
  expect(await service.records()).toEqual([]);
  const tried = hosts.length * requests.length;
  return {tried, held: tried - broken.length, broken};
});

const traversals = [
  '/files/../keys.json',
  '/files/..%2fkeys.json',
  '/files/%2e%2e/keys.json',
  '/files/%2e%2e%2fkeys.json',
  '/files/..%5ckeys.json',
  '/files/..%c0%afkeys.json',
  '/files/....//keys.json',
  '/files//etc/passwd',
  '/files/%2fetc%2fpasswd',
  '/files/%00',
  '/files/ID%00.png',
  '/files/ID/../../keys.json',
  '/files/./ID/..',
  '/files/ID%2f..%2f..%2fkeys.json',
  '/files/.',
  '/files/..',
  '/files/',
  '//files/ID',
  '/records/ID.json',
  '/files/../records/ID.json',
  '/temporary/secret',
  '/files/.hidden',
  '/files/%',
  '/files/%zz',
  '/v1/media/upload/../../../files/../keys.json',
];

experiment('embedded service: paths that climb', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const {id} = (await (await upload(service, key, image)).json()) as {id: string};
  await writeFile(join(dataDirectory, 'files', '.hidden'), 'secret');
  await writeFile(join(dataDirectory, 'temporary', 'secret'), 'secret');
  const broken: string[] = [];
  for (const path of traversals) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await answerTo(
        service,
        key,
        `${method} ${path.replace('ID', id)} HTTP/1.1\r\nHost: HOST\r\n\r\n`,
      );
      if (!/^HTTP\/1\.1 (404|400|405) /.test(answer))
        broken.push(`${method} ${path}: ${answer.slice(0, 60)}`);
      if (/secret|root:|"hash"/.test(answer)) broken.push(`${method} ${path}: shows what is no upload`);
    }
  }
  const tried = 2 * traversals.length;
  return {tried, held: tried - broken.length, broken};
});

const active: [string, string][] = [
  [
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>',
  ],
  ['IMAGE/SVG+XML; charset=utf-8', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['image/x+xml', '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'],
  ['image/png', '<!doctype html><script>alert(1)</script>'],
  ['image/x-unknown', '<!doctype html><script>alert(1)</script>'],
  ['video/mp4', '<html><script>alert(1)</script></html>'],
];

experiment('embedded service: SVG and HTML are served inert', async () => {
  const {service, key} = await serviceWithKey();
  const broken: string[] = [];
  for (const [contentType, text] of active) {
    const response = await upload(service, key, Buffer.from(text), {'Content-Type': contentType});
    const {fileUrl} = (await response.json()) as {fileUrl: string};
    for (const method of ['GET', 'HEAD']) {
      const {status, headers} = await fetch(fileUrl, {method});
      const policy = (headers.get('content-security-policy') ?? '').split('; ');
      const isInert =
        status === 200 &&
        headers.get('x-content-type-options') === 'nosniff' &&
        policy.includes('sandbox') &&
        policy.includes("default-src 'none'") &&
        headers.get('content-type')?.toLowerCase() === contentType.toLowerCase() &&
        headers.get('content-disposition') === (/xml/i.test(contentType) ? 'attachment' : 'inline');
      if (!isInert) broken.push(`${method} ${contentType}: ${JSON.stringify([...headers])}`);
    }
  }
  return {tried: 2 * active.length, held: 2 * active.length - broken.length, broken};
});

/** A clock whose regular calls come when the test says so. */
function handClock(): {clock: Clock; tick: () => void} {
  const actions = new Set<() => void>();
  const every: Clock['every'] = (_ms, action) => {
    actions.add(action);
    return () => actions.delete(action);
  };
  const tick = () => {
    for (const action of [...actions]) action();
  };
  return {clock: {...systemClock, every}, tick};
}

experiment('embedded service: bodies that crawl end, a slow one that is honest does not', async ({scale}) => {
  const {clock, tick} = handClock();
  const {service, key, dataDirectory} = await serviceWithKey({
    clock,
    pace: {bytesPerSecond: 100, windowMs: 1_000},
  });
  const crawlers = scale === 'long' ? 200 : 20;
  const begin = async (size: number) => {
    const connection = await rawConnection(service);
    connection.socket.write(uploadHead(service, key, {'Content-Length': size}));
    connection.socket.write(Buffer.alloc(1));
    return connection;
  };
  const slow = await Promise.all(Array.from({length: crawlers}, () => begin(1_000_000)));
  const honest = await begin(1_001);
  const written = async () => {
    const {stat} = await import('node:fs/promises');
    const names = await namesIn(dataDirectory, 'temporary');
    const stats = await Promise.all(
      names.map(name => stat(join(dataDirectory, 'temporary', name)).catch(() => undefined)),
    );
    return stats.map(found => found?.size ?? 0);
  };
  await eventually(async () => (await written()).filter(size => size === 1).length === crawlers + 1);
  for (let window = 1; window <= 10; window += 1) {
    honest.socket.write(Buffer.alloc(100));
    const whole = 1 + 100 * window;
    if (window < 10) await eventually(async () => (await written()).includes(whole));
    else await eventually(() => honest.text() !== '');
    tick();
  }
  const answers = await Promise.all(slow.map(({ended}) => ended()));
  const broken = answers.filter(text => !text.startsWith('HTTP/1.1 408 ')).map(text => `a crawler: ${text}`);
  if (!honest.text().startsWith('HTTP/1.1 200 ')) broken.push(`the honest one: ${honest.text()}`);
  expect(await service.records()).toHaveLength(1);
  await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 0);
  for (const {socket} of slow) socket.destroy();
  return {tried: crawlers + 1, held: crawlers + 1 - broken.length, broken};
});

experiment('embedded service: heads that crawl, and connections that say nothing', async ({scale}) => {
  const {service, key} = await serviceWithKey({pace: {headMs: 300}});
  const count = scale === 'long' ? 200 : 20;
  const beginnings = [
    '',
    'POST',
    'POST /v1/media/upload HTTP/1.1\r\n',
    `${uploadHead(service, key, {}).slice(0, -2)}X: `,
  ];
  const connections = await Promise.all(
    Array.from({length: count}, async (_, index) => {
      const connection = await rawConnection(service);
      const text = beginnings[index % beginnings.length] ?? '';
      if (text !== '') connection.socket.write(text);
      const timer = setInterval(() => text !== '' && connection.socket.write('x'), 20);
      onTestFinished(() => clearInterval(timer));
      return connection.ended().then(
        received => ({received, isOver: true}),
        () => ({received: '', isOver: true}),
      );
    }),
  );
  const broken = connections
    .filter(({received}) => received !== '' && !/^HTTP\/1\.1 (408|400) /.test(received))
    .map(({received}) => received);
  expect((await upload(service, key, image)).status).toBe(200);
  return {tried: count, held: count - broken.length, broken};
});

experiment(
  'embedded service: a full disk',
  async () => {
    const disk = await smallDisk(2048);
    const dataDirectory = join(disk, 'data');
    await mkdir(dataDirectory, {mode: 0o700});
    const service = await startedService({dataDirectory});
    const key = await service.createKey();
    const broken: string[] = [];
    const tooLarge = await upload(service, key, Buffer.alloc(3 * 1024 * 1024));
    if (tooLarge.status !== 507) broken.push(`more than the disk: ${tooLarge.status}`);
    // Each of them finds room at its start, and together they do not.
    const size = 1_500_000;
    const pair = await Promise.all([rawConnection(service), rawConnection(service)]);
    for (const {socket} of pair) socket.write(uploadHead(service, key, {'Content-Length': size}));
    await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 2);
    for (const {socket} of pair) socket.write(Buffer.alloc(size));
    const answers = await Promise.all(
      pair.map(({text}) => eventually(() => /^HTTP\/1\.1 (\d+) /.exec(text())?.[1])),
    );
    if (!answers.includes('507')) broken.push(`a disk that fills up: ${answers.join(' ')}`);
    for (const {socket} of pair) socket.destroy();
    const stored = answers.filter(status => status === '200').length;
    expect(await service.records()).toHaveLength(stored);
    await eventually(async () => (await namesIn(dataDirectory, 'temporary')).length === 0);
    expect(await namesIn(dataDirectory, 'files')).toHaveLength(stored);
    // The disk is full to the last byte: not even the record finds room.
    await writeFile(join(disk, 'ballast'), Buffer.alloc(4 * 1024 * 1024)).catch(() => {});
    const full = await upload(service, key, image);
    if (full.status !== 507) broken.push(`no byte left: ${full.status}`);
    expect(await readdir(join(dataDirectory, 'temporary'))).toEqual([]);
    expect(await service.records()).toHaveLength(stored);
    return {tried: 3, held: 3 - broken.length, broken};
  },
  cannotMount(),
);
