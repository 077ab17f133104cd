import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {type ErrorLine, errorLines, sandboxFor, testKey} from '../../../engine/service/program.ts';
import {fixture} from '../../../support/media.ts';
import {type Script, scriptedServer} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');

/** Answers when the whole request has come. */
function answering(status: number, body: string, headers: Record<string, string> = {}): Script {
  return async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  };
}

/** What is told of an upload for each of these peers, with HOST for the peer. */
async function told(scripts: readonly Script[], scheme = 'http'): Promise<ErrorLine[]> {
  const {url} = await scriptedServer(...scripts);
  const box = await sandboxFor(url.replace('http', scheme));
  const errors: ErrorLine[] = [];
  for (const _ of scripts) {
    const {stderr} = await box.run(['upload', photo, '--retries', '0', '--json', '--on-unknown', 'hold']);
    errors.push(...errorLines(stderr.replaceAll(new URL(url).host, 'HOST')));
  }
  return errors;
}

test('the key in pieces, as .github/SECURITY.md says: none of 12 characters in an error, all of them in a record', async () => {
  const pieces = [testKey.slice(0, 12), testKey.slice(4, 16), testKey.slice(-12)];
  const record = (more: object) => JSON.stringify({id: 'm_1', ...more});
  const {url} = await scriptedServer(
    answering(400, JSON.stringify({error: {code: 3, message: pieces.join(' ')}})),
    answering(200, record({pieces})),
    answering(200, record({whole: [testKey, Buffer.from(testKey).toString('base64')]})),
  );
  const box = await sandboxFor(url);
  const upload = () => box.run(['upload', photo, '--retries', '0', '--json']);
  expect((await upload()).stderr).toContain('[secret] [secret] [secret]');
  expect(JSON.parse((await upload()).stdout)).toMatchObject({pieces});
  expect(JSON.parse((await upload()).stdout)).toMatchObject({
    whole: ['[secret]', expect.stringContaining('[secret]')],
  });
});

const nginxPage = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n`;

test('a refusal without an error record: what a reader would see of the body, redacted, cleaned and cut', async () => {
  const bodies: [number, string, string][] = [
    [
      400,
      'Client sent an HTTP request to an HTTPS server.\n',
      'refused the request (400): "Client sent an HTTP request to an HTTPS server".',
    ],
    [
      400,
      nginxPage('400 No required SSL certificate was sent'),
      'refused the request (400): "400 No required SSL certificate was sent".',
    ],
    [
      413,
      nginxPage('413 Request Entity Too Large'),
      'refused the request (413): the file is larger than it accepts ("413 Request Entity Too Large").',
    ],
    [
      404,
      '<title>Error</title><style>p {}</style><pre>Cannot POST /v1/media/upload</pre>',
      'returned 404: the key lacks permission, or the base URL is wrong ("Error Cannot POST /v1/media/upload").',
    ],
    [
      422,
      '{"type":"about:blank","title":"No credit","detail":"Your balance is 30."}',
      'refused the request (422): "Your balance is 30".',
    ],
    [422, '{"title":"No credit","status":422}', 'refused the request (422): "No credit".'],
    [
      422,
      '{"detail":[{"loc":["body"],"msg":"field required"}]}',
      'refused the request (422): "field required".',
    ],
    [400, '{"error":{"code":3,"message":"Not like this"}}', 'refused the request (400): "Not like this".'],
    [
      400,
      '{"errors":[{"message":"The first"},{"message":"The second"}]}',
      'refused the request (400): "The first".',
    ],
    [
      400,
      `a\u001b[0m\u202e b\n${testKey} Basic bWU6cGFzcw== ${'x'.repeat(5_000)}`,
      `refused the request (400): "a [0m b [secret] Basic [secret] ${'x'.repeat(268)}".`,
    ],
    [500, '<h1>Out of\n order</h1>', 'failed (500): "Out of order".'],
  ];
  const errors = await told(bodies.map(([status, body]) => answering(status, body)));
  expect(errors.map(({message}) => message.replace(/ The whole file had been sent.*/, ''))).toEqual(
    bodies.map(([, , message]) => `HOST ${message}`),
  );
});

test('what a page says: on standard error only, not in annotations, and files are grouped without it', async () => {
  let count = 0;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    count += 1;
    const body = `No such tenant (request ${count} of id-4711) ${'y'.repeat(400)} ${testKey} the end`;
    connection.answer(400, body);
  });
  const {host} = new URL(url);
  const box = await sandboxFor(url, {GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: 'summary'});
  const summary = join(box.directory, 'summary');
  await writeFile(summary, '');
  const files = [photo, fixture('photo.jpg')];
  const command = ['upload', ...files, '-c', '1', '--journal', 'a.journal', '--ci'];
  const {stderr} = await box.run(command);
  expect(stderr).toContain(
    `media: 2 files: ${host} refused the request (400): "No such tenant (request 1 of id-4711)`,
  );
  const annotations = stderr.split('\n').filter(line => line.startsWith('::error'));
  expect(annotations).toHaveLength(2);
  const stored = [summary, join(box.directory, 'a.journal')].map(file => readFile(file, 'utf8'));
  const kept = [...annotations, ...(await Promise.all(stored))].join('\n');
  expect(kept).toContain('refused the request');
  expect(kept).not.toContain('tenant');
  const {stderr: all} = await box.run(['upload', photo, '--verbose']);
  expect(all).toMatch(/^response body: No such tenant \(request 3 of id-4711\) y{400} \[secret\] the end$/m);
  expect(all).not.toContain(testKey);
});

