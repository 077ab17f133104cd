import {mkdir, writeFile} from 'node:fs/promises';
import type {Socket} from 'node:net';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {errorLines, failedUpload, sandboxFor, testKey} from '../../../engine/service/program.ts';
import {
  answerText,
  deadUrl,
  mebibyte,
  type Sink,
  sinkServer,
  unbufferable,
  writeSparsePng,
} from '../../../engine/service/support.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, sandbox, temporaryDirectory} from '../../../support/media.ts';
import {
  isUploadLook,
  type Script,
  scriptedServer,
  someRecord,
  uploadsIn,
} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');
const errorRecord = '{"code":4711,"message":"Not like this"}';

/** Answers when the whole request has come. */
function whole(
  status: number,
  body: string | Buffer = errorRecord,
  headers: Record<string, string> = {},
): Script {
  return async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  };
}

function scripted(...scripts: Script[]) {
  return () => scriptedServer(...scripts);
}

/** Takes the whole request and says nothing until the client ends. */
const silent: Script = async connection => {
  await connection.request();
  connection.socket.on('end', () => connection.socket.end());
};

/** Writes these bytes when the whole request has come, then ends the connection. */
function raw(text: string): Script {
  return async connection => {
    await connection.request();
    connection.socket.end(text);
  };
}

/** A file so big that the server is sure to act before the last byte is sent. */
async function bigFile(): Promise<string> {
  return writeSparsePng(await temporaryDirectory(), 'big.png', unbufferable);
}

/** Reads the head and `bytes` of the body, acts, and reads what is left once the upload has ended. */
function interrupting(bytes: number, act: (socket: Socket) => void): () => Promise<Sink> {
  return () => sinkServer({pauseAfter: bytes, onPaused: act});
}

/** Expects that every request ended before its last byte. */
async function expectNoneWhole(sinks: Sink[]): Promise<void> {
  for (const sink of sinks) sink.resume();
  const requests = sinks.flatMap(sink => sink.requests);
  await eventually(() => requests.every(({closed}) => closed));
  for (const {bodyBytes, contentLength} of requests) expect(bodyBytes).toBeLessThan(contentLength);
}

describe('a refusal with an error record', () => {
  test.each([
    [401, 'unauthorized', 4, 'HOST does not know this API key (401): Not like this.', 'media login'],
    [
      403,
      'forbidden',
      4,
      'HOST returned 403: Not like this.',
      'Check that the key may upload and that the base URL (from MEDIA_BASE_URL) is right.',
    ],
    [
      404,
      'not_found',
      4,
      'HOST returned 404: Not like this.',
      'Check that the key may upload and that the base URL (from MEDIA_BASE_URL) is right.',
    ],
    [400, 'rejected', 1, 'HOST refused the request (400): Not like this.', undefined],
    [409, 'rejected', 1, 'HOST refused the request (409): Not like this.', undefined],
    [411, 'rejected', 1, 'HOST refused the request (411): Not like this.', 'Content-Length'],
    [413, 'rejected', 1, 'HOST refused the request (413): Not like this.', undefined],
    [415, 'rejected', 1, 'HOST refused the request (415): Not like this.', '--content-type'],
    [422, 'rejected', 1, 'HOST refused the request (422): Not like this.', undefined],
    [429, 'rate_limited', 1, 'HOST received too many requests (429): Not like this.', '--retries'],
    [503, 'service_unavailable', 1, 'HOST is unavailable (503): Not like this.', '--retries'],
  ])('%i: %s, exit %i', async (status, code, exit, message, hint) => {
    const {exitCode, error, servers} = await failedUpload(scripted(whole(status)), photo);
    expect({exitCode, error}).toEqual({
      exitCode: exit,
      error: {
        code,
        message,
        status,
        serviceCode: 4711,
        ...(hint === undefined ? {} : {hint: expect.stringContaining(hint)}),
      },
    });
    expect(servers.map(({requests}) => requests.length)).toEqual([1, 1]);
  });
});

