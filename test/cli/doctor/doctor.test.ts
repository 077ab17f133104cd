import {chmod, mkdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:https';
import {delimiter, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {checkInstallation} from '../../../src/cli/commands/doctor/installation.ts';
import {systemHost} from '../../../src/host.ts';
import {sandboxFor, testKey} from '../../engine/service/program.ts';
import {deadUrl} from '../../engine/service/support.ts';
import {connectedSandbox, denyingWith, embeddedService, unknownKey} from '../../support/embedded.ts';
import {listen, portOf} from '../../support/loopback.ts';
import {fixture, program, sandbox, testedExecutable} from '../../support/media.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {makeCertificate} from '../../support/tls.ts';
import {checkNames, examine, service} from './examine.ts';

describe('media doctor, all well', () => {
  it('the schema names the checks of --json in their order', async () => {
    const page = await readFile(new URL('../../../docs/schemas/doctor.json', import.meta.url), 'utf8');
    expect(page.replaceAll('\n', ' ')).toContain(checkNames.map(name => `\`${name}\``).join(', '));
  });

  it('how it was installed, not in PATH, in PATH, hiding another one, or hidden by it', async () => {
    const box = await sandbox();
    const own =
      testedExecutable === undefined
        ? `a clone, ${dirname(dirname(program))}`
        : `one executable, ${testedExecutable}`;
    const [bin, other] = ['bin', 'other'].map(name => join(box.directory, name)) as [string, string];
    for (const directory of [bin, other]) await mkdir(directory);
    await symlink(testedExecutable ?? program, join(bin, 'media'));
    await writeFile(join(other, 'media'), '#!/bin/sh\n', {mode: 0o755});
    const found = async (...path: string[]) => {
      const {stdout} = await box.run(['doctor', '--json'], {env: {...box.env, PATH: path.join(delimiter)}});
      const {status, message} = JSON.parse(stdout).checks[0];
      return `${status}: ${message}`;
    };
    expect(await found(box.directory)).toBe(`ok: ${own}, not in PATH`);
    expect(await found(bin)).toBe(`ok: ${own}, in PATH as ${bin}/media`);
    expect(await found(bin, other, bin)).toBe(
      `ok: ${own}, in PATH as ${bin}/media, and hides ${other}/media`,
    );
    expect(await found(other, bin)).toBe(`warning: ${own}: another one comes first in PATH, ${other}/media`);
  });

  it('one beside it, whose name begins with its own: another installation', async () => {
    // Two directories above the source, as above the bundle.
    const place = fileURLToPath(new URL('../../../src/cli/commands', import.meta.url));
    const {directory} = await sandbox();
    await writeFile(join(directory, 'media'), '#!/bin/sh\n', {mode: 0o755});
    const {files, ...host} = systemHost();
    const realpath = async (path: string) =>
      path === join(directory, 'media') ? `${place}-old/bin/media.js` : files.realpath(path);
    const hostThere = {...host, env: {PATH: directory}, files: {...files, realpath} as typeof files};
    expect(await checkInstallation(hostThere)).toMatchObject({
      ...{status: 'warning', message: expect.stringContaining(`first in PATH, ${directory}/media`)},
    });
  });

  it('a service and a key: a line a check, exit 0, nothing is uploaded', async () => {
    const {service, key, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['doctor']);
    const {host} = new URL(service.url);
    const [installation = '', ...others] = stdout.split(/(?<=\n)/);
    expect(installation).toMatch(/^(?:ok|warning) +installation +(?:a clone|one executable), \/.*\n$/);
    expect(others.join('')).toBe(
      `ok          configuration  profile default of ${join(sandbox.directory, 'config/config.json')}\n` +
        'skipped     file modes     there is no settings file\n' +
        `ok          base URL       ${service.url}/ (from MEDIA_BASE_URL)\n` +
        'ok          proxy          none\n' +
        'ok          DNS            127.0.0.1 is an IP address\n' +
        `ok          connection     ${host} responds (200 to GET / without the key)\n` +
        'ok          TLS            not used: the base URL is plain http\n' +
        `ok          key            ********${key.slice(-4)}, accepted\n` +
        `ok          upload path    ${service.url}/v1/media/upload accepts uploads (returned 415 for a test request)\n`,
    );
    expect(await service.records()).toEqual([]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).not.toContain(key);
  });

  it('--base-url embedded: exit 0', async () => {
    const {exitCode, failed, found} = await examine(await sandbox(), ['--base-url', 'embedded']);
    expect({exitCode, failed}).toEqual({exitCode: 0, failed: []});
    expect(found('key')).toEqual({check: 'key', status: 'ok', message: 'made for this run, accepted'});
    expect(found('dns').status).toBe('skipped');
  });

  it('a name in place of an address: the addresses that it has', async () => {
    const {service, key} = await embeddedService();
    const box = await sandboxFor(service.url.replace('127.0.0.1', 'localhost'), {MEDIA_API_KEY: key});
    const {found, exitCode} = await examine(box);
    expect(found('dns').message).toMatch(/^localhost is at .*127\.0\.0\.1/);
    expect(exitCode).toBe(0);
  });
});

describe('the settings', () => {
  async function configured(text: string, fileMode: number, directoryMode: number) {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const directory = join(box.directory, 'config');
    await mkdir(directory);
    const origin = new URL(service.url).origin;
    const profile = {'base-url': service.url, key, 'key-origin': origin};
    await writeFile(join(directory, 'config.json'), text || JSON.stringify({profiles: {default: profile}}));
    await chmod(join(directory, 'config.json'), fileMode);
    await chmod(directory, directoryMode);
    return {box, directory};
  }

  it('file and directory open to others: failed once, exit 1, and private from then on', async () => {
    const {box, directory} = await configured('', 0o644, 0o755);
    const first = await examine(box);
    expect(first).toMatchObject({exitCode: 1, failed: [{check: 'file-modes', code: 'config_unusable'}]});
    expect(first.failed[0]?.message).toContain(`${directory} (0755) and ${directory}/config.json (0644)`);
    expect(first.failed[0]?.hint).toContain('replace the key');
    expect((await stat(join(directory, 'config.json'))).mode & 0o777).toBe(0o600);
    const second = await examine(box);
    expect(second).toMatchObject({exitCode: 0, failed: []});
    expect(second.found('file-modes').message).toBe('only you can read the settings');
  });

  it('a speed that no upload would take: exit 1, and where it comes from', async () => {
    const {box} = await configured('', 0o600, 0o700);
    box.env['MEDIA_CONCURRENCY'] = 'many';
    const {failed, exitCode} = await examine(box);
    expect(failed).toMatchObject([
      {
        ...{check: 'configuration', code: 'usage'},
        hint: expect.stringContaining('It comes from MEDIA_CONCURRENCY'),
      },
    ]);
    expect(exitCode).toBe(1);
  });

  it('a private file in an open directory: exit 0', async () => {
    const {box} = await configured('', 0o600, 0o755);
    const {found, exitCode} = await examine(box);
    expect(found('file-modes')).toMatchObject({
      status: 'ok',
      message: 'only you can read the settings',
    });
    expect(exitCode).toBe(0);
  });

  it('a damaged file: exit 1, what depends on it is skipped', async () => {
    const {box} = await configured('{"profiles"', 0o600, 0o700);
    const {failed, found, exitCode} = await examine(box);
    expect(failed).toMatchObject([{check: 'configuration', code: 'config_unusable'}]);
    expect(found('key')).toMatchObject({status: 'skipped', message: 'the settings cannot be used'});
    expect(exitCode).toBe(1);
  });

  it('a home that is no absolute path: the same', async () => {
    const box = await sandbox();
    for (const name of ['MEDIA_CONFIG_DIR', 'XDG_CONFIG_HOME']) delete box.env[name];
    box.env['HOME'] = '.';
    const {failed, exitCode} = await examine(box);
    expect(failed).toMatchObject([{check: 'configuration', code: 'config_unusable'}]);
    expect(exitCode).toBe(1);
  });

  it('a damaged file, which these variables make unnecessary: a warning that says so', async () => {
    const {sandbox: box} = await connectedSandbox();
    await mkdir(join(box.directory, 'config'), {mode: 0o700});
    await writeFile(join(box.directory, 'config/config.json'), '{"profiles":', {mode: 0o600});
    const {found, exitCode} = await examine(box);
    expect(found('configuration')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /config\.json is damaged: it is not valid JSON\. This run ignores it\.$/,
      ),
    });
    expect(exitCode).toBe(0);
  });

  it('a base URL with the path of uploads or of GraphQL: exit 1, and upload refuses it; the right one is named', async () => {
    const hint =
      'It comes from MEDIA_BASE_URL (to remove it: unset MEDIA_BASE_URL). Use https://a.example/media: the rest is added to it.';
    for (const path of ['/v1/media/upload', '/v1/media/upload/', '/graphql']) {
      const box = await sandboxFor(`https://a.example/media${path}`);
      const {failed, exitCode} = await examine(box);
      expect({failed, exitCode}).toMatchObject({
        failed: [{check: 'configuration', code: 'usage', hint: expect.stringContaining('https://a.example')}],
        exitCode: 1,
      });
    }
    const box = await sandboxFor('https://a.example/media/v1/media/upload');
    expect(await box.run(['upload', fixture('photo.png')])).toMatchObject({
      stdout: '',
      stderr: `media: The base URL ends in /v1/media/upload.\n  ${hint}\n`,
      exitCode: 2,
    });
    const stored = await box.run(['config', 'set', 'base-url', 'https://a.example/graphql']);
    expect(stored.stderr).toContain('Use https://a.example: the rest');
    expect(stored.exitCode).toBe(2);
  });

  it('a base URL that is none: exit 1', async () => {
    const {failed, exitCode} = await examine(await sandboxFor('api.example.com'));
    expect(failed).toMatchObject([{check: 'configuration', code: 'usage'}]);
    expect(exitCode).toBe(1);
  });

  it('no base URL: exit 4', async () => {
    const {failed, found, exitCode} = await examine(await sandbox({MEDIA_API_KEY: testKey}));
    expect(failed).toMatchObject([
      {check: 'base-url', code: 'no_key', hint: expect.stringContaining('--base-url')},
    ]);
    expect(found('connection').status).toBe('skipped');
    expect(exitCode).toBe(4);
  });
});

