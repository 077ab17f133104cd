import {describe, expect, it} from 'vitest';
import {sandboxFor, testKey} from '../../../engine/service/program.ts';
import {deadUrl} from '../../../engine/service/support.ts';
import {embeddedService} from '../../../support/embedded.ts';
import {sandbox} from '../../../support/media.ts';
import {isUploadLook, type ScriptedConnection, scriptedServer} from '../../../support/scripted-server.ts';
import {examine, service} from '../examine.ts';

describe('the way to the service', () => {
  it.each([
    [403, 'refused to open a connection'],
    [407, 'does not accept the credentials'],
  ])('a proxy that answers %i: proxy, exit 1, its password is not shown', async (status, sentence) => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(status);
    });
    const proxy = url.replace('//', '//user:secret@');
    const box = await sandboxFor('https://media.invalid', {HTTPS_PROXY: proxy});
    const {failed, found, exitCode, stdout} = await examine(box);
    expect(failed).toMatchObject([
      {check: 'proxy', code: 'proxy_failed', message: expect.stringContaining(sentence)},
    ]);
    expect(found('dns')).toMatchObject({status: 'skipped', message: 'the proxy looks up media.invalid'});
    expect(stdout).not.toContain('secret');
    expect(exitCode).toBe(1);
  });

  it('a proxy that does not listen, or that does not exist: proxy, exit 6, no word of DNS', async () => {
    const box = await sandboxFor('https://media.invalid', {HTTPS_PROXY: await deadUrl()});
    const {failed, found, exitCode} = await examine(box);
    expect(failed).toMatchObject([{check: 'proxy', code: 'connection_refused'}]);
    expect(found('dns').status).toBe('skipped');
    expect(exitCode).toBe(6);
    const lost = await sandboxFor('https://media.invalid', {HTTPS_PROXY: 'http://proxy.invalid'});
    expect(await examine(lost)).toMatchObject({failed: [{check: 'proxy'}], exitCode: 6});
  });

  it('plain http to a port for TLS, and a server that wants a client certificate: TLS, exit 1', async () => {
    const answering = async (body: string) => {
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(400, body);
      });
      return {url, ...(await examine(await sandboxFor(url)))};
    };
    const plain = await answering('Client sent an HTTP request to an HTTPS server.\n');
    const {host} = new URL(plain.url);
    expect(plain).toMatchObject({
      exitCode: 1,
      failed: [
        {
          check: 'tls',
          code: 'tls_failed',
          message: `${host} expects https: "Client sent an HTTP request to an HTTPS server".`,
          hint: `Correct it: MEDIA_BASE_URL=https://${host}`,
        },
      ],
    });
    expect(plain.found('upload-path').status).toBe('skipped');
    const certificate = await answering(
      '<html>\r\n<head><title>400 No required SSL certificate was sent</title></head>\r\n',
    );
    expect(certificate).toMatchObject({
      exitCode: 1,
      failed: [
        {
          check: 'tls',
          code: 'tls_failed',
          message: expect.stringContaining('"400 No required SSL certificate was sent"'),
          hint: expect.stringContaining('MEDIA_CLIENT_CERT'),
        },
      ],
    });
  });
});

describe('the key', () => {
  it.each([
    ['a web page', 200, '<html>'],
    ['a redirect', 302, ''],
    ['an error', 500, '{"code":1,"message":"broken"}'],
  ])('%s in place of a GraphQL response: exit 1, the base URL is doubted', async (_name, status, body) => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(status, body, {location: 'https://elsewhere.example/'});
    });
    const {failed, exitCode} = await examine(await sandboxFor(url));
    expect(failed[0]).toMatchObject({
      check: 'key',
      code: 'unexpected_response',
      hint: expect.stringContaining('base URL'),
    });
    expect(exitCode).toBe(1);
  });
});

