import {createPrivateKey} from 'node:crypto';
import {connect, createServer as createTcpServer} from 'node:net';
import {createServer} from 'node:tls';
import {describe, expect, test} from 'vitest';
import {sandboxFor, testKey} from '../../../engine/service/program.ts';
import {listen, portOf} from '../../../support/loopback.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {loopbackNames, makeCertificate, pemFile, type TlsService, tlsService} from '../../../support/tls.ts';

const photo = fixture('photo.png');

const mine = await makeCertificate([{type: 2, value: 'me.example'}]);
const strange = await makeCertificate([{type: 2, value: 'you.example'}]);
const passphrase = 'opens the key';
const encryptedKey = createPrivateKey(mine.key).export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase,
}) as string;

/** A service that takes `mine` and no other certificate; `maxVersion` says how a refusal comes. */
function strictService(maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3') {
  return tlsService(loopbackNames, {requestCert: true, ca: mine.certificate, maxVersion, resets: false});
}

/**
 * A far service: what it receives after the client's first bytes comes to it only with the request, so that its alert comes after
 * that, too.
 */
async function farAway(service: TlsService): Promise<TlsService & {connections: () => number}> {
  let connections = 0;
  const server = createTcpServer(client => {
    connections += 1;
    const upstream = connect(service.port, '127.0.0.1');
    let held = Buffer.alloc(0);
    client
      .once('data', hello => {
        upstream.write(hello);
        client.on('data', bytes => {
          held = Buffer.concat([held, bytes]);
          // The end of a handshake without a certificate is far shorter than the photo.
          if (held.length < 2_000) return;
          upstream.write(held);
          held = Buffer.alloc(0);
        });
      })
      .on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).pipe(client);
  });
  await listen(server);
  return {...service, port: portOf(server), connections: () => connections};
}

async function upload(
  {port, certificate}: Pick<TlsService, 'port' | 'certificate'>,
  env: Record<string, string>,
  parameters: string[] = [],
) {
  const machine = await sandboxFor(`https://127.0.0.1:${port}`, env);
  return machine.run(['upload', photo, '--cacert', certificate, '--template', '{id}\\n', ...parameters]);
}

const stored = {stdout: 'm_1\n', stderr: '', exitCode: 0};