test('a redirect on the same host, and credentials that a gateway wants: told as such, with what helps', async () => {
  const redirect = (location: string) => answering(301, '', {location});
  const errors = await told([
    redirect('/v1/media/upload/'),
    redirect('../../login?next=secret'),
    redirect('/api/v1/media/upload'),
    redirect('http://other.invalid/v1/media/upload'),
    redirect('file:///v1/media/upload'),
    redirect('javascript:alert(1)'),
    answering(401, '<h1>Staging</h1>', {'www-authenticate': 'Basic realm="staging"'}),
    answering(401, '', {'www-authenticate': 'Bearer'}),
  ]);
  const after = 'redirects are not followed, and the key is sent nowhere else.';
  expect(errors.map(({code, message, hint}) => [code, message, hint])).toEqual([
    [
      'redirected',
      `HOST redirects to the same URL with a slash at its end (301); ${after}`,
      expect.stringContaining('accept uploads at /v1/media/upload, without the slash'),
    ],
    [
      'redirected',
      `HOST redirects to /login on the same host (301); ${after}`,
      expect.stringContaining('login'),
    ],
    [
      'redirected',
      `HOST redirects to /api/v1/media/upload on the same host (301); ${after}`,
      'If that is the service, set it with --base-url http://HOST/api',
    ],
    [
      'redirected',
      `HOST redirects to other.invalid (301); ${after}`,
      'If that is the service, set it with --base-url http://other.invalid --allow-http',
    ],
    [
      'redirected',
      `HOST redirects to another URL (301); ${after}`,
      expect.stringContaining('Check the base URL'),
    ],
    [
      'redirected',
      `HOST redirects to another URL (301); ${after}`,
      expect.stringContaining('Check the base URL'),
    ],
    [
      'unauthorized',
      'A gateway in front of HOST asks for a user name and a password (401): "Staging".',
      expect.stringContaining('operator of the gateway'),
    ],
    ['unauthorized', 'HOST does not know this API key (401).', expect.stringContaining('MEDIA_API_KEY')],
  ]);
});

test.each(['login', 'doctor', 'whoami'])(
  'media %s: a gateway is not taken for the service either',
  async command => {
    const {url} = await scriptedServer(answering(401, '', {'www-authenticate': 'Basic realm="x"'}));
    const box = await sandboxFor(url, command === 'login' ? {MEDIA_API_KEY: ''} : {});
    const options = command === 'login' ? {stdin: 'pipe' as const, input: testKey} : {};
    const parameters = command === 'login' ? ['--key-stdin'] : [];
    const {stdout, stderr, exitCode} = await box.run([command, ...parameters], options);
    expect(stdout + stderr).toContain('ask the operator of the gateway');
    expect(stdout + stderr).not.toContain('does not know');
    expect(exitCode).toBe(4);
  },
);

test('a TLS alert: no fault of a certificate, in words of ours', async () => {
  const alert =
    (number: number): Script =>
    ({socket}) =>
      void socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, number])));
  const cases: [number, string][] = [
    [112, 'HOST does not serve this host name over TLS.'],
    [70, 'HOST offers neither TLS 1.2 nor TLS 1.3.'],
    [120, 'HOST does not speak HTTP/1.1 on this port, perhaps only HTTP/2.'],
    [80, 'HOST ended the TLS handshake: internal error.'],
    [116, 'The TLS connection was refused by HOST: certificate required.'],
  ];
  const errors = await told(
    cases.map(([number]) => alert(number)),
    'https',
  );
  expect(errors.map(({message}) => message)).toEqual(cases.map(([, message]) => message));
  expect(errors.map(({code}) => code)).toEqual(cases.map(() => 'tls_failed'));
});

test('what is not HTTP/1.1: named, and unknown all the same after the whole file', async () => {
  const raw =
    (text: string): Script =>
    async connection => {
      await connection.request();
      connection.socket.end(text, 'latin1');
    };
  const cases: [string, string][] = [
    ['SSH-2.0-OpenSSH_9.6\r\n', 'HOST did not respond in HTTP.'],
    ['\x15\x03\x01\0\x02\x02\x28', 'HOST responded in TLS: its URL begins with https://.'],
    ['\0\0\0\x04\0\0\0\0\0', 'HOST responded in HTTP/2, not in HTTP/1.1.'],
    [
      'HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
      'HOST switched to another protocol, which was not asked for.',
    ],
    [
      'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}',
      'HOST sent a response that is not valid HTTP/1.1: Missing expected CR after response line.',
    ],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      'HOST sent a response with two lengths.',
    ],
    [`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(400_000)}\r\n\r\n`, 'HOST sent header fields of more than 300 KiB.'],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
      'HOST returned 200, but the response was not valid HTTP/1.1: Invalid character in chunk size.',
    ],
    [
      'HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 2\r\n\r\n{}',
      'HOST returned 200, but the response was encoded as zstd, which could not be decoded.',
    ],
  ];
  const errors = await told(cases.map(([text]) => raw(text)));
  const sent = ' The whole file had been sent, so it may or may not be stored.';
  expect(errors.map(({code, message}) => [code, message])).toEqual(
    cases.map(([, message]) => ['outcome_unknown', message + sent]),
  );
});

test.each(['doctor', 'whoami', 'graphql'])('media %s: names HTTP/2', async command => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.socket.end('\0\0\0\x04\0\0\0\0\0');
  });
  const query = command === 'graphql' ? ['{a}'] : [];
  const {stdout, stderr} = await (await sandboxFor(url)).run([command, ...query]);
  expect(stdout + stderr).toContain('responded in HTTP/2, not in HTTP/1.1');
});