describe('the upload path', () => {
  it.each([
    [
      404,
      '{"code":5,"message":"no such thing"}',
      /"no such thing".*permission.* or the base URL may be wrong/,
    ],
    [403, '', /permission.* or the base URL may be wrong/],
    [200, '<html>welcome</html>', /200, "welcome", for a test request: the base URL may be wrong/],
    [400, 'Bad Request\n', /400, "Bad Request", for a test request: a proxy or another program/],
    [
      413,
      '<title>413 Request Entity Too Large</title>',
      /413, "413 Request Entity Too Large", for .* another program/,
    ],
  ])('%i %s: a warning, exit 0', async (status, body, sentence) => {
    const {box} = await service(connection => connection.answer(status, body));
    const {found, failed, exitCode} = await examine(box);
    expect({failed, exitCode}).toEqual({failed: [], exitCode: 0});
    expect(found('upload-path')).toEqual({
      check: 'upload-path',
      status: 'warning',
      message: expect.stringMatching(sentence),
    });
  });

  it.each([
    ['no answer', () => {}, 'no response within 3 s'],
    ['a connection that breaks', (connection: ScriptedConnection) => connection.reset(), 'no response'],
    ['a 503', (connection: ScriptedConnection) => connection.answer(503), '503'],
  ])('%s: not verified, exit 0', async (_name, look, reason) => {
    const {box} = await service(look);
    const {found, failed, exitCode} = await examine(box);
    expect({failed, exitCode}).toEqual({failed: [], exitCode: 0});
    expect(found('upload-path')).toMatchObject({status: 'unverified'});
    expect(found('upload-path').message).toContain('not verified: ');
    expect(found('upload-path').message).toContain(reason);
  });

  it('a stored key and a wrong path in the profile: the command that corrects it', async () => {
    const {url} = await service(connection => {
      const isWrong = connection.received.toString().startsWith('POST /prefix/');
      connection.answer(isWrong ? 404 : 415, isWrong ? 'nothing' : '{"code":1,"message":"no"}');
    });
    const box = await sandbox();
    const login = await box.run(
      ['login', '--profile', 'work', '--base-url', `${url}/prefix`, '--key-stdin'],
      {stdin: 'pipe', input: testKey},
    );
    expect(login.stderr).toContain(
      `warning: Nothing accepts uploads at ${url}/prefix/v1/media/upload (404).`,
    );
    expect(login.exitCode).toBe(0);
    const wrong = await examine(box, ['--profile', 'work']);
    expect(wrong.failed).toMatchObject([{check: 'upload-path', code: 'not_found', status: 404}]);
    const command = wrong.failed[0]?.hint?.split(': ').at(-1) ?? '';
    expect(command).toBe('media config set base-url URL --profile work');
    const words = command.replace('URL', url).split(' ').slice(1);
    expect(await box.run(words)).toMatchObject({exitCode: 0});
    expect(await examine(box, ['--profile', 'work'])).toMatchObject({exitCode: 0, failed: []});
  });

  it('the embedded service under a prefix, 404 with an error record: doctor and login warn', async () => {
    const {service: embedded, key} = await embeddedService();
    const url = `${embedded.url}/prefix`;
    const {found, exitCode} = await examine(await sandboxFor(url, {MEDIA_API_KEY: key}));
    expect(found('upload-path').status).toBe('warning');
    expect(exitCode).toBe(0);
    const box = await sandbox();
    const parameters = ['login', '--base-url', url, '--key-stdin'];
    const login = await box.run(parameters, {stdin: 'pipe', input: key});
    expect(login.stderr).toContain(`warning: ${url}/v1/media/upload returned 404`);
    expect(login.exitCode).toBe(0);
  });

  it('through a proxy: the same', async () => {
    const {url} = await scriptedServer(async connection => {
      const isLook = isUploadLook(await connection.request());
      connection.answer(isLook ? 404 : 200, isLook ? 'nothing' : '{"data":{"__typename":"Query"}}');
    });
    const box = await sandboxFor('http://media.invalid', {HTTP_PROXY: url});
    const {failed} = await examine(box, ['--allow-http']);
    expect(failed).toMatchObject([
      {check: 'upload-path', code: 'not_found', message: expect.stringContaining('http://media.invalid/')},
    ]);
  });
});
