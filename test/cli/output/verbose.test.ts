import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {sandboxFor, testKey} from '../../engine/service/program.ts';
import {embeddedService} from '../../support/embedded.ts';
import {exampleService} from '../../support/example-service.ts';
import {fixture, needNode} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';

const photo = fixture('photo.png');

/** The phases that standard error tells of, without their times. */
function phasesOf(stderr: string): string[] {
  return [...stderr.matchAll(/^(connection \d+: .*) \(\d+\.\d ms\)$/gm)].map(match => match[1] ?? '');
}

test('--verbose, a name over plain http: DNS, connect, sent, first byte, response, in this order', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const {port} = new URL(url);
  const box = await sandboxFor(`http://localhost:${port}`);
  const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--verbose', '--template', '{id}\\n']);
  const [lookUp, ...others] = phasesOf(stderr);
  expect(lookUp).toMatch(/^connection 1: DNS: localhost is at .*127\.0\.0\.1/);
  expect(others).toEqual([
    `connection 1: connect: 127.0.0.1 port ${port}`,
    expect.stringMatching(/^connection 1: sent: \d+ bytes$/),
    'connection 1: first byte: 200 to POST /v1/media/upload',
    `connection 1: response: ${someRecord.length} bytes`,
  ]);
  expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
  expect(stderr).not.toContain(testKey);
});

test('--verbose, https through a proxy with a password: the proxy, then TLS; neither password nor key', async () => {
  const {service, key} = await embeddedService();
  const {proxyUrl, certificate} = await exampleService(new URL(service.url), ['api.example.com']);
  const box = await sandboxFor('https://api.example.com', {
    MEDIA_API_KEY: key,
    HTTPS_PROXY: proxyUrl.replace('//', '//user:secret@'),
  });
  await writeFile(join(box.directory, 'authority.pem'), certificate);
  const {stderr, exitCode} = await box.run(['whoami', '-v', '--cacert', 'authority.pem']);
  expect(phasesOf(stderr).slice(0, 5)).toEqual([
    `connection 1: connect: 127.0.0.1 port ${new URL(proxyUrl).port}`,
    expect.stringMatching(/^connection 1: TLS: TLSv1\.3, TLS_\w+$/),
    expect.stringMatching(/^connection 1: sent: \d+ bytes$/),
    'connection 1: first byte: 200 to POST /graphql',
    expect.stringMatching(/^connection 1: response: \d+ bytes$/),
  ]);
  expect(exitCode).toBe(0);
  expect(stderr).not.toContain(key);
  expect(stderr).not.toContain('secret');
});

test('without --verbose: nothing of it', async () => {
  const {service, key} = await embeddedService();
  const box = await sandboxFor(service.url, {MEDIA_API_KEY: key});
  expect(await box.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject({stderr: '', exitCode: 0});
});

describe('the cause of a failure', () => {
  const resetting = () =>
    scriptedServer(async connection => {
      await connection.request(1);
      connection.reset();
    });

  test('a reset, --verbose: beside the failure and beside each retry', async () => {
    const {url} = await resetting();
    const box = await sandboxFor(url);
    const {stderr} = await box.run(['upload', photo, '--verbose', '--on-unknown', 'retry', '--retries', '1']);
    expect(stderr).toMatch(
      /^.*The connection to .* broke\..* Next try in \d+ ms\.\n {2}cause: read ECONNRESET\n/m,
    );
    expect(stderr).toMatch(/^media: The connection to .* broke\..*\n {2}.*\n {2}cause: read ECONNRESET\n$/m);
  });

  test('a reset, --verbose --json: after the line that tells the failure', async () => {
    const {url} = await resetting();
    const {stderr} = await (await sandboxFor(url)).run([
      'upload',
      photo,
      '--verbose',
      '--json',
      '--retries',
      '0',
    ]);
    expect(stderr).toMatch(/^\{"error":.*\}\n {2}cause: read ECONNRESET\n$/m);
  });

  test('a reset, without --verbose: nothing of it', async () => {
    const {url} = await resetting();
    const {stderr} = await (await sandboxFor(url)).run(['upload', photo, '--retries', '0']);
    expect(stderr).toContain('broke.');
    expect(stderr).not.toContain('ECONNRESET');
  });

  test.for([
    [['--verbose'], true],
    [[], false],
  ] as const)('a bug, with %j: its stack is shown is %j', async ([options, isShown], context) => {
    needNode(context);
    const box = await sandboxFor('http://127.0.0.1:9', {NODE_OPTIONS: '--require ./broken.cjs'});
    const broken = "process.hrtime.bigint = () => { throw new TypeError('broken on purpose'); };";
    await writeFile(join(box.directory, 'broken.cjs'), broken);
    const {stderr, exitCode} = await box.run(['upload', photo, ...options]);
    expect(exitCode).toBe(7);
    expect(stderr).toContain('media: Internal error: TypeError: broken on purpose\n');
    expect(/^ +at .*broken\.cjs/m.test(stderr)).toBe(isShown);
  });
});
