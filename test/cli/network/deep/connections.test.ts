import {copyFile, mkdir, rm} from 'node:fs/promises';
import {connect, createServer, type Socket} from 'node:net';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {errorLines, sandboxFor} from '../../../engine/service/program.ts';
import {writePng} from '../../../engine/service/support.ts';
import {listen, portOf, urlOf} from '../../../support/loopback.ts';
import {fixture} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {tlsService} from '../../../support/tls.ts';
import {Watching} from '../../../support/watching.ts';

const photo = fixture('photo.png');

/** Counts the connections that are made to it, and does this to each. */
async function peer(treat: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer(socket => {
    sockets.push(socket.on('error', () => {}));
    treat(socket);
  });
  await listen(server);
  return {url: urlOf(server), port: portOf(server), connections: () => sockets.length};
}

const banner = 'SSH-2.0-OpenSSH_9.6\r\n';
const page = '<!doctype html><title>Welcome to\n the Grand Hotel</title><p>Log in';
const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';

const speaksFirst = (socket: Socket) => void socket.write(banner);
const closes = (socket: Socket) => void socket.end();
const resets = (socket: Socket) => void socket.resetAndDestroy();
const garbles = (socket: Socket) => void socket.once('data', () => socket.write('\0\x01garbage\r\n\r\n'));
const whole = (socket: Socket) => void socket.once('data', () => socket.end(`${head}\r\n${page}`));
/** The page comes when its head has been read. */
const late = (socket: Socket) =>
  void socket.once('data', () => {
    socket.write(`${head}Content-Length: ${page.length}\r\n\r\n`, () =>
      setTimeout(() => socket.end(page), 50),
    );
  });
const cutPage = (socket: Socket) =>
  void socket.once('data', () => socket.end(`${head}Content-Length: 9\r\n\r\n`));

/** What may become of a file, by where the peer stands: nothing is known of one that was sent before the peer spoke. */
const kinds: [string, (socket: Socket) => void, RegExp, RegExp, RegExp][] = [
  [
    'speaks first',
    speaksFirst,
    /not_http|outcome_unknown/,
    /not_http|tls_failed/,
    /proxy_failed|connect_failed/,
  ],
  ['closes at once', closes, /connect_failed|outcome_unknown/, /connect_failed/, /connect_failed/],
  ['resets at once', resets, /connect_failed|outcome_unknown/, /connect_failed/, /connect_failed/],
  ['sends garbage', garbles, /outcome_unknown/, /tls_failed/, /connect_failed/],
  [
    'speaks HTTP first',
    socket => void socket.end(`${head}\r\n`),
    /not_http|outcome_unknown/,
    /tls_failed/,
    /proxy_failed|connect_failed/,
  ],
];

describe.each(kinds)('a peer that %s gets one connection for each try', (_, treat, http, https, proxy) => {
  test.each([
    ['as a service over http', 'http', http],
    ['as a service over https', 'https', https],
    ['as the proxy of an http service', 'proxy http', new RegExp(`${http.source}|${proxy.source}`)],
    ['as the proxy of an https service', 'proxy https', proxy],
  ])('%s', async (_place, place, code) => {
    const {port, url, connections} = await peer(treat);
    const [scheme = '', isProxy] = place.split(' ').reverse();
    const base = isProxy === undefined ? `${scheme}://127.0.0.1:${port}` : `${scheme}://media.invalid`;
    const box = await sandboxFor(base, {ALL_PROXY: url});
    const options = ['--allow-http', '--retries', '0', '--on-unknown', 'hold', '--json'];
    const {stdout, stderr} = await box.run(['upload', photo, ...options]);
    expect(errorLines(stderr)).toMatchObject([{code: expect.stringMatching(code)}]);
    expect({stdout, connections: connections()}).toEqual({stdout: '', connections: 1});
  });
});

test('a peer that closes at once, --retries 2: three connections', async () => {
  const {port, connections} = await peer(closes);
  const box = await sandboxFor(`https://127.0.0.1:${port}`);
  const {exitCode} = await box.run(['upload', photo, '--retries', '2']);
  expect({exitCode, connections: connections()}).toEqual({exitCode: 6, connections: 3});
});

test('garbage after the whole file: unknown, and told that it is not HTTP', async () => {
  const {port} = await peer(garbles);
  const {stderr, exitCode} = await (await sandboxFor(`http://127.0.0.1:${port}`)).run(['upload', photo]);
  expect(stderr).toContain(`127.0.0.1:${port} did not respond in HTTP. The whole file had been sent`);
  expect(exitCode).toBe(5);
});