describe('a refusal without an error record', () => {
  test.each<[string, number, string | Buffer, string, string]>([
    [
      '401 and HTML',
      401,
      '<html>Login</html>',
      'unauthorized',
      'HOST does not know this API key (401): "Login".',
    ],
    [
      '403 and nothing',
      403,
      '',
      'forbidden',
      'HOST returned 403: the key lacks permission, or the base URL is wrong.',
    ],
    [
      '404 and HTML',
      404,
      '<html>nginx</html>',
      'not_found',
      'HOST returned 404: the key lacks permission, or the base URL is wrong ("nginx").',
    ],
    [
      '413 and HTML',
      413,
      '<html>nginx</html>',
      'rejected',
      'HOST refused the request (413): the file is larger than it accepts ("nginx").',
    ],
    [
      '415 and an array',
      415,
      '[]',
      'rejected',
      'HOST refused the request (415): it does not accept this content type.',
    ],
    [
      '400 and 2 MiB',
      400,
      `{"code":1,"message":"${'a'.repeat(2 * mebibyte)}"}`,
      'rejected',
      `HOST refused the request (400): "{"code":1,"message":"${'a'.repeat(279)}".`,
    ],
    [
      '400 and bytes that are no UTF-8',
      400,
      Buffer.from([0xff, 0xfe, 0x00, 0xc3]),
      'rejected',
      'HOST refused the request (400).',
    ],
  ])('%s', async (_, status, body, code, message) => {
    const {exitCode, error} = await failedUpload(scripted(whole(status, body)), photo);
    expect({exitCode, error}).toEqual({
      exitCode: status <= 404 && status > 400 ? 4 : 1,
      error: {code, message, status, ...(error.hint === undefined ? {} : {hint: error.hint})},
    });
    if (status === 403 || status === 404) expect(error.hint).toContain('it may come from a proxy in between');
  });

  test('an error record with a byte order mark, a message that is no UTF-8 and control characters', async () => {
    const body = Buffer.concat([
      Buffer.from('\ufeff{"code":1,"message":"a\\u001b[31m\\n'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const {url} = await scriptedServer(whole(400, body));
    const {stderr} = await (await sandboxFor(url)).run(['upload', photo, '--retries', '0']);
    expect(stderr).toBe(`media: ${new URL(url).host} refused the request (400): a\\u001b[31m\\n\ufffd.\n`);
  });
});

describe('a redirect is not followed', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`${status}: exit 1, names the host, sends it nothing`, async () => {
      let connections = 0;
      const target = await scriptedServer(() => {
        connections += 1;
      });
      const location = `${target.url}/v1/media/upload?token=secret`;
      const {exitCode, error, servers} = await failedUpload(scripted(whole(status, '', {location})), photo);
      expect({exitCode, code: error.code, status: error.status}).toEqual({
        exitCode: 1,
        code: 'redirected',
        status,
      });
      expect(error.message).toContain(`redirects to ${new URL(target.url).host} (${status})`);
      expect(error.message).not.toContain('secret');
      expect(error.hint).toContain(`set it with --base-url ${new URL(target.url).origin}`);
      expect(servers.map(({requests}) => requests.length)).toEqual([1, 1]);
      expect(connections).toBe(0);
    });
  }

  test('302 without a Location: exit 1', async () => {
    const {exitCode, error} = await failedUpload(scripted(whole(302, '')), photo);
    expect({exitCode, code: error.code}).toEqual({exitCode: 1, code: 'redirected'});
    expect(error.message).toContain('another URL');
  });
});

