import {writeFile} from 'node:fs/promises';
import {createServer as createHttpServer} from 'node:http';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {errorLines, sandboxFor} from '../../engine/service/program.ts';
import {listen, portOf} from '../../support/loopback.ts';
import {fixture} from '../../support/media.ts';
import {someRecord} from '../../support/scripted-server.ts';
import {loopbackNames, makeCertificate, pemFile, tlsService} from '../../support/tls.ts';

const photo = fixture('photo.png');

async function upload(url: string, parameters: string[] = []) {
  return (await sandboxFor(url)).run(['upload', photo, '--retries', '0', ...parameters]);
}

describe('a certificate', () => {
  test('of an unknown authority: tls_failed, exit 1, no request; --cacert is named', async () => {
    const {port, uploads} = await tlsService();
    const {stdout, stderr, exitCode} = await upload(`https://127.0.0.1:${port}`, [
      '--json',
      '--retries',
      '3',
    ]);
    expect({stdout, exitCode, uploads}).toEqual({stdout: '', exitCode: 1, uploads: []});
    const [error, ...others] = errorLines(stderr);
    expect(others).toEqual([]);
    expect(error?.code).toBe('tls_failed');
    expect(error?.message).toMatch(
      /^The TLS certificate of 127\.0\.0\.1:\d+ was not accepted: self-signed certificate\.$/,
    );
    expect(error?.hint).toContain('--cacert FILE');
  });

  test('of an unknown authority, NODE_TLS_REJECT_UNAUTHORIZED=0: no request all the same', async () => {
    const {port, uploads} = await tlsService();
    const box = await sandboxFor(`https://127.0.0.1:${port}`);
    const env = {...box.env, NODE_TLS_REJECT_UNAUTHORIZED: '0'};
    const {stderr, exitCode} = await box.run(['upload', photo, '--retries', '0'], {env});
    expect(stderr).toContain('was not accepted: self-signed certificate.');
    expect({exitCode, uploads}).toEqual({exitCode: 1, uploads: []});
  });

  test.each(['127.0.0.1', 'localhost'])('of an authority named by --cacert, for %s: uploaded', async host => {
    const {port, uploads, certificate} = await tlsService();
    const {stdout, stderr, exitCode} = await upload(`https://${host}:${port}`, [
      '--cacert',
      certificate,
      '--template',
      '{id}\\n',
    ]);
    expect({stdout, stderr, exitCode, uploads}).toEqual({
      stdout: 'm_1\n',
      stderr: '',
      exitCode: 0,
      uploads: ['POST /v1/media/upload'],
    });
  });

  test('of another authority than --cacert names: tls_failed, no request', async () => {
    const [{port, uploads}, {certificate}] = await Promise.all([tlsService(), tlsService()]);
    const {stderr, exitCode} = await upload(`https://127.0.0.1:${port}`, ['--cacert', certificate]);
    expect(stderr).toContain('The TLS certificate of 127.0.0.1');
    expect({exitCode, uploads}).toEqual({exitCode: 1, uploads: []});
  });

  test('for another host name: tls_failed, no request, the name is told', async () => {
    const {port, uploads, certificate} = await tlsService([{type: 2, value: 'other.example'}]);
    const {stdout, stderr, exitCode} = await upload(`https://localhost:${port}`, [
      '--cacert',
      certificate,
      '--json',
    ]);
    expect({stdout, exitCode, uploads}).toEqual({stdout: '', exitCode: 1, uploads: []});
    const [error] = errorLines(stderr);
    expect(error?.code).toBe('tls_failed');
    expect(error?.message).toContain('other.example');
  });

  test('that has expired: tls_failed, no request', async () => {
    const {port, uploads, certificate} = await tlsService(undefined, {
      notBeforeDate: new Date('2001-01-01'),
      notAfterDate: new Date('2001-02-01'),
    });
    const {stderr, exitCode} = await upload(`https://127.0.0.1:${port}`, ['--cacert', certificate]);
    expect(stderr).toContain('was not accepted: certificate has expired.');
    expect({exitCode, uploads}).toEqual({exitCode: 1, uploads: []});
  });
});