describe('the way to the service', () => {
  it('a host that does not exist: DNS, exit 6', async () => {
    const {failed, found, exitCode} = await examine(await sandboxFor('https://media.invalid'));
    expect(failed).toMatchObject([{check: 'dns', message: expect.stringContaining('media.invalid')}]);
    expect(['host_not_found', 'dns_unavailable']).toContain(failed[0]?.code);
    expect(found('key')).toMatchObject({status: 'skipped', message: 'the service was not reached'});
    expect(exitCode).toBe(6);
  });

  it('a port where nobody listens: connection, exit 6', async () => {
    const {failed, found, exitCode} = await examine(await sandboxFor(await deadUrl()));
    expect(failed).toMatchObject([{check: 'connection', code: 'connection_refused'}]);
    expect(found('dns').status).toBe('ok');
    expect(found('tls').status).toBe('skipped');
    expect(exitCode).toBe(6);
  });

  it('a server that breaks off: connection, exit 1', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.reset();
    });
    const {failed, exitCode} = await examine(await sandboxFor(url));
    expect(failed).toMatchObject([{check: 'connection', code: 'connection_lost'}]);
    expect(exitCode).toBe(1);
  });

  it('a certificate of an unknown authority: TLS, exit 1, --cacert is named and helps', async () => {
    const {certificate: cert, key} = await makeCertificate([{type: 7, ip: '127.0.0.1'}]);
    const server = createServer({key, cert}, (_request, response) =>
      response.end('{"data":{"__typename":"Query"}}'),
    );
    await listen(server);
    const box = await sandboxFor(`https://127.0.0.1:${portOf(server)}`);
    const {failed, found, exitCode} = await examine(box);
    expect(failed).toMatchObject([
      {check: 'tls', code: 'tls_failed', hint: expect.stringContaining('--cacert')},
    ]);
    expect(found('connection').status).toBe('ok');
    expect(exitCode).toBe(1);
    await writeFile(join(box.directory, 'authority.pem'), cert);
    const trusting = await examine(box, ['--cacert', 'authority.pem']);
    expect(trusting).toMatchObject({exitCode: 0, failed: []});
    expect(trusting.found('tls').message).toBe('the certificate is accepted');
  });

  it('plain http to a server that only closes: the https URL to try', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.reset();
    });
    const {host} = new URL(url);
    const {failed, exitCode} = await examine(await sandboxFor(url));
    expect(failed).toMatchObject([
      {
        check: 'connection',
        message: `${host} accepted the connection, then closed it.`,
        hint: expect.stringMatching(
          new RegExp(`may expect https\\. Correct it: MEDIA_BASE_URL=https://${host}$`),
        ),
      },
    ]);
    expect(exitCode).toBe(1);
  });

  it('a proxy variable that is no URL: proxy, exit 1', async () => {
    const box = await sandboxFor('https://media.invalid', {HTTPS_PROXY: 'socks5://127.0.0.1:1080'});
    const {failed, exitCode} = await examine(box);
    expect(failed).toMatchObject([{check: 'proxy', code: 'proxy_failed'}]);
    expect(exitCode).toBe(1);
  });
});