describe('a service that asks for a certificate', () => {
  test.each([
    ['one file of both', async () => ({MEDIA_CLIENT_CERT: await pemFile(mine.key, mine.certificate)})],
    [
      'one file that goes on with the certificates of its authorities',
      async () => ({MEDIA_CLIENT_CERT: await pemFile(mine.key, mine.certificate, strange.certificate)}),
    ],
    [
      'a file each',
      async () => ({
        MEDIA_CLIENT_CERT: await pemFile(mine.certificate),
        MEDIA_CLIENT_KEY: await pemFile(mine.key),
      }),
    ],
    [
      'an encrypted key and its passphrase',
      async () => ({
        MEDIA_CLIENT_CERT: await pemFile(mine.certificate),
        MEDIA_CLIENT_KEY: await pemFile(encryptedKey),
        MEDIA_CLIENT_KEY_PASSPHRASE: passphrase,
      }),
    ],
  ])('gets that of the environment: %s', async (_, environment) => {
    const service = await strictService();
    expect(await upload(service, await environment())).toMatchObject(stored);
    expect(service.uploads).toEqual(['POST /v1/media/upload']);
  });

  test('gets that of the profile, whose paths are kept whole', async () => {
    const {port, uploads, certificate} = await strictService();
    const machine = await sandbox({MEDIA_API_KEY: testKey});
    for (const [name, value] of [
      ['base-url', `https://localhost:${port}`],
      ['cacert', certificate],
      ['client-cert', await pemFile(mine.certificate)],
      ['client-key', await pemFile(mine.key)],
    ] as const) {
      expect(await machine.run(['config', 'set', name, value])).toMatchObject({exitCode: 0});
    }
    // A key of the environment belongs to a certificate of the environment.
    machine.env['MEDIA_CLIENT_KEY'] = await pemFile(strange.key);
    expect((await machine.run(['config', 'list'])).stdout).toMatch(
      /^client-key=.*\(from profile default\)$/m,
    );
    expect(await machine.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject(stored);
    const elsewhere = await machine.run(['upload', photo, '--base-url', `https://127.0.0.1:${port}`]);
    expect(elsewhere.stderr).toContain('The TLS connection was refused by 127.0.0.1');
    expect(elsewhere.exitCode).toBe(1);
    expect(uploads).toHaveLength(1);
    // And a key of the profile belongs to a certificate of the profile.
    await machine.run(['config', 'set', 'client-key', machine.env['MEDIA_CLIENT_KEY']]);
    delete machine.env['MEDIA_CLIENT_KEY'];
    machine.env['MEDIA_CLIENT_CERT'] = await pemFile(mine.certificate, mine.key);
    expect((await machine.run(['config', 'list'])).stdout).not.toContain('client-key=');
    expect(await machine.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject(stored);
  });

  test('gets it inside the tunnel of a proxy over TLS, which does not get it', async () => {
    const service = await tlsService([{type: 2, value: 'media.invalid'}], {
      requestCert: true,
      ca: mine.certificate,
    });
    const proxy = await makeCertificate(loopbackNames);
    const shown: unknown[] = [];
    const server = createServer(
      {
        key: proxy.key,
        cert: proxy.certificate,
        ca: mine.certificate,
        requestCert: true,
        rejectUnauthorized: false,
      },
      socket => {
        shown.push(socket.getPeerCertificate().subject);
        socket
          .on('error', () => {})
          .once('data', () => {
            const upstream = connect(service.port, '127.0.0.1', () => {
              socket.write('HTTP/1.1 200 OK\r\n\r\n');
              upstream.pipe(socket).pipe(upstream);
            }).on('error', () => socket.destroy());
          });
      },
    );
    await listen(server);
    const machine = await sandboxFor('https://media.invalid', {
      HTTPS_PROXY: `https://localhost:${portOf(server)}`,
      MEDIA_CLIENT_CERT: await pemFile(mine.certificate, mine.key),
    });
    const authorities = await pemFile(service.pem, proxy.certificate);
    const result = await machine.run(['upload', photo, '--cacert', authorities, '--template', '{id}\\n']);
    expect(result).toMatchObject(stored);
    expect(service.uploads).toHaveLength(1);
    expect(shown).toEqual([undefined]);
  });

  test.each([
    ['TLSv1.3', 'certificate required'],
    ['TLSv1.2', 'handshake failure'],
  ] as const)(
    'and gets none, over %s: tls_failed, exit 1, once; the setting is named',
    async (version, alert) => {
      const service = await strictService(version);
      const {stdout, stderr, exitCode} = await upload(service, {}, ['--retries', '3']);
      expect({stdout, stderr, exitCode, uploads: service.uploads}).toEqual({
        stdout: '',
        stderr:
          `media: The TLS connection was refused by 127.0.0.1:${service.port}: ${alert}.\n` +
          '  If it requires a client certificate, set MEDIA_CLIENT_CERT to its file, or the setting client-cert.\n',
        exitCode: 1,
        uploads: [],
      });
    },
  );

  test('and gets none, and says so only after the request was sent: tls_failed all the same, and not unknown', async () => {
    const service = await farAway(await strictService());
    const {stdout, stderr, exitCode} = await upload(service, {}, ['--retries', '3']);
    expect({stdout, stderr, exitCode, connections: service.connections(), uploads: service.uploads}).toEqual({
      stdout: '',
      stderr: expect.stringMatching(/^media: The TLS connection was refused by .*: certificate required\.\n/),
      exitCode: 1,
      connections: 1,
      uploads: [],
    });
  });
});

describe('a client certificate that could be shown to nobody: exit 2, no connection', () => {
  const damagedKey = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

  test.each([
    [
      'without a key',
      [mine.certificate],
      undefined,
      {},
      /contains no private key in PEM format\.\n.*setting client-key, to the file that contains it\./,
    ],
    [
      'with the key of another',
      [mine.certificate],
      strange.key,
      {},
      /does not belong to the first certificate in/,
    ],
    ['with a damaged key', [mine.certificate], damagedKey, {}, /The private key in .* could not be read\./],
    [
      'with an encrypted key alone',
      [mine.certificate],
      encryptedKey,
      {},
      /The private key in .* could not be read\.\n.*If it is encrypted, set MEDIA_CLIENT_KEY_PASSPHRASE/,
    ],
    [
      'with a wrong passphrase',
      [mine.certificate],
      encryptedKey,
      {MEDIA_CLIENT_KEY_PASSPHRASE: 'no such words'},
      /The private key in .* could not be read\./,
    ],
    [
      'with a damaged one of an authority',
      [mine.certificate, strange.certificate.replace(/^(?:.*\n){3}/, '-----BEGIN CERTIFICATE-----\n')],
      mine.key,
      {},
      /contains a damaged certificate\./,
    ],
    ['in no PEM file', ['hello'], mine.key, {}, /contains no certificate in PEM format\./],
  ] as const)('%s', async (_, certificate, key, more, message) => {
    let connections = 0;
    const server = createTcpServer(socket => {
      connections += 1;
      socket.destroy();
    });
    await listen(server);
    const machine = await sandboxFor(`https://127.0.0.1:${portOf(server)}`, {
      MEDIA_CLIENT_CERT: await pemFile(...certificate),
      ...(key === undefined ? {} : {MEDIA_CLIENT_KEY: await pemFile(key)}),
      ...more,
    });
    const {stdout, stderr, exitCode} = await machine.run(['upload', photo]);
    expect({stdout, exitCode, connections}).toEqual({stdout: '', exitCode: 2, connections: 0});
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/no such words|BEGIN/);
  });

  test('a damaged key: its own variable is named, not that of the certificate', async () => {
    const machine = await sandboxFor('https://127.0.0.1:1', {
      MEDIA_CLIENT_CERT: await pemFile(mine.certificate),
      MEDIA_CLIENT_KEY: await pemFile(damagedKey),
    });
    const {stderr} = await machine.run(['upload', photo]);
    expect(stderr).toContain('It comes from MEDIA_CLIENT_KEY (to remove it: unset MEDIA_CLIENT_KEY).');
    expect(stderr).not.toContain('MEDIA_CLIENT_CERT');
  });

  test('a missing file', async () => {
    const machine = await sandboxFor('https://127.0.0.1:1', {MEDIA_CLIENT_CERT: 'gone.pem'});
    expect(await machine.run(['upload', photo])).toMatchObject({
      stderr:
        'media: The PEM file gone.pem could not be read: ENOENT.\n' +
        '  It comes from MEDIA_CLIENT_CERT (to remove it: unset MEDIA_CLIENT_CERT).\n',
      exitCode: 2,
    });
  });
});
