import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, mediaCommand, type Sandbox, sandbox} from '../../../support/media.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';
import {silentServer} from '../../../support/silent-peers.ts';

const key = 'mk_some-key-for-tests';

const silent = /did not respond (in time|within 0\.2 s)/;

/** Commands that ask a service something, and the text that reports that it does not respond. */
const questions: [name: string, parameters: string[], input: string | undefined, exitCode: number][] = [
  ['graphql', ['graphql', '{__typename}'], undefined, 1],
  ['whoami', ['whoami'], undefined, 1],
  ['login', ['login', '--key-stdin'], key, 1],
];

test.each(questions)(
  'media %s --timeout, of a service that accepts connections and is silent: ends, and says so',
  async (_name, parameters, input, exitCode) => {
    const {port} = await silentServer();
    const box = await sandbox({MEDIA_BASE_URL: `http://127.0.0.1:${port}`});
    if (input === undefined) box.env['MEDIA_API_KEY'] = key;
    const options = input === undefined ? {} : {stdin: 'pipe' as const, input};
    const ended = await box.start([...parameters, '--timeout', '200ms'], options);
    expect(ended).toMatchObject({exitCode});
    expect(ended.stdout + ended.stderr).toMatch(silent);
  },
);

test('--timeout is 30 s by default, and must be a duration', async () => {
  const {sandbox: box} = await connectedSandbox();
  for (const command of ['graphql', 'whoami', 'login']) {
    expect((await box.run([command, '--help'])).stdout).toMatch(/--timeout <duration>[^-]*30s/);
    expect((await box.run([command, '--timeout', '0s'])).exitCode).toBe(2);
  }
  expect((await box.run(['graphql', '{__typename}', '--timeout', '1m'])).exitCode).toBe(0);
});

/** Runs a command whose standard input never ends. */
function fed(box: Sandbox, parameters: string[]) {
  return execa('sh', ['-c', 'exec "$@" < /dev/zero', 'sh', ...mediaCommand, ...parameters], {
    ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, timeout: patienceMs},
  });
}

test('inputs without an end: read as far as such a text may reach, then refused', slowTest, async () => {
  const {sandbox: box, service} = await connectedSandbox();
  await copyFile(fixture('photo.png'), join(box.directory, 'a.png'));
  await box.run(['upload', 'a.png', '--journal', 'j']);
  const {MEDIA_API_KEY: _key, ...keyless} = box.env;
  const cases: [parameters: string[], exitCode: number, env?: Record<string, string>][] = [
    [['graphql', '{__typename}', '-F', 'a=@/dev/zero'], 2],
    [['graphql', '--input', '/dev/zero'], 2],
    [['graphql', '-'], 2],
    [['graphql', '--input', '-'], 2],
    [['login', '--key-stdin'], 2, keyless],
    [['upload', 'a.png', '--files-from', '/dev/zero'], 2],
    [['journal', 'resolve', 'j', '--all', '--uploaded-from', '/dev/zero'], 1],
    [['serve', '--port', '0'], 1, {...box.env, MEDIA_SERVE_KEY_FILE: '/dev/zero'}],
    [['whoami', '--cacert', '/dev/zero'], 2],
    [['whoami'], 2, {...box.env, MEDIA_CLIENT_CERT: '/dev/zero'}],
  ];
  for (const [parameters, exitCode, env = box.env] of cases) {
    const {stderr, ...ended} = await fed({...box, env} as Sandbox, parameters);
    expect({parameters, exitCode: ended.exitCode, stderr}).toMatchObject({
      exitCode,
      stderr: expect.stringMatching(/^media: .*(too )?long/),
    });
  }
  expect(await service.records()).toHaveLength(1);
});
