import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, onTestFinished, type TestContext, test} from 'vitest';
import {sandboxFor, testKey} from '../service/program.ts';
import {freePorts} from '../support/free-ports.ts';
import {needPrograms} from '../support/installed.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {type TlsService, tlsService} from '../support/tls.ts';

const photo = fixture('photo.png');

interface ProxyProgram {
  name: 'squid' | 'tinyproxy';
  password: string;
  /** Writes what it needs into the directory; returns its command. It takes media.test for 127.0.0.1. */
  prepare(directory: string, port: number, login: boolean): Promise<string[]>;
}

const user = 'me';

const squid: ProxyProgram = {
  name: 'squid',
  password: 'tr:ick@y/100%',
  async prepare(directory, port, login) {
    const [helper, hosts, file] = ['login.sh', 'hosts', 'squid.conf'].map(name => join(directory, name));
    // A line each login; the percent sign is encoded.
    const expected = `${user} ${squid.password.replace('%', '%25')}`;
    const script = `while read -r line; do [ "$line" = '${expected}' ] && echo OK || echo ERR; done\n`;
    await writeFile(helper as string, script);
    await writeFile(hosts as string, '127.0.0.1 media.test\n');
    const auth = `auth_param basic program /bin/sh ${helper}
auth_param basic realm test
acl known proxy_auth REQUIRED
http_access deny !known
`;
    await writeFile(
      file as string,
      `http_port 127.0.0.1:${port}
hosts_file ${hosts}
${login ? auth : ''}http_access allow localhost
http_access deny all
cache deny all
cache_mem 0
memory_cache_shared off
pid_filename none
access_log none
cache_log ${join(directory, 'log')}
coredump_dir ${directory}
pinger_enable off
shutdown_lifetime 0 seconds
`,
    );
    return ['squid', '-N', '-f', file as string];
  },
};

const tinyproxy: ProxyProgram = {
  name: 'tinyproxy',
  // Its settings take no other characters.
  password: 'tr-ick.y_100',
  async prepare(directory, port, login) {
    // It knows no hosts file of its own, so it asks a squid without login for the connection.
    const [upstream = 0] = await freePorts(1);
    await mkdir(join(directory, 'upstream'));
    await startDaemon(squid, join(directory, 'upstream'), upstream, false);
    const file = join(directory, 'tinyproxy.conf');
    await writeFile(
      file,
      `Port ${port}
Listen 127.0.0.1
Allow 127.0.0.1
Timeout 20
Upstream http 127.0.0.1:${upstream}
${login ? `BasicAuth ${user} ${tinyproxy.password}\n` : ''}LogFile "${join(directory, 'log')}"
`,
    );
    return ['tinyproxy', '-d', '-c', file];
  },
};

async function startDaemon(proxy: ProxyProgram, directory: string, port: number, login: boolean) {
  // Started by root they go on as somebody else, who writes a log here.
  await chmod(directory, 0o777);
  const [program = '', ...parameters] = await proxy.prepare(directory, port, login);
  const daemon = execa(program, parameters, {
    reject: false,
    all: true,
    timeout: 60_000,
  });
  onTestFinished(async () => {
    daemon.kill();
    await daemon;
  });
  let ended: string | undefined;
  void daemon.then(({all}) => {
    ended = all;
  });
  while (!(await accepts(port))) {
    if (ended !== undefined) throw new Error(`${proxy.name} did not start: ${ended}`);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => setTimeout(resolve, 20, false));
  });
}

/** Starts the proxy; returns its host and port. */
async function start(context: TestContext, proxy: ProxyProgram, login: boolean): Promise<string> {
  needPrograms(context, [...new Set([proxy.name, 'squid'] as const)]);
  const [port = 0] = await freePorts(1);
  await startDaemon(proxy, await temporaryDirectory(), port, login);
  return `127.0.0.1:${port}`;
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
  return machine.run(['upload', photo, '--cacert', certificate, '--format', 'id', ...parameters]);
}

const stored = {stdout: 'm_1\n', stderr: '', exitCode: 0};

for (const proxy of [squid, tinyproxy]) {
  describe(`through ${proxy.name}`, {timeout: 90_000}, () => {
    for (const variable of ['HTTPS_PROXY', 'ALL_PROXY']) {
      test(`that ${variable} names: uploaded`, async context => {
        const host = await start(context, proxy, false);
        const media = await service();
        expect(await upload(media, {[variable]: `http://${host}`})).toMatchObject(stored);
        expect(media.authorizations).toEqual([`Bearer ${testKey}`]);
      });
    }

    test('that NO_PROXY takes the host from: not found without it', async context => {
      const host = await start(context, proxy, false);
      const media = await service();
      const env = {HTTPS_PROXY: host, NO_PROXY: `.test:${media.port}`};
      const {stdout, exitCode} = await upload(media, env, ['--retries', '0']);
      expect({stdout, exitCode, uploads: media.uploads}).toEqual({stdout: '', exitCode: 6, uploads: []});
    });

    test('that wants credentials and gets them: uploaded', async context => {
      const host = await start(context, proxy, true);
      const media = await service();
      expect(
        await upload(media, {HTTPS_PROXY: `http://${user}:${encodeURIComponent(proxy.password)}@${host}`}),
      ).toMatchObject(stored);
      expect(media.uploads).toHaveLength(1);
    });

    test('that wants credentials and gets wrong ones or none: proxy_failed, exit 1, none is printed', async context => {
      const host = await start(context, proxy, true);
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
          '  Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.\n',
      );
      expect([wrong.exitCode, none.exitCode, media.uploads]).toEqual([1, 1, []]);
    });

    test('to a port that nothing listens on: the proxy tells, exit 1', async context => {
      const host = await start(context, proxy, false);
      const [port = 0] = await freePorts(1);
      const {stderr, exitCode} = await upload({...(await service()), port}, {HTTPS_PROXY: `http://${host}`});
      expect(stderr).toMatch(
        new RegExp(`^media: The proxy ${host} refused to open a connection \\(50\\d\\)\\.\n`),
      );
      expect(exitCode).toBe(1);
    });
  });
}
