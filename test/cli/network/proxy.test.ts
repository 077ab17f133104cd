import {connect, createServer, type Socket} from 'node:net';
import {describe, expect, onTestFinished, test} from 'vitest';
import {errorLines, sandboxFor, testKey} from '../../engine/service/program.ts';
import {deadUrl} from '../../engine/service/support.ts';
import {listen, portOf, urlOf} from '../../support/loopback.ts';
import {fixture} from '../../support/media.ts';
import {isUploadLook, scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {tlsService} from '../../support/tls.ts';

const photo = fixture('photo.png');

/** What a proxy does with one request; `join` joins the connection to the service, by a tunnel after CONNECT. */
type Reply = (socket: Socket, head: string, join: () => void) => void;

/** A proxy that takes every host for the service at `port`; `heads` are the requests that it got, the first of each connection. */
async function someProxy(port: number, reply: Reply = (_socket, _head, join) => join()) {
  const heads: string[] = [];
  const server = createServer(socket => {
    let received = '';
    socket.on('error', () => {}).on('data', onHead);
    function onHead(bytes: Buffer): void {
      received += bytes.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      socket.off('data', onHead);
      heads.push(received.slice(0, received.indexOf('\r\n\r\n') + 4));
      reply(socket, received, () => {
        const service = connect(port, '127.0.0.1', () => {
          if (received.startsWith('CONNECT')) socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
          else service.write(received, 'latin1');
          service.pipe(socket).pipe(service);
        });
        socket.on('close', () => service.destroy());
        service.on('error', () => socket.destroy());
      });
    }
  });
  await listen(server);
  return {url: urlOf(server), host: `127.0.0.1:${portOf(server)}`, heads};
}

async function service() {
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  return {port: Number(new URL(url).port), url, requests};
}

async function upload(baseUrl: string, env: Record<string, string>, parameters: string[] = []) {
  const machine = await sandboxFor(baseUrl, env);
  return machine.run([
    'upload',
    photo,
    '--allow-http',
    '--retries',
    '0',
    '--template',
    '{id}\\n',
    ...parameters,
  ]);
}

const stored = {stdout: 'm_1\n', stderr: '', exitCode: 0};

describe('loopback never goes through a proxy', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]'])('%s', async host => {
    const {requests, url} = await service();
    let base = url.replace('127.0.0.1', host);
    if (host === '[::1]') {
      const server = createServer(socket => {
        socket
          .on('error', () => {})
          .pipe(connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}))
          .pipe(socket);
      });
      await new Promise<void>(resolve => {
        server.listen(0, '::1', resolve);
      });
      onTestFinished(() => {
        server.close();
      });
      base = `http://[::1]:${portOf(server)}`;
    }
    const dead = await deadUrl();
    const everyProxy = Object.fromEntries(
      ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'].map(name => [
        name,
        dead,
      ]),
    );
    expect(await upload(base, everyProxy)).toMatchObject(stored);
    expect(requests).toHaveLength(1);
  });
});