describe('--cacert', () => {
  test('of several certificates: each counts, and the text between them does not', async () => {
    const services = [await tlsService(), await tlsService()];
    const bundle = await pemFile('Company CA\r\n', ...services.map(({pem}) => `# ours\n${pem}`));
    for (const {port, uploads} of services) {
      const {exitCode} = await upload(`https://127.0.0.1:${port}`, ['--cacert', bundle]);
      expect({exitCode, uploads}).toEqual({exitCode: 0, uploads: ['POST /v1/media/upload']});
    }
  });

  test.each([
    ['that is missing', undefined, /^media: The PEM file ca\.pem could not be read: ENOENT\.\n$/],
    ['that is a directory', '.', /^media: The PEM file \. could not be read: it is a directory\.\n$/],
    [
      'without PEM text',
      Buffer.from([0x30, 0x82]),
      /^media: ca\.pem contains no certificate in PEM format\.\n {2}Convert it with: openssl x509 -inform der -in ca\.pem -out ca\.pem\.pem\n$/,
    ],
    [
      'that is empty',
      '',
      /^media: ca\.pem is empty\.\n {2}Use a file that contains the certificate as PEM text\.\n$/,
    ],
    [
      'of some other text',
      'hello',
      /^media: ca\.pem contains no certificate in PEM format\.\n {2}Use a file that contains the certificate as PEM text\.\n$/,
    ],
    [
      'whose certificate is damaged',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      /^media: ca\.pem contains a damaged certificate\.\n/,
    ],
  ])('a file %s: exit 2, nothing is sent', async (_, content, message) => {
    const {port, uploads} = await tlsService();
    const machine = await sandboxFor(`https://127.0.0.1:${port}`);
    if (content !== undefined && content !== '.') await writeFile(join(machine.directory, 'ca.pem'), content);
    const parameters = ['upload', photo, '--cacert', content === '.' ? '.' : 'ca.pem'];
    const {stdout, stderr, exitCode} = await machine.run(parameters);
    expect({stdout, exitCode, uploads}).toEqual({stdout: '', exitCode: 2, uploads: []});
    expect(stderr).toMatch(message);
  });
});

describe('a service that sends no intermediate certificate', () => {
  test('its operator is named, with --cacert and without', async () => {
    const {certificate: cert, key} = await makeCertificate(loopbackNames);
    const {port, uploads} = await tlsService(undefined, {issuer: {cert, key}});
    const {certificate} = await tlsService();
    for (const options of [['--cacert', certificate], []]) {
      const {stderr, exitCode} = await upload(`https://127.0.0.1:${port}`, options);
      expect(stderr).toContain('was not accepted: unable to verify the first certificate.\n');
      expect(stderr).toContain(
        'ask the operator of the service to send its intermediate certificates, too.\n',
      );
      expect({exitCode, uploads}).toEqual({exitCode: 1, uploads: []});
    }
  });
});

describe('NODE_EXTRA_CA_CERTS', () => {
  const run = async (url: string, file: string, parameters: string[] = []) =>
    (await sandboxFor(url, {NODE_EXTRA_CA_CERTS: file})).run([
      'upload',
      photo,
      '--retries',
      '0',
      ...parameters,
    ]);

  test('names the authority: uploaded', async () => {
    const {port, uploads, certificate} = await tlsService();
    expect(await run(`https://127.0.0.1:${port}`, certificate)).toMatchObject({exitCode: 0, stderr: ''});
    expect(uploads).toHaveLength(1);
  });

  test('does not count beside --cacert, which names all that there are', async () => {
    const [{port, uploads, certificate}, other] = await Promise.all([tlsService(), tlsService()]);
    const result = await run(`https://127.0.0.1:${port}`, certificate, ['--cacert', other.certificate]);
    expect(result.stderr).toContain('was not accepted');
    expect({exitCode: result.exitCode, uploads}).toEqual({exitCode: 1, uploads: []});
  });
});

test('https:// to a server that speaks plain HTTP: tls_failed, exit 1, the port is doubted', async () => {
  let requests = 0;
  const server = createHttpServer((_, response) => {
    requests += 1;
    response.end(someRecord);
  });
  await listen(server);
  const {stdout, stderr, exitCode} = await upload(`https://127.0.0.1:${portOf(server)}`, ['--json']);
  expect({stdout, exitCode, requests}).toEqual({stdout: '', exitCode: 1, requests: 0});
  expect(errorLines(stderr)).toEqual([
    {
      file: photo,
      code: 'tls_failed',
      message: `127.0.0.1:${portOf(server)} does not speak TLS on this port.`,
      hint: 'Check the port; plain http needs http:// and --allow-http.',
    },
  ]);
});

test('http:// to a server that speaks TLS: nothing is stored, exit 5 or 1, no hang', async () => {
  const {port, uploads} = await tlsService();
  const {stdout, exitCode} = await upload(`http://127.0.0.1:${port}`);
  expect({stdout, uploads}).toEqual({stdout: '', uploads: []});
  expect([1, 5]).toContain(exitCode);
});