describe('429 and 503 are tried again', () => {
  test.each([
    [429, 'rate_limited'],
    [503, 'service_unavailable'],
  ])('%i with Retry-After: 0 for ever, --retries 3: 4 requests, then %s', async (status, code) => {
    const {exitCode, error, servers} = await failedUpload(
      scripted(whole(status, errorRecord, {'retry-after': '0'})),
      photo,
      ['--retries', '3'],
    );
    expect({exitCode, code: error.code, status: error.status}).toEqual({exitCode: 1, code, status});
    expect(error.message).toContain('(Attempt 4 of 4.)');
    expect(servers.map(({requests}) => requests.length)).toEqual([4, 4]);
  });

  test('429 with Retry-After in seconds, then 200: waits so long, then stores', async () => {
    const {url, requests} = await scriptedServer(
      whole(429, '', {'retry-after': '1'}),
      whole(200, someRecord),
    );
    const machine = await sandboxFor(url);
    const {stdout, stderr, exitCode} = await machine.run([
      'upload',
      photo,
      '--template',
      '{id}\\n',
      '--verbose',
    ]);
    expect(stderr).toContain('Next try in 1000 ms.');
    expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
    expect(requests).toHaveLength(2);
  });

  test('429 with a Retry-After of a day: ends at once, the time in the message', async () => {
    const {exitCode, error, servers} = await failedUpload(
      scripted(whole(429, errorRecord, {'retry-after': '86400'})),
      photo,
      ['--retries', '3'],
    );
    expect({exitCode, code: error.code}).toEqual({exitCode: 1, code: 'rate_limited'});
    expect(error.message).toMatch(/ It asks to wait 24 hours\.$/);
    expect(error.hint).toBe('Try again then, or add --retry-max-wait 86400s.');
    expect(servers.map(({requests}) => requests.length)).toEqual([1, 1]);
  });

  test('503 with an error record, Retry-After as a date an hour away, --deadline 6s: waits no longer than the deadline', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    const {url, requests} = await scriptedServer(whole(503, errorRecord, {'retry-after': inAnHour}));
    const machine = await sandboxFor(url);
    const {stderr, exitCode} = await machine.run([
      'upload',
      photo,
      '--deadline',
      '6s',
      '--retry-max-wait',
      '2h',
      '--verbose',
    ]);
    const wait = Number(/Next try in (\d+) ms/.exec(stderr)?.[1]);
    expect(wait).toBeGreaterThan(3_500_000);
    expect(wait).toBeLessThanOrEqual(3_600_000);
    expect(stderr).toContain('is unavailable (503)');
    expect(exitCode).toBe(1);
    expect(requests).toHaveLength(1);
  });
});