describe('a host that is not loopback', () => {
  test('https://media.invalid with HTTPS_PROXY: a tunnel, in which the certificate of media.invalid counts', async () => {
    const {port, authorizations, certificate} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const proxy = await someProxy(port);
    const result = await upload('https://media.invalid/api', {HTTPS_PROXY: proxy.url}, [
      '--cacert',
      certificate,
    ]);
    expect(result).toMatchObject(stored);
    expect(authorizations).toEqual([`Bearer ${testKey}`]);
    expect(proxy.heads).toEqual([expect.stringMatching(/^CONNECT media\.invalid:443 HTTP\/1\.1\r\n/)]);
    expect(proxy.heads[0]).toMatch(/\r\nhost: media\.invalid:443\r\n/i);
    expect(proxy.heads[0]).not.toContain(testKey);
  });

  test('https://media.invalid through a proxy, with the certificate of another host: tls_failed, exit 1', async () => {
    const {port, authorizations, certificate} = await tlsService([{type: 2, value: 'other.invalid'}]);
    const proxy = await someProxy(port);
    const result = await upload('https://media.invalid', {HTTPS_PROXY: proxy.url}, ['--cacert', certificate]);
    expect(result).toMatchObject({stdout: '', exitCode: 1});
    expect(result.stderr).toContain('The TLS certificate of media.invalid was not accepted');
    expect(authorizations).toEqual([]);
  });

  test.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])(
    'http://media.invalid:8080 with %s: the whole URL to the proxy, as curl does',
    async variable => {
      const {port, requests} = await service();
      const proxy = await someProxy(port);
      expect(await upload('http://media.invalid:8080/api', {[variable]: proxy.url})).toMatchObject(stored);
      expect(requests.map(({head}) => head[0])).toEqual([
        'POST http://media.invalid:8080/api/v1/media/upload HTTP/1.1',
      ]);
      expect(requests[0]?.head).toContain('host: media.invalid:8080');
      expect(proxy.heads[0]).not.toMatch(/proxy-authorization/i);
    },
  );

  test('http through a proxy, asked without a file: the whole URL, too, with the credentials', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      const isLook = isUploadLook(await connection.request());
      if (requests.length === 1) connection.reset();
      else
        connection.answer(isLook ? 400 : 200, isLook ? '{}' : someRecord, {'accept-idempotency-key': '?1'});
    });
    const proxy = await someProxy(Number(new URL(url).port));
    const env = {HTTP_PROXY: proxy.url.replace('//', '//me:secret@')};
    expect(await upload('http://media.invalid', env, ['--retries', '1'])).toMatchObject(stored);
    expect(requests.map(({head}) => head[0])).toEqual(
      requests.map(() => 'POST http://media.invalid/v1/media/upload HTTP/1.1'),
    );
    for (const head of proxy.heads) expect(head).toMatch(/\r\nproxy-authorization: Basic bWU6c2VjcmV0\r\n/i);
    expect(requests.map(isUploadLook)).toEqual([false, true, false]);
  });

  test('http to an IPv6 address: in brackets', async () => {
    const {port, requests} = await service();
    const proxy = await someProxy(port);
    expect(await upload('http://[2001:db8::1]', {HTTP_PROXY: proxy.url})).toMatchObject(stored);
    expect(requests[0]?.head[0]).toMatch(/^POST http:\/\/\[2001:db8::1\]\/v1/);
  });

  test('https to an IPv6 address: in brackets', async () => {
    const proxy = await someProxy(1, socket => socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'));
    await upload('https://[2001:db8::1]', {HTTPS_PROXY: proxy.url});
    expect(proxy.heads).toEqual([expect.stringMatching(/^CONNECT \[2001:db8::1\]:443 /)]);
  });

  test('http through a proxy that asks for credentials: proxy_failed, exit 1, the variable is named, not tried again', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(407, 'no', {'proxy-authenticate': 'Basic realm="x"'});
    });
    const proxy = await someProxy(Number(new URL(url).port));
    const {stderr, exitCode} = await upload('http://media.invalid', {HTTP_PROXY: proxy.url}, [
      '--retries',
      '3',
    ]);
    expect(stderr).toBe(
      `media: The proxy ${proxy.host} asks for credentials (407).\n` +
        '  Put them into the proxy variable: HTTP_PROXY=http://USER:PASSWORD@HOST:PORT\n',
    );
    expect({exitCode, requests: requests.length}).toEqual({exitCode: 1, requests: 1});
  });

  test('a proxy that responds with 204 to CONNECT: any 2xx opens the tunnel', async () => {
    const {port, certificate} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const proxy = await someProxy(port, socket => {
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 204 Tunnel\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      }).on('error', () => socket.destroy());
    });
    expect(
      await upload('https://media.invalid', {HTTPS_PROXY: proxy.url}, ['--cacert', certificate]),
    ).toMatchObject(stored);
  });

  test('a proxy that sends interim responses to CONNECT first: waited for', async () => {
    const {port, certificate} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const proxy = await someProxy(port, (socket, _head, join) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n', () => join());
    });
    expect(
      await upload('https://media.invalid', {HTTPS_PROXY: proxy.url}, ['--cacert', certificate]),
    ).toMatchObject(stored);
  });

  test.each([
    ['user:secret', 'user:secret'],
    ['us%40er:p%3Aw', 'us@er:p:w'],
    ['user:100%', 'user:100%'],
    ['user', 'user:'],
    ['user:12#3?4/5\\6@7', 'user:12#3?4/5\\6@7'],
  ])('credentials %s in the variable: sent to the proxy, and to it alone', async (inUrl, sent) => {
    const {port, certificate, fields} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const proxy = await someProxy(port);
    const env = {HTTPS_PROXY: proxy.url.replace('//', `//${inUrl}@`)};
    const result = await upload('https://media.invalid', env, ['--cacert', certificate]);
    expect(result).toMatchObject(stored);
    const basic = Buffer.from(sent).toString('base64');
    expect(proxy.heads[0]).toMatch(new RegExp(`\r\nproxy-authorization: Basic ${basic}\r\n`, 'i'));
    expect(fields.map(field => field['proxy-authorization'])).toEqual([undefined]);
  });

  test('a proxy named without http://: taken as an http one, for https too', async () => {
    const {port, certificate} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const proxy = await someProxy(port);
    const result = await upload('https://media.invalid', {HTTPS_PROXY: proxy.host}, [
      '--cacert',
      certificate,
    ]);
    expect(result).toMatchObject(stored);
    expect(proxy.heads).toHaveLength(1);
  });

  test.each(['media.invalid', 'invalid', '.invalid', 'media.invalid:80', 'other.example,*'])(
    'NO_PROXY=%s names it: no proxy, so it is not found',
    async noProxy => {
      const proxy = await someProxy(1);
      const {exitCode} = await upload('http://media.invalid', {HTTP_PROXY: proxy.url, NO_PROXY: noProxy});
      expect({exitCode, heads: proxy.heads}).toEqual({exitCode: 6, heads: []});
    },
  );

  test('NO_PROXY names another host and another port: through the proxy', async () => {
    const {port} = await service();
    const proxy = await someProxy(port);
    const env = {HTTP_PROXY: proxy.url, no_proxy: 'other.invalid, media.invalid:81'};
    expect(await upload('http://media.invalid', env)).toMatchObject(stored);
    expect(proxy.heads).toHaveLength(1);
  });
});

