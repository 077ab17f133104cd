import {describe, expect, type TestContext, test} from 'vitest';
import {sandboxFor, testKey} from '../../../engine/service/program.ts';
import {deadPort} from '../../../support/free-ports.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {
  missingProxy,
  type ProxyProgram,
  type ProxyRule,
  squid,
  startProxy,
  tinyproxy,
  user,
} from '../../../support/proxy-programs.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {type TlsService, tlsService} from '../../../support/tls.ts';

const photo = fixture('photo.png');

/** Starts the proxy; returns its host and port. */
async function start(context: TestContext, proxy: ProxyProgram, rule: ProxyRule = 'none'): Promise<string> {
  const missing = missingProxy(proxy);
  if (missing !== undefined) notRun(context, missing);
  return startProxy(proxy, rule);
}

function service(): Promise<TlsService> {
  return tlsService([{type: 2, value: 'media.test'}]);
}

async function upload(
  {port, certificate}: TlsService,
  env: Record<string, string>,
  parameters: string[] = [],
) {
  const machine = await sandboxFor(`https://media.test:${port}`, env);
  return machine.run(['upload', photo, '--cacert', certificate, '--template', '{id}\\n', ...parameters]);
}

const stored = {stdout: 'm_1\n', stderr: '', exitCode: 0};

for (const proxy of [squid, tinyproxy]) {
  describe(`through ${proxy.name}`, () => {
    for (const variable of ['HTTPS_PROXY', 'ALL_PROXY']) {
      test(`that ${variable} names: uploaded`, async context => {
        const host = await start(context, proxy);
        const media = await service();
        expect(await upload(media, {[variable]: `http://${host}`})).toMatchObject(stored);
        expect(media.authorizations).toEqual([`Bearer ${testKey}`]);
      });
    }

    test('that opens tunnels for https only: plain http is uploaded through it, from a key and a login too', async context => {
      const {url, requests} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(200, someRecord);
      });
      for (const rule of ['no tunnel', 'login'] as const) {
        const host = await start(context, proxy, rule);
        const login = rule === 'login' ? `${user}:${encodeURIComponent(proxy.password)}@` : '';
        const machine = await sandboxFor(url.replace('127.0.0.1', 'media.test'), {
          HTTP_PROXY: `http://${login}${host}`,
        });
        const run = await machine.run(['upload', photo, '--allow-http', '--template', '{id}\\n']);
        expect(run).toMatchObject(stored);
      }
      expect(requests.map(({head}) => head[0])).toEqual(requests.map(() => 'POST /v1/media/upload HTTP/1.1'));
      expect(requests).toHaveLength(2);
      expect(requests.flatMap(({head}) => head).join('\n')).not.toMatch(/proxy-authorization/i);
    });

    test('that NO_PROXY takes the host from: not found without it', async context => {
      const host = await start(context, proxy);
      const media = await service();
      const env = {HTTPS_PROXY: host, NO_PROXY: `.test:${media.port}`};
      const {stdout, exitCode} = await upload(media, env, ['--retries', '0']);
      expect({stdout, exitCode, uploads: media.uploads}).toEqual({stdout: '', exitCode: 6, uploads: []});
    });

    test('that wants credentials and gets them: uploaded', async context => {
      const host = await start(context, proxy, 'login');
      const media = await service();
      expect(
        await upload(media, {HTTPS_PROXY: `http://${user}:${encodeURIComponent(proxy.password)}@${host}`}),
      ).toMatchObject(stored);
      expect(media.uploads).toHaveLength(1);
    });

    test('that wants credentials and gets wrong ones or none: proxy_failed, exit 1, none is printed', async context => {
      const host = await start(context, proxy, 'login');
      const media = await service();
      const wrong = await upload(media, {HTTPS_PROXY: `http://${user}:wr0ng@${host}`}, ['--verbose']);
      expect(wrong.stderr).toMatch(
        new RegExp(
          `^media: The proxy ${host} does not accept the credentials in the proxy variable \\(40[17]\\)\\.\n`,
          'm',
        ),
      );
      expect(wrong.stderr).not.toContain('wr0ng');
      const none = await upload(media, {HTTPS_PROXY: `http://${host}`});
      expect(none.stderr).toBe(
        `media: The proxy ${host} asks for credentials (407).\n` +
          '  Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT\n',
      );
      expect([wrong.exitCode, none.exitCode, media.uploads]).toEqual([1, 1, []]);
    });

    test('to a port that nothing listens on: the proxy tells, exit 1', async context => {
      const host = await start(context, proxy);
      const port = await deadPort();
      const {stderr, exitCode} = await upload({...(await service()), port}, {HTTPS_PROXY: `http://${host}`}, [
        '--retries',
        '0',
      ]);
      expect(stderr).toMatch(
        new RegExp(`^media: The proxy ${host} refused to open a connection \\(50\\d\\)\\.\n`),
      );
      expect(exitCode).toBe(1);
    });
  });
}