describe('the key', () => {
  it('none: exit 4, the way to the service is checked all the same', async () => {
    const {service} = await embeddedService();
    const {failed, found, exitCode} = await examine(await sandbox({MEDIA_BASE_URL: service.url}));
    expect(failed).toMatchObject([
      {check: 'key', code: 'no_key', hint: expect.stringContaining('media login')},
    ]);
    expect(found('connection').status).toBe('ok');
    expect(exitCode).toBe(4);
  });

  it('an unknown one (401): exit 4; in words, what to do on a line of its own', async () => {
    const {service} = await embeddedService();
    const box = await sandboxFor(service.url);
    const {failed, exitCode, stdout} = await examine(box);
    expect(failed).toMatchObject([{check: 'key', code: 'unauthorized', status: 401}]);
    expect(exitCode).toBe(4);
    expect(stdout).not.toContain(testKey);
    const words = await box.run(['doctor']);
    expect(words.stdout).toContain(
      `failed      key            ${new URL(service.url).host} does not know this API key (401): ${unknownKey(service.url)}\n` +
        '                           The key comes from MEDIA_API_KEY. Set it to a valid key, or store one: ' +
        `unset MEDIA_API_KEY; media login --key-stdin --base-url ${service.url}\n`,
    );
    expect(words.exitCode).toBe(4);
  });

  it.each([
    [403, 'forbidden'],
    [404, 'not_found'],
  ] as const)(
    'one for uploads alone (%i): a warning, exit 0; one that may not upload either: exit 4',
    async (deniedStatus, code) => {
      const {service} = await embeddedService(denyingWith(deniedStatus));
      const forUploads = await service.createKey({permissions: ['upload']});
      const {failed, found, exitCode} = await examine(
        await sandboxFor(service.url, {MEDIA_API_KEY: forUploads}),
      );
      expect({failed, exitCode}).toEqual({failed: [], exitCode: 0});
      expect(found('key')).toMatchObject({
        status: 'warning',
        message: expect.stringContaining(`GraphQL request returned ${deniedStatus}`),
      });
      expect(found('upload-path').status).toBe('ok');
      const forNothing = await service.createKey({permissions: []});
      expect(await examine(await sandboxFor(service.url, {MEDIA_API_KEY: forNothing}))).toMatchObject({
        failed: [{check: 'key', code, status: deniedStatus}],
        exitCode: 4,
      });
    },
  );
});