describe('a proxy that does not do it', () => {
  async function failed(env: Record<string, string>, parameters: string[] = []) {
    const {stdout, stderr, exitCode} = await upload('https://media.invalid', env, [...parameters, '--quiet']);
    expect(stdout).toBe('');
    const [sentence = '', hint = ''] = stderr.split('\n');
    return {exitCode, sentence, hint: hint.trim()};
  }

  const answering =
    (text: string): Reply =>
    socket =>
      socket.end(text);

  test('407: proxy_failed, exit 1, names credentials, not tried again', async () => {
    const proxy = await someProxy(
      1,
      answering(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno',
      ),
    );
    expect(await failed({HTTPS_PROXY: proxy.url}, ['--retries', '3'])).toEqual({
      exitCode: 1,
      sentence: `media: The proxy ${proxy.host} asks for credentials (407).`,
      hint: 'Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT',
    });
    expect(proxy.heads).toHaveLength(1);
  });

  test.each(['', '--verbose'])('407 to credentials %s: they are doubted and never printed', async option => {
    const proxy = await someProxy(1, answering('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n'));
    const url = proxy.url.replace('//', '//me:s3cr%3Atword@');
    const {stderr, exitCode} = await upload(
      'https://media.invalid',
      {HTTPS_PROXY: url},
      option === '' ? [] : [option],
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `media: The proxy ${proxy.host} does not accept the credentials in the proxy variable (407).\n` +
        '  Correct HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT; write @ as %40, : as %3A, / as %2F and % as %25.\n',
    );
    expect(stderr).not.toMatch(/s3cr|tword|bWU6czNjcjp0d29yZA/);
  });

  test('407 without Basic among what it takes: told so', async () => {
    const head = 'HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n';
    const proxy = await someProxy(1, answering(`${head}Content-Length: 0\r\n\r\n`));
    expect(await failed({HTTPS_PROXY: proxy.url})).toEqual({
      exitCode: 1,
      sentence: `media: The proxy ${proxy.host} does not accept Basic credentials (407).`,
      hint: 'Run a local proxy that logs in there, such as cntlm or px, and name that one in HTTPS_PROXY.',
    });
  });

  test('407 with --json: an error line', async () => {
    const proxy = await someProxy(1, answering('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n'));
    const machine = await sandboxFor('https://media.invalid', {HTTPS_PROXY: proxy.url});
    const {stderr} = await machine.run(['upload', photo, '--allow-http', '--json']);
    expect(errorLines(stderr)).toMatchObject([{code: 'proxy_failed', status: 407}]);
  });

  test.each([302, 403, 503])('%i: proxy_failed, exit 1', async status => {
    const proxy = await someProxy(1, answering(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`));
    expect(await failed({HTTPS_PROXY: proxy.url})).toMatchObject({
      exitCode: 1,
      sentence: `media: The proxy ${proxy.host} refused to open a connection (${status}).`,
    });
  });

  test('a port that nothing listens on: connection_refused, exit 6, the proxy is named', async () => {
    const dead = await deadUrl();
    expect(await failed({HTTPS_PROXY: dead})).toMatchObject({
      exitCode: 6,
      sentence: `media: Nothing is listening at the proxy ${new URL(dead).host}: the connection was refused.`,
    });
  });

  test('a host that does not exist: exit 6, the proxy variable is doubted', async () => {
    const {exitCode, sentence} = await failed({HTTPS_PROXY: 'http://proxy.invalid:3128'});
    expect(exitCode).toBe(6);
    expect(sentence).toContain('proxy.invalid');
  });

  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['nothing at all', ''],
  ])('that answers with %s: connect_failed, exit 6', async (_, text) => {
    const proxy = await someProxy(1, answering(text));
    const {exitCode, sentence} = await failed({HTTPS_PROXY: proxy.url});
    expect(exitCode).toBe(6);
    const why = text === '' ? '' : ': it did not respond in HTTP.';
    expect(sentence).toContain(`No connection to the proxy ${proxy.host}${why}`);
  });

  test('https:// in front of a proxy that speaks plain HTTP: tls_failed, exit 1, tells to write http://', async () => {
    const server = createServer(socket => {
      socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await listen(server);
    expect(await failed({HTTPS_PROXY: urlOf(server).replace('http:', 'https:')})).toEqual({
      exitCode: 1,
      sentence: `media: The proxy 127.0.0.1:${portOf(server)} does not speak TLS on this port.`,
      hint: 'Write the proxy as: HTTPS_PROXY=http://HOST:PORT',
    });
  });

  test.each([
    ['ALL_PROXY', 'socks5://127.0.0.1:1080', 'names a SOCKS proxy, which is not supported'],
    ['https_proxy', 'http://', 'is not an http or https URL'],
  ])('%s=%s: proxy_failed, exit 1, the variable is named', async (variable, value, what) => {
    expect(await failed({[variable]: value})).toEqual({
      exitCode: 1,
      sentence: `media: ${variable} ${what}.`,
      hint: `Set ${variable} to a value like http://proxy.example:3128, or name the host in NO_PROXY.`,
    });
  });
});