describe('a proxy that responds to CONNECT with a page', () => {
  const sentence = (port: number) =>
    `The proxy 127.0.0.1:${port} returned a page instead of a connection: "Welcome to the Grand Hotel".`;

  test.each([
    ['at once', whole],
    ['after its head', late],
  ])('%s: proxy_failed, exit 1, one connection, in spite of --retries', async (_, treat) => {
    const {url, port, connections} = await peer(treat);
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--json']);
    expect(errorLines(stderr)).toMatchObject([{code: 'proxy_failed', message: sentence(port), status: 200}]);
    expect({stdout, exitCode, connections: connections()}).toEqual({stdout: '', exitCode: 1, connections: 1});
  });

  test('a redirect in place of a tunnel: proxy_failed, and the proxy gets nothing but CONNECT', async () => {
    let received = '';
    const {url, connections} = await peer(socket =>
      socket.on('data', bytes => {
        received += bytes.toString('latin1');
        socket.write('HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n');
      }),
    );
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    const {stderr, exitCode} = await box.run(['upload', photo, '--json']);
    expect(errorLines(stderr)).toMatchObject([{code: 'proxy_failed', status: 302}]);
    expect({exitCode, connections: connections()}).toEqual({exitCode: 1, connections: 1});
    expect(received).toMatch(/^CONNECT /);
    expect(received).not.toMatch(/POST|key-of-the-test/);
  });

  test('whose bytes never come: one connection for each try', async () => {
    const {url, connections} = await peer(cutPage);
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    const {exitCode} = await box.run(['upload', photo, '--retries', '0']);
    expect({exitCode, connections: connections()}).toEqual({exitCode: 6, connections: 1});
  });

  test.each(['whoami', 'graphql'])('media %s: told, exit 1, one connection', async command => {
    const {url, port, connections} = await peer(whole);
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    const query = command === 'graphql' ? ['{__typename}'] : [];
    const {stdout, stderr, exitCode} = await box.run([command, ...query]);
    expect(stdout + stderr).toContain(sentence(port));
    expect({exitCode, connections: connections()}).toEqual({exitCode: 1, connections: 1});
  });

  test('40 files: the batch ends, with as many connections as workers at most', async () => {
    const {url, connections} = await peer(whole);
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    await mkdir(join(box.directory, 'files'));
    for (let index = 0; index < 40; index += 1)
      await writePng(join(box.directory, 'files'), `${index}.png`, 99);
    const {stderr, exitCode} = await box.run(['upload', '-r', 'files', '-c', '4']);
    expect(stderr).toContain('0 uploaded, 0 skipped, 40 failed, 0 unknown\n');
    expect(stderr).not.toContain('unavailable');
    expect(exitCode).toBe(1);
    expect(connections()).toBeLessThanOrEqual(4);
  });

  test('a password of the proxy that the page repeats: not shown', async () => {
    const {url} = await peer(socket =>
      socket.once('data', bytes => socket.end(`${head}\r\n<title>secret-word ${bytes}</title>`)),
    );
    const box = await sandboxFor('https://media.invalid', {
      ALL_PROXY: url.replace('//', '//me:secret-word@'),
    });
    const {stderr} = await box.run(['upload', photo, '--verbose']);
    expect(stderr).toContain('returned a page instead of a connection: "');
    expect(stderr).not.toMatch(/secret-word|c2VjcmV0LXdvcm/);
  });

  /** A service, and what opens a tunnel to it with this answer to CONNECT. */
  async function tunnelled(answer: string) {
    const {port, certificate} = await tlsService([{type: 2, value: 'media.invalid'}]);
    const open = (socket: Socket) =>
      void socket.once('data', () => {
        const service = connect(port, '127.0.0.1', () => {
          socket.write(answer);
          socket.pipe(service).pipe(socket);
        });
        service.on('error', () => socket.destroy());
      });
    return {open, authority: ['--cacert', certificate]};
  }

  test('a real tunnel that calls itself a page: used', async () => {
    const {open, authority} = await tunnelled(`${head}Content-Length: 9\r\n\r\n`);
    const {url, connections} = await peer(open);
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    const {stdout, exitCode} = await box.run(['upload', photo, ...authority, '--template', '{id}\\n']);
    expect({stdout, exitCode, connections: connections()}).toEqual({
      stdout: 'm_1\n',
      exitCode: 0,
      connections: 1,
    });
  });

  test('media watch: an outage until someone has logged in, then the file is uploaded', async () => {
    const {open, authority} = await tunnelled('HTTP/1.1 200 OK\r\n\r\n');
    let isLoggedIn = false;
    const {url} = await peer(socket => (isLoggedIn ? open : whole)(socket));
    const box = await sandboxFor('https://media.invalid', {ALL_PROXY: url});
    await mkdir(join(box.directory, 'in'));
    const watching = new Watching(box, ['in', ...authority, '--ndjson']);
    await watching.line({event: 'watching'});
    await copyFile(photo, join(box.directory, 'in/photo.png'));
    await watching.line({event: 'unavailable'});
    isLoggedIn = true;
    await watching.line({event: 'available'});
    await watching.line({file: 'in/photo.png', status: 'uploaded'});
    expect(watching.lines().filter(({status}) => status === 'failed')).toEqual([]);
  });

  test('media watch: a journal that is removed during an outage, which is over with the first upload', async () => {
    let isAway = true;
    const {url} = await scriptedServer(async connection => {
      if (isAway) return connection.reset();
      await connection.request();
      connection.answer(200, someRecord);
    });
    const box = await sandboxFor(url);
    await mkdir(join(box.directory, 'in'));
    const watching = new Watching(box, ['in', '--ndjson']);
    await watching.line({event: 'watching'});
    await copyFile(photo, join(box.directory, 'in/photo.png'));
    await watching.line({event: 'unavailable'});
    await rm(join(box.directory, '.local/state'), {recursive: true});
    isAway = false;
    await watching.line({file: 'in/photo.png', status: 'uploaded'});
    expect(await watching.line({event: 'available'})).toEqual({event: 'available'});
  });
});