describe('after the last byte, the outcome is unknown', () => {
  const sent = 'The whole file had been sent, so it may or may not be stored.';
  const answered = (problem: string, status = 200) =>
    `HOST returned ${status}, but the response was ${problem}. ${sent}`;

  test.each<[string, Script, string]>([
    ['200 and text', whole(200, 'Stored, thank you.'), answered('not JSON')],
    ['200 and nothing', whole(200, ''), answered('empty')],
    ['200 and HTML', whole(200, '<!doctype html><html></html>'), answered('not JSON')],
    ['200 and an array', whole(200, `[${someRecord}]`), answered('not a JSON object')],
    ['200 without an id', whole(200, '{"type":"IMAGE"}'), answered('without an id')],
    ['200 with an empty id', whole(200, '{"id":""}'), answered('without an id')],
    ['200 and bytes that are no UTF-8', whole(200, Buffer.from([0xff, 0xfe, 0xfd])), answered('not JSON')],
    [
      '200 and a record of more than 1 MiB',
      whole(200, `{"id":"m_1","x":"${'a'.repeat(mebibyte)}"}`),
      answered('longer than 1 MiB'),
    ],
    [
      '200 nested 100,000 deep',
      whole(200, `{"id":"m_1","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      answered('nested too deeply'),
    ],
    ['204', raw('HTTP/1.1 204 No Content\r\n\r\n'), answered('empty', 204)],
    [
      '200 cut short',
      raw(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${someRecord}`),
      answered('cut off'),
    ],
    [
      '200 cut short in its chunks',
      raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n${someRecord}`),
      answered('cut off'),
    ],
    [
      '200 with a chunk longer than it says',
      raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n${someRecord}`),
      answered('not valid HTTP/1.1: Expected LF after chunk data'),
    ],
    [
      '200 with two lengths',
      raw('HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 13\r\n\r\n{"id":"m_1"} '),
      `HOST sent a response with two lengths. ${sent}`,
    ],
    [
      'a head that is cut short',
      raw('HTTP/1.1 200 OK\r\nContent-Le'),
      `The connection to HOST broke. ${sent}`,
    ],
    ['garbage instead of HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), `HOST did not respond in HTTP. ${sent}`],
    [
      'a head of 400 KiB',
      raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(400 * 1024)}\r\n\r\n`),
      `HOST sent header fields of more than 300 KiB. ${sent}`,
    ],
    ['a FIN', raw(''), `The connection to HOST broke. ${sent}`],
    [
      'a reset',
      async connection => {
        await connection.request();
        connection.reset();
      },
      `The connection to HOST broke. ${sent}`,
    ],
    ['no answer, --timeout 300ms', silent, `HOST did not respond within 300 ms of the last byte. ${sent}`],
    [
      'the head of a response, then nothing',
      async connection => {
        await connection.request();
        connection.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
        connection.socket.on('end', () => connection.socket.end());
      },
      `HOST did not respond within 300 ms of the last byte. ${sent}`,
    ],
  ])('%s: exit 5', async (_, script, message) => {
    const parameters = message.includes('300 ms') ? ['--timeout', '300ms'] : [];
    const {exitCode, error, servers} = await failedUpload(scripted(script), photo, [
      ...parameters,
      '--retries',
      '3',
    ]);
    expect({exitCode, code: error.code, message: error.message}).toEqual({
      exitCode: 5,
      code: 'outcome_unknown',
      message,
    });
    // Where a response came that cannot be read, others would be like it: the file would be stored again and again.
    const isReadable = /connection to HOST broke|did not respond within/.test(message);
    if (isReadable) expect(error.hint).toContain('--on-unknown retry');
    else {
      expect(error.hint).toMatch(/^Check whether the service has the file, and do not send it again before/);
      expect(error.hint).not.toContain('--on-unknown');
    }
    expect(servers.map(({requests}) => uploadsIn(requests).length)).toEqual([1, 1]);
  });

  test('60 cookies, 250 KiB of header fields: read like any other, also when asked without a file', async () => {
    const cookies = Array.from({length: 60}, (_, n) => `Set-Cookie: c${n}=${'x'.repeat(4_200)}\r\n`).join('');
    const {url, requests} = await scriptedServer(async connection => {
      const isLook = isUploadLook(await connection.request());
      if (requests.length === 1) return connection.reset();
      const head = `HTTP/1.1 ${isLook ? 400 : 200} Status\r\nAccept-Idempotency-Key: ?1\r\n${cookies}`;
      connection.socket.end(`${head}Content-Length: ${someRecord.length}\r\n\r\n${someRecord}`);
    });
    const box = await sandboxFor(url);
    const {stdout, exitCode} = await box.run(['upload', photo, '--template', '{id}\\n']);
    expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
    expect(requests.map(isUploadLook)).toEqual([false, true, false]);
  });

  test.each([
    ['HTML', '<html>Service Unavailable</html>', {}],
    ['HTML and Retry-After, as Varnish answers', '<html>Guru Meditation</html>', {'retry-after': '5'}],
    ['JSON without a code', '{"message":"upstream request timeout"}', {}],
    ['a code that is no whole number', '{"code":"503","message":"Busy."}', {}],
  ])(
    '503 with %s: may be a gateway whose service still stores the file, exit 5',
    async (_, body, headers) => {
      const {exitCode, error, servers} = await failedUpload(scripted(whole(503, body, headers)), photo, [
        ...['--retries', '3'],
      ]);
      expect({exitCode, code: error.code, status: error.status}).toEqual({
        exitCode: 5,
        code: 'outcome_unknown',
        status: 503,
      });
      expect(error.hint).toContain(
        'A gateway that limits requests should return 429, which is retried. If it limits how many it takes at a time, send fewer: -c 8',
      );
      expect(servers.map(({requests}) => uploadsIn(requests).length)).toEqual([1, 1]);
    },
  );

  test.each([408, 500, 502, 504])('%i: exit 5, with a word on gateways', async status => {
    const {exitCode, error, servers} = await failedUpload(scripted(whole(status)), photo, ['--retries', '3']);
    expect({exitCode, error}).toEqual({
      exitCode: 5,
      error: {
        code: 'outcome_unknown',
        message: `HOST failed (${status}): Not like this. ${sent} A gateway that responds like this has often stored nothing.`,
        status,
        serviceCode: 4711,
        hint: expect.stringContaining('Check whether the service has the file'),
      },
    });
    expect(servers.map(({requests}) => uploadsIn(requests).length)).toEqual([1, 1]);
  });

  test('stored, but the response is lost, then 502, --on-unknown retry: stored once', async () => {
    const list = ['upload:reset,after=store,nth=1', 'upload:status=502,record=no,after=body,nth=2'];
    const {service, sandbox: machine} = await connectedSandbox({faults: {list}});
    const run = await machine.run(['upload', photo, '--on-unknown', 'retry', '--template', '{id}\\n']);
    const records = await service.records();
    expect(run).toMatchObject({stdout: `${records[0]?.record.id}\n`, stderr: '', exitCode: 0});
    expect(records).toHaveLength(1);
    expect(service.faults?.counts()).toMatchObject([{matched: 3, applied: 1}, {applied: 1}]);
  });

  test('--on-unknown retry, and the retries end with a refusal: still unknown, exit 5', async () => {
    const {exitCode, error} = await failedUpload(scripted(raw(''), whole(415)), photo, [
      '--on-unknown',
      'retry',
      '--retries',
      '1',
    ]);
    expect({exitCode, code: error.code}).toEqual({exitCode: 5, code: 'outcome_unknown'});
    // It has that option.
    expect(error.hint).not.toContain('--on-unknown');
  });

  test('--on-unknown retry, and each attempt ends in the same way: the message says it once', async () => {
    const options = ['--on-unknown', 'retry', '--retries', '1'];
    const {error} = await failedUpload(scripted(whole(502), whole(502)), photo, options);
    expect(error.message.match(/502/g)).toHaveLength(1);
    expect(error.message).not.toContain('The last attempt');
  });

  test.each([
    ['keys are honoured: waits, and the record of the first attempt comes', 'honoured', [], 0, 'm_1\n', 3],
    ['--on-unknown retry, keys not honoured: unknown', undefined, ['--on-unknown', 'retry'], 5, '', 2],
  ] as const)('then 409, %s', async (_, keys, options, exitCode, stdout, count) => {
    const {url, requests} = await scriptedServer(raw(''), whole(409), whole(200, someRecord));
    const machine = await sandbox({MEDIA_API_KEY: testKey});
    await mkdir(join(machine.directory, 'config'), {mode: 0o700});
    const profile = {'base-url': url, 'idempotency-keys': keys};
    await writeFile(
      join(machine.directory, 'config/config.json'),
      JSON.stringify({profiles: {default: profile}}),
      {mode: 0o600},
    );
    const run = await machine.run(['upload', photo, '--template', '{id}\\n', ...options]);
    expect(run).toMatchObject({stdout, exitCode});
    expect(uploadsIn(requests)).toHaveLength(count);
  });

  test('without a retry: the files that follow are uploaded all the same', async () => {
    const list = ['upload:status=502,after=body,nth=1'];
    const {service, sandbox: machine} = await connectedSandbox({faults: {list}, idempotency: false});
    const files = [photo, fixture('photo.jpg')];
    const {stdout, stderr, exitCode} = await machine.run(['upload', '-c', '1', ...files, '--ndjson']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line).status)).toEqual(['unknown', 'uploaded']);
    expect(lines.map(line => JSON.parse(line).error?.code)).toEqual(['outcome_unknown', undefined]);
    expect(stderr).toMatch(/^media: .*photo\.png/);
    expect((await service.records()).map(({contentType}) => contentType)).toEqual(['image/jpeg']);
    expect(exitCode).toBe(5);
  });
});

describe('while bytes are held back, the upload is tried again', () => {
  test.each<[string, (socket: Socket) => void, string, string]>([
    ['a reset', socket => socket.resetAndDestroy(), 'connection_lost', 'The connection to HOST broke.'],
    ['a FIN', socket => socket.end(), 'connection_lost', 'The connection to HOST broke.'],
    ['garbage', socket => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'not_http', 'HOST did not respond in HTTP.'],
    [
      '408',
      socket => socket.end(answerText(408, errorRecord)),
      'service_failed',
      'HOST failed (408): Not like this.',
    ],
    [
      '500',
      socket => socket.end(answerText(500, errorRecord)),
      'service_failed',
      'HOST failed (500): Not like this.',
    ],
    ['502', socket => socket.end(answerText(502, '<html>')), 'service_failed', 'HOST failed (502).'],
  ])('%s', async (_, act, code, message) => {
    const start = interrupting(mebibyte, act);
    const {exitCode, error, servers} = await failedUpload(start, await bigFile(), ['--retries', '1']);
    expect({exitCode, code: error.code, message: error.message}).toEqual({
      exitCode: 1,
      code,
      message: `${message} (Attempt 2 of 2.)`,
    });
    expect(servers.map(({requests}) => requests.length)).toEqual([2, 2]);
    await expectNoneWhole(servers);
  });

  test('a reset, then 200: stored, exit 0', async () => {
    const sink = await sinkServer({
      pauseAfter: mebibyte,
      onPaused: socket => {
        socket.resetAndDestroy();
        sink.resume();
      },
    });
    const machine = await sandboxFor(sink.url);
    const {stdout, stderr, exitCode} = await machine.run([
      'upload',
      await bigFile(),
      '--template',
      '{id}\\n',
    ]);
    expect({stdout, stderr, exitCode}).toEqual({stdout: 'm_1\n', stderr: '', exitCode: 0});
    expect(sink.requests).toHaveLength(2);
    expect(sink.requests[1]?.bodyBytes).toBe(unbufferable);
  });

  test('a server that stops reading, --timeout 500ms: stalled', async () => {
    const file = await bigFile();
    const {url, requests} = await sinkServer({pauseAfter: 1});
    const machine = await sandboxFor(url);
    const parameters = ['--json', '--retries', '1', '--timeout', '500ms'];
    const {stdout, stderr, exitCode} = await machine.run(['upload', file, ...parameters]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(errorLines(stderr)).toEqual([
      {
        file,
        code: 'stalled',
        message: `${new URL(url).host} accepted no more data for 500 ms. (Attempt 2 of 2.)`,
        hint: expect.stringContaining('--timeout'),
      },
    ]);
    expect(requests).toHaveLength(2);
  });
});

describe('a response before the last byte', () => {
  for (const [where, bytes] of [
    ['the head', 0],
    ['a quarter', unbufferable / 4],
  ] as const) {
    test.each([
      [401, 'unauthorized', 4],
      [403, 'forbidden', 4],
      [413, 'rejected', 1],
      [500, 'service_failed', 1],
      [200, 'premature_response', 1],
    ])(`after ${where}: %i: %s, exit %i, the last byte is never sent`, async (status, code, exit) => {
      const answer = answerText(status, status === 200 ? someRecord : errorRecord);
      const start = interrupting(bytes, socket => socket.end(answer));
      const {exitCode, error, servers} = await failedUpload(start, await bigFile());
      expect({exitCode, code: error.code, status: error.status}).toEqual({exitCode: exit, code, status});
      expect(servers.map(({requests}) => requests.length)).toEqual([1, 1]);
      await expectNoneWhole(servers);
    });
  }
});

test('--deadline while bytes are held back: deadline_exceeded, exit 1, the last byte is never sent', async () => {
  const start = interrupting(0, () => {});
  const {exitCode, error, servers} = await failedUpload(start, await bigFile(), ['--deadline', '6s']);
  expect({exitCode, error}).toEqual({
    exitCode: 1,
    error: {
      code: 'deadline_exceeded',
      message: 'The deadline of this run has passed.',
      hint: 'Allow more time with --deadline.',
    },
  });
  await expectNoneWhole(servers);
});

describe('no connection', () => {
  test('ECONNREFUSED, --retries 1: tried again, then connection_refused, exit 6', async () => {
    const url = await deadUrl();
    const machine = await sandboxFor(url);
    const parameters = ['upload', photo, '--retries', '1'];
    const [words, json] = await Promise.all([
      machine.run(parameters),
      machine.run([...parameters, '--json']),
    ]);
    const message = `Nothing is listening at ${new URL(url).host}: the connection was refused. (Attempt 2 of 2.)`;
    const hint = 'Check the host and the port, and that the service is running.';
    expect(words).toMatchObject({stdout: '', stderr: `media: ${message}\n  ${hint}\n`, exitCode: 6});
    expect(json).toMatchObject({stdout: '', exitCode: 6});
    expect(errorLines(json.stderr)).toEqual([{file: photo, code: 'connection_refused', message, hint}]);
  });

  test('a host under .invalid: exit 6', async () => {
    const machine = await sandboxFor('https://media.invalid');
    const {stdout, stderr, exitCode} = await machine.run(['upload', photo, '--json', '--retries', '0']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 6});
    const [error] = errorLines(stderr);
    // Machines without any resolver say "try again" instead of "no such host".
    expect(['host_not_found', 'dns_unavailable']).toContain(error?.code);
    expect(error?.message).toContain('media.invalid');
  });
});
