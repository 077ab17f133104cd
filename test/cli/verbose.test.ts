import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {sandboxFor, testKey} from '../service/program.ts';
import {embeddedService} from '../support/embedded.ts';
import {exampleService} from '../support/example-service.ts';
import {fixture} from '../support/media.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');

/** The phases that standard error tells of, without their times. */
function phasesOf(stderr: string): string[] {
  return [...stderr.matchAll(/^(connection \d+: .*) \(\d+\.\d ms\)$/gm)].map(match => match[1] ?? '');
}

test('--verbose, a name over plain http: DNS, connect, sent, first byte, answered, in this order', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const {port} = new URL(url);
  const box = await sandboxFor(`http://localhost:${port}`);
  const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--verbose', '--format', 'id']);
  const [lookUp, ...others] = phasesOf(stderr);
  expect(lookUp).toMatch(/^connection 1: DNS: localhost is at .*127\.0\.0\.1/);
  expect(others).toEqual([
    `connection 1: connect: 127.0.0.1 port ${port}`,
    expect.stringMatching(/^connection 1: sent: \d+ bytes$/),
    'connection 1: first byte: 200 to POST /v1/media/upload',
    `connection 1: answered: ${someRecord.length} bytes`,
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
    expect.stringMatching(/^connection 1: answered: \d+ bytes$/),
  ]);
  expect(exitCode).toBe(0);
  expect(stderr).not.toContain(key);
  expect(stderr).not.toContain('secret');
});

test('without --verbose: nothing of it', async () => {
  const {service, key} = await embeddedService();
  const box = await sandboxFor(service.url, {MEDIA_API_KEY: key});
  expect(await box.run(['upload', photo, '--format', 'id'])).toMatchObject({stderr: '', exitCode: 0});
});