describe('the upload path', () => {
  it('is asked by a POST with the key, text/plain and a byte that is never sent', async () => {
    const {box, looks} = await service(
      connection => connection.answer(415, '{"code":1,"message":"no"}'),
      '/v',
    );
    const {found, failed, exitCode} = await examine(box);
    expect({failed, exitCode}).toEqual({failed: [], exitCode: 0});
    expect(found('upload-path')).toMatchObject({status: 'ok', message: expect.stringContaining('415')});
    const [request, ...others] = looks();
    expect(others).toEqual([]);
    expect(request?.head[0]).toBe('POST /v/v1/media/upload HTTP/1.1');
    expect(request?.head).toContain(`authorization: Bearer ${testKey}`);
    expect(request?.body).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['https://a.example/elsewhere', 302, ''],
    ['', 404, '<html>no such page</html>'],
    ['', 404, '{"error":"no route"}'],
  ])(
    '%s %i %s: failed, with what to correct where the base URL was named',
    async (location, status, body) => {
      const {box, url} = await service(connection => connection.answer(status, body, {location}), '/prefix');
      const {failed, exitCode} = await examine(box);
      expect(failed).toMatchObject([
        {check: 'upload-path', status, hint: expect.stringMatching(/Correct it: MEDIA_BASE_URL=URL$/)},
      ]);
      expect(failed[0]?.message).toContain(`${url}/prefix/v1/media/upload`);
      expect(exitCode).toBe(status === 404 ? 4 : 1);
      const byFlag = await examine(box, ['--base-url', `${url}/prefix`]);
      expect(byFlag.failed[0]?.hint).toMatch(/Correct it: --base-url URL$/);
    },
  );

  it('the key in the response: not shown', async () => {
    const body = JSON.stringify({code: 1, message: `no ${testKey}`});
    const {box} = await service(connection => connection.answer(404, body));
    const {stdout} = await examine(box);
    expect(stdout).toContain('"status":"warning"');
    expect(stdout).not.toContain(testKey);
  });
});
