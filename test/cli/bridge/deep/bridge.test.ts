import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {copyFile, mkdir, readdir, readFile, rename, symlink, writeFile} from 'node:fs/promises';
import {createServer, request} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa, type Options} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {sandboxFor} from '../../../service/program.ts';
import {bridge} from '../../../support/bridge.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun, whatIsMissing} from '../../../support/installed.ts';
import {fixture, mediaCommand, type Sandbox} from '../../../support/media.ts';
import {canListOpenFiles, openFiles} from '../../../support/open-files.ts';
import {slowTest} from '../../../support/patience.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

/** A machine with a picture in `notes` and one outside, and a service. */
async function machine() {
  const connected = await connectedSandbox();
  const {sandbox: box, service} = connected;
  const path = (name: string) => join(box.directory, name);
  await copyFile(fixture('photo.png'), path('写真 1.png'));
  await copyFile(fixture('clip.mp4'), path('clip.mp4'));
  await copyFile(fixture('page-named.png'), path('page.png'));
  const urlOf = async (contentType: string) =>
    (await service.records()).find(stored => stored.contentType === contentType)?.record.fileUrl;
  return {...connected, box, path, urlOf};
}

/** The directories that hold the pictures of requests. */
async function temporary({directory}: Sandbox) {
  return (await readdir(directory)).filter(name => name.startsWith('media-bridge-'));
}

/** Sends a request as it is, whatever a browser or fetch would make of its headers. */
async function send(
  url: string,
  options: {method?: string; headers?: Record<string, string>; body?: string},
) {
  const {method = 'POST', headers = {}, body = ''} = options;
  const sent = request(url, {method, headers: {'Content-Length': Buffer.byteLength(body), ...headers}});
  // With a text, Node would send the head as UTF-8, too.
  sent.end(Buffer.from(body));
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return {
    status: response.statusCode,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

const nobody = {uid: 65_534, gid: 65_534};

const listOf = (...paths: string[]) => JSON.stringify({list: paths});

/** The request of the plugin "Image auto upload" of Obsidian, and of most others: a list of paths as JSON. */
function upload(url: string, paths: readonly string[], headers: Record<string, string> = {}) {
  return send(url, {headers: {'Content-Type': 'application/json', ...headers}, body: listOf(...paths)});
}

/** The form that version 5 of "Image auto upload" writes by itself: no length, no type of the picture. */
function pluginForm(name: string, bytes: Buffer) {
  const head = `Content-Disposition: form-data; name="list"; filename="${name}"\r\nContent-Type: application/octet-stream`;
  const boundary = '----Boundary0123456789abcdef';
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

test('what editors send: URLs in order, all or none; a second time, nothing is stored', async () => {
  const {box, path, urlOf, service} = await machine();
  const {child, url, base, stderr} = await bridge(box);
  const said = (text: string) => eventually(() => stderr().includes(`${text}\n`));
  for (const method of ['POST', 'GET'])
    expect((await send(`${base}/heartbeat`, {method})).body).toEqual({success: true, result: 'alive'});
  const [clip, photo] = [path('clip.mp4'), path('写真 1.png')];
  const first = await upload(url, [clip, pathToFileURL(photo).href, clip]);
  const result = [await urlOf('video/mp4'), await urlOf('image/png'), await urlOf('video/mp4')];
  expect(first).toMatchObject({status: 200, body: {success: true, result}});
  // One of the two requests for the same video is for the record of the other.
  await said('Uploaded 2 files; 1 had been uploaded before.');
  expect((await send(url, {body: listOf(photo)})).body).toEqual({success: true, result: [result[1]]});
  await said(`Uploaded before: ${result[1]}`);
  expect((await send(url, {body: listOf(photo, clip)})).status).toBe(200);
  await said('Uploaded 0 files; 2 had been uploaded before.');

  // The plugins of Obsidian send pictures from the clipboard as a form, with fetch from their page.
  for (const field of ['files', 'list']) {
    const form = new FormData();
    const bytes = await Promise.all(
      ['photo.webp', 'photo.gif', 'photo.jpg'].map(name => readFile(fixture(name))),
    );
    form.append('note', 'is no file');
    form.append(field, new File([bytes[0] ?? ''], '画像.webp', {type: 'image/webp'}));
    for (const picture of bytes.slice(1)) form.append(field, new File([picture], 'blob'));
    const answer = await fetch(url, {method: 'POST', body: form, headers: {Origin: 'app://obsidian.md'}});
    expect(answer.headers.get('access-control-allow-origin')).toBe('app://obsidian.md');
    const urls = await Promise.all(['image/webp', 'image/gif', 'image/jpeg'].map(urlOf));
    expect(await answer.json()).toEqual({success: true, result: urls});
  }
  expect(await upload(url, [photo.slice(1)])).toMatchObject({status: 200, body: {result: [result[1]]}});
  const {type, body} = pluginForm('1732700000000.png', await readFile(photo));
  const sent = await fetch(url, {method: 'POST', headers: {'Content-Type': type}, body});
  expect(await sent.json()).toEqual({success: true, result: [result[1]]});
  expect(await service.records()).toHaveLength(5);
  expect(await temporary(box)).toEqual([]);

  const failed = await upload(url, [clip, path('page.png')]);
  expect(failed).toMatchObject({status: 500, body: {success: false}});
  expect(failed.body.message).toContain('page.png is not recognised as an image or a video');
  expect(failed.body).not.toHaveProperty('result');
  child.kill('SIGTERM');
  expect(await child).toMatchObject({signal: 'SIGTERM', stdout: `${url}\n`});
});

test('requests that are wrong: their status and why, nothing read', async () => {
  const {box, path, service} = await machine();
  const {url, base, child} = await bridge(box);
  const {port} = new URL(url);
  const photo = path('写真 1.png');
  const own = {Host: `127.0.0.1:${port}`};
  const broken = pluginForm('1.png', Buffer.alloc(200_000, 'x'));
  const cases: [string, Parameters<typeof send>[1], number, RegExp][] = [
    [url, {body: ''}, 500, /^The clipboard could not be read: there is no desktop here/],
    [url, {body: '{"list": ["a.png"]'}, 400, /must be JSON like/],
    [url, {body: '{"list": [1]}'}, 400, /must be JSON like/],
    [url, {body: '{"list": [""]}'}, 400, /must be JSON like/],
    [url, {body: listOf('photo.png')}, 400, /^photo\.png is not the absolute path/],
    [url, {body: listOf('https://example.com/a.png')}, 400, /is not the absolute path/],
    [url, {body: listOf(photo, path('gone.png'))}, 400, /gone\.png could not be read: ENOENT/],
    [
      url,
      {body: listOf(photo), headers: {'Content-Type': 'multipart/form-data; boundary=x'}},
      400,
      /complete form/,
    ],
    [
      url,
      {body: '--x--\r\n', headers: {'Content-Type': 'multipart/form-data; boundary=x'}},
      400,
      /form contains no file/,
    ],
    [
      url,
      {body: broken.body.subarray(0, -3).toString('latin1'), headers: {'Content-Type': broken.type}},
      400,
      /complete form/,
    ],
    [url, {body: listOf(photo, 'x'.repeat(2 ** 20))}, 413, /at most/],
    [url, {method: 'GET'}, 405, /must be POST/],
    [`${base}/delete`, {}, 404, /only paths here are \/upload and \/heartbeat/],
    [
      url,
      {body: listOf(photo), headers: {...own, Origin: 'https://evil.example'}},
      403,
      /Web pages.*evil\.example/,
    ],
    [url, {body: listOf(photo), headers: {...own, Origin: 'null'}}, 403, /Web pages/],
    [url, {body: listOf(photo), headers: {...own, Origin: base}}, 403, /Web pages/],
    [url, {body: listOf(photo), headers: {...own, 'Sec-Fetch-Site': 'cross-site'}}, 403, /Web pages/],
    [url, {body: listOf(photo), headers: {Host: `evil.example:${port}`}}, 403, /Host/],
    [url, {body: listOf(photo), headers: {Host: '127.0.0.1:1'}}, 403, /Host/],
    [url, {body: listOf(photo), headers: {Host: `127.0.0.1:${port}.evil.example`}}, 403, /Host/],
    [url, {body: listOf(photo), headers: {Host: `127.0.0.1.evil.example:${port}`}}, 403, /Host/],
    [url, {method: 'OPTIONS', headers: {...own, Origin: 'https://evil.example'}}, 403, /Web pages/],
  ];
  for (const [to, what, status, message] of cases) {
    const answer = await send(to, what);
    expect({what, ...answer}).toMatchObject({
      what,
      status,
      body: {success: false, message: expect.stringMatching(message)},
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  }
  expect(await service.records()).toEqual([]);
  const preflight = {...own, Origin: 'app://obsidian.md', 'Access-Control-Request-Method': 'POST'};
  expect(await send(url, {method: 'OPTIONS', headers: preflight})).toMatchObject({
    status: 204,
    body: undefined,
  });
  expect(await temporary(box)).toEqual([]);
  const endless = request(url, {method: 'POST', headers: {...own, 'Content-Length': 1000}});
  endless.on('error', () => {});
  endless.write('{"list": [');
  await once(endless, 'socket');
  // It has arrived when a later request has been answered.
  await new Promise(resolve => endless.socket?.write('"', resolve));
  expect((await send(`${base}/heartbeat`, {})).status).toBe(200);
  child.kill('SIGINT');
  expect((await child).signal).toBe('SIGINT');
});

test('a secret with the signs of base64 and of a query: taken from the URL as it is, and encoded', async () => {
  const {box, path} = await machine();
  // As it comes out of a file.
  box.env['MEDIA_BRIDGE_SECRET'] = 'a+b/c?d=\n';
  await copyFile(fixture('photo.png'), path('in.png'));
  const {url} = await bridge(box);
  for (const [query, status] of [
    ['secret=a+b/c?d=', 200],
    ['secret=a%2Bb%2Fc%3Fd%3D', 200],
    ['secret=a%20b/c?d=', 401],
    ['secret=a+b/c', 401],
  ] as const)
    expect({query, status: (await upload(`${url}?${query}`, [path('in.png')])).status}).toEqual({
      query,
      status,
    });
});

test('a secret that is not ASCII: taken from a header field as UTF-8, and from the URL', async () => {
  const {box, path} = await machine();
  box.env['MEDIA_BRIDGE_SECRET'] = 'Sésam';
  await copyFile(fixture('photo.png'), path('in.png'));
  const {url} = await bridge(box);
  const bytes = Buffer.from('Sésam').toString('latin1');
  for (const [query, headers, status] of [
    ['', {Authorization: `Bearer ${bytes}`}, 200],
    ['', {'X-PicGo-Secret': bytes}, 200],
    ['?secret=S%C3%A9sam', {}, 200],
    ['', {Authorization: 'Bearer Sesam'}, 401],
  ] as const)
    expect((await upload(`${url}${query}`, [path('in.png')], headers)).status).toBe(status);
});

test('--root and a secret: links that lead out and other secrets are refused', async () => {
  const {box, path, service} = await machine();
  box.env['MEDIA_BRIDGE_SECRET'] = 'open sesame';
  await copyFile(fixture('photo.png'), path('config.png'));
  const inside = join(path('notes'), 'in.png');
  await mkdir(path('notes'));
  await copyFile(fixture('photo.gif'), inside);
  await symlink(path('config.png'), path('notes/link.png'));
  await copyFile(fixture('photo.png'), path('notes/..in.png'));
  // People sync their notes, and link to where they are.
  await symlink('notes', path('root'));
  const {url, base, stderr} = await bridge(box, '--root', 'root');
  const good = {Authorization: 'bearer open sesame'};
  expect((await send(`${base}/heartbeat`, {})).status).toBe(200);
  const wrong: Record<string, string>[] = [
    {},
    {Authorization: 'Bearer wrong', 'X-PicGo-Secret': 'open sesame'},
    {'X-PicGo-Secret': 'open sesam'},
  ];
  for (const headers of wrong) expect((await upload(url, [inside], headers)).status).toBe(401);
  const inUrl = `${url}?secret=open%20sesame`;
  for (const [at, headers] of [
    [`${url}?secret=open%20sesam`, {}],
    [`${url}?Secret=open%20sesame`, {}],
    [inUrl, {'X-PicGo-Secret': 'wrong'}],
    [inUrl, {Authorization: 'Bearer wrong'}],
  ] as const)
    expect((await upload(at, [inside], headers)).status).toBe(401);
  const outside = ['config.png', 'notes/link.png', 'notes/../config.png', 'notes/../gone.png', 'notes'];
  for (const name of outside) {
    const {status, body} = await upload(url, [inside, `${box.directory}/${name}`], good);
    expect({name, status, message: body.message}).toEqual({
      ...{name, status: 400},
      message: `${box.directory}/${name} could not be read: it does not exist, or it is outside --root.`,
    });
  }
  expect(await service.records()).toEqual([]);
  for (const headers of [good, {'X-PicGo-Secret': 'open sesame'}])
    expect((await upload(url, [inside], headers)).status).toBe(200);
  expect((await upload(`${url}?a=1&secret=open+sesame`, [inside])).status).toBe(200);
  expect((await upload(inUrl, [path('notes/..in.png')])).status).toBe(200);
  expect((await upload(inUrl, [path('gone.png')])).status).toBe(400);
  expect((await upload(`${url}?secret=open+sesam`, [inside])).status).toBe(401);
  await eventually(() => /gone\.png could not be read/.test(stderr()));
  expect(stderr()).not.toMatch(/open.sesam/);
});

test('--root: what leads out of it only when it is sent: refused, not sent', async () => {
  let swapped: Promise<void> | undefined;
  const sent: Buffer[] = [];
  const {url: service} = await scriptedServer(async connection => {
    const {body} = await connection.request();
    swapped ??= rename(at('notes/img'), at('old')).then(() => symlink(at('secret'), at('notes/img')));
    await swapped;
    sent.push(body);
    connection.answer(200, '{"id":"m_1","fileUrl":"https://cdn.test/a.png"}');
  });
  const box = await sandboxFor(service);
  const at = (name: string) => join(box.directory, name);
  for (const name of ['notes/img', 'secret']) await mkdir(at(name), {recursive: true});
  await copyFile(fixture('photo.png'), at('notes/a.png'));
  await copyFile(fixture('photo.gif'), at('notes/img/b.gif'));
  await copyFile(fixture('photo.gif'), at('secret/b.gif'));
  box.env['MEDIA_CONCURRENCY'] = '1';
  const {url} = await bridge(box, '--root', 'notes');
  const {status, body} = await upload(url, [at('notes/a.png'), at('notes/img/b.gif')]);
  expect([status, body.message]).toEqual([
    500,
    expect.stringContaining('is no longer the file that was checked.'),
  ]);
  expect(sent.filter(({length}) => length > 0)).toEqual([await readFile(fixture('photo.png'))]);
});

const client = `
  const {request} = require('node:http');
  const [url, type, base64, family] = process.argv.slice(1);
  const body = Buffer.from(base64, 'base64');
  const {port, pathname: path} = new URL(url);
  const to = {port, path, host: family === '6' ? '::ffff:127.0.0.1' : '127.0.0.1', method: 'POST'};
  const headers = {Host: '127.0.0.1:' + port, 'Content-Type': type, Authorization: 'Bearer open sesame'};
  const sent = request({...to, headers: {...headers, 'Content-Length': body.length}}, async response => {
    let text = '';
    for await (const chunk of response) text += chunk;
    console.log(JSON.stringify({status: response.statusCode, body: JSON.parse(text)}));
  });
  sent.end(body);`;

/** Sends a request from a process of this user, or of another one. */
async function sendFrom(
  user: {uid?: number; gid?: number},
  url: string,
  ...request: [string, string | Buffer, string?]
) {
  const [type, body, family = '4'] = request;
  const parameters = ['-e', client, url, type, Buffer.from(body as string).toString('base64'), family];
  const {stdout} = await execa(process.execPath, parameters, {cwd: '/', ...user});
  return JSON.parse(stdout);
}

test(
  'another user of this machine: may send pictures, but names no files and gets no clipboard without the secret',
  slowTest,
  async context => {
    if (process.getuid?.() !== 0) notRun(context, 'only root may become another user');
    const {box, path, service} = await machine();
    const {url, stderr} = await bridge(box);
    const json = 'application/json';
    const {type, body} = pluginForm('a.png', await readFile(fixture('photo.png')));
    for (const family of ['4', '6']) {
      for (const list of [listOf(path('clip.mp4')), listOf('/gone.png'), ''])
        expect(await sendFrom(nobody, url, json, list, family)).toEqual({
          status: 403,
          body: {success: false, message: expect.stringMatching(/MEDIA_BRIDGE_SECRET.*--root/)},
        });
      expect(await service.records()).toEqual([]);
      expect(await sendFrom({}, url, json, listOf('/gone.png'), family)).toMatchObject({status: 400});
    }
    expect(await sendFrom(nobody, url, type, body)).toMatchObject({status: 200});
    expect(stderr()).not.toContain('any user');
    box.env['MEDIA_BRIDGE_SECRET'] = 'open sesame';
    const {url: guarded} = await bridge(box);
    expect(await sendFrom(nobody, guarded, json, listOf(path('clip.mp4')))).toMatchObject({status: 200});
  },
);

test('where the system does not tell who connects: said at the start, and what to set', async context => {
  const {box, path} = await machine();
  const inside = ['-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
  const missing = whatIsMissing(['mount', 'unshare']);
  if (missing !== undefined || spawnSync('unshare', [...inside, 'true']).status !== 0)
    notRun(context, missing ?? 'nothing may be mounted here, not even in a namespace');
  const start = (parameters: readonly string[], options: Options = {}) =>
    execa('unshare', [...inside, ...mediaCommand, ...parameters], {
      ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, stdin: 'ignore'},
      ...options,
    }) as ReturnType<Sandbox['start']>;
  const said = /any user of this machine can have files of yours uploaded.*MEDIA_BRIDGE_SECRET.*--root/;
  const {url, stderr} = await bridge({start});
  await eventually(() => said.test(stderr()));
  expect((await upload(url, [path('写真 1.png')])).status).toBe(200);
  box.env['MEDIA_BRIDGE_SECRET'] = 'open sesame';
  const guarded = await bridge({start});
  await eventually(() => /Ctrl-C/.test(guarded.stderr()));
  expect(guarded.stderr()).not.toMatch(said);
});

test('a state directory that cannot be made: the response says what to set, and names no option that there is not', async () => {
  const {box, path} = await machine();
  box.env['XDG_STATE_HOME'] = '/proc/none';
  const {url} = await bridge(box);
  const {status, body} = await upload(url, [path('写真 1.png')]);
  expect({status, message: body.message}).toEqual({
    status: 500,
    message: expect.stringMatching(
      /could not be created: ENOENT\. Set XDG_STATE_HOME to a directory of your own that you may write to\.$/,
    ),
  });
});

test('what a service says of a refusal: on standard error, and not in the response', async () => {
  const {box, path} = await machine();
  const {url: service} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(400, '<title>Rejected by the gateway of Ann</title>');
  });
  box.env['MEDIA_BASE_URL'] = service;
  const {url, stderr} = await bridge(box);
  const {status, body} = await upload(url, [path('clip.mp4')]);
  expect({status, message: body.message}).toEqual({status: 500, message: expect.stringContaining('400')});
  expect(body.message).not.toContain('Ann');
  await eventually(() => stderr().includes('Rejected by the gateway of Ann'));
});

test('100 requests at once, a tenth of them for one picture: each gets its own URL', async () => {
  const {box, path, service} = await machine();
  const photo = await readFile(fixture('photo.png'));
  const names = Array.from({length: 100}, (_, at) => path(`${at < 10 ? 0 : at}.png`));
  for (const name of new Set(names)) await writeFile(name, Buffer.concat([photo, Buffer.from(name)]));
  const {url} = await bridge(box);
  const answers = await Promise.all(names.map(name => upload(url, [name])));
  const urls = answers.map(({body}) => body.result?.[0]);
  const stored = new Map(
    await Promise.all(
      (await service.records()).map(async ({record}) => {
        const bytes = Buffer.from(await (await fetch(String(record.fileUrl))).arrayBuffer());
        return [bytes.subarray(photo.length).toString(), record.fileUrl] as const;
      }),
    ),
  );
  expect(urls).toEqual(names.map(name => stored.get(name)));
  expect(stored.size).toBe(91);
});

test('a picture for which the disk has no room: refused, and the next one is taken', async () => {
  const {box, path} = await machine();
  // A limit on the size of files, in 512-byte blocks, is the disk's end without a disk.
  const start = (parameters: readonly string[], options: Options = {}) =>
    execa('sh', ['-c', 'ulimit -f 400; exec "$@"', 'sh', ...mediaCommand, ...parameters], {
      ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, stdin: 'ignore'},
      ...options,
    }) as ReturnType<Sandbox['start']>;
  const {url} = await bridge({start});
  const photo = await readFile(path('写真 1.png'));
  for (const [bytes, status] of [
    [Buffer.concat([photo, Buffer.alloc(2 ** 20)]), 400],
    [photo, 200],
  ] as const) {
    const {type, body} = pluginForm('1.png', bytes);
    const answer = await fetch(url, {method: 'POST', headers: {'Content-Type': type}, body});
    expect(answer.status).toBe(status);
    expect(await temporary(box)).toEqual([]);
  }
});

test('a large picture without the secret: its client gets the refusal, not a broken connection', async () => {
  const {box} = await machine();
  box.env['MEDIA_BRIDGE_SECRET'] = 's3cret';
  const {url, stderr} = await bridge(box);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST /upload HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Length: 9\r\n\r\n`);
  await eventually(() => stderr().includes('The secret is missing'));
  socket.destroy();
  const body = new FormData();
  body.append('list', new File([new Uint8Array(2 ** 26)], '1.png'));
  const answer = await fetch(url, {method: 'POST', body});
  expect([answer.status, await answer.json()]).toMatchObject([401, {success: false}]);
});

test('a client that hangs up in the middle of its list: a refused request, no internal error', async () => {
  const {box} = await machine();
  // With a secret, it is not asked whose process this is, which a closed connection no longer tells.
  box.env['MEDIA_BRIDGE_SECRET'] = 's3cret';
  const {url, stderr} = await bridge(box);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const head = `POST /upload HTTP/1.1\r\nHost: ${new URL(url).host}\r\nX-PicGo-Secret: s3cret\r\n`;
  socket.write(`${head}Content-Length: 100\r\n\r\n{"list": [`, () => socket.destroy());
  await eventually(() => stderr().includes('Refused a request: The connection ended'));
  expect(stderr()).not.toContain('internal');
});

test.skipIf(!canListOpenFiles).each(['a client that hangs up', 'a signal'])(
  '%s in the middle of a form: nothing of it is kept, open or on disk',
  async end => {
    const {box} = await machine();
    const {child, url, stderr} = await bridge(box);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const {type, body} = pluginForm('a.png', Buffer.alloc(200_000));
    const head = `POST /upload HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: ${type}\r\n`;
    socket.write(
      `${head}Content-Length: ${body.length}\r\n\r\n${body.subarray(0, 100_000).toString('latin1')}`,
    );
    const open = async () =>
      (await openFiles(box.directory, child.pid)).filter(path => path.includes('media-bridge-'));
    await eventually(async () => (await open()).length === 1);
    if (end === 'a signal') {
      socket.on('error', () => {});
      child.kill('SIGTERM');
      expect((await child).signal).toBe('SIGTERM');
    } else {
      socket.destroy();
      await eventually(() => stderr().includes('Refused a request: The body is not a complete form'));
      await eventually(async () => (await open()).length === 0, {state: open});
    }
    expect(await temporary(box)).toEqual([]);
  },
);

test('SIGINT while a connection without a request is open, as browsers make in advance: the end', async () => {
  const {box} = await machine();
  const {child, base} = await bridge(box);
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  const closed = once(socket, 'close');
  // Connections are accepted in their order.
  expect((await send(`${base}/heartbeat`, {})).status).toBe(200);
  child.kill('SIGINT');
  await closed;
  expect((await child).signal).toBe('SIGINT');
});

test.each([
  ['no key', {MEDIA_API_KEY: ''}, [], 4, /no API key/i],
  ['a root that does not exist', {}, ['--root', 'gone'], 1, /gone could not be found: ENOENT/],
  ['a root that is a file', {}, ['--root', 'clip.mp4'], 2, /clip\.mp4 is not a directory/],
  ['a blank secret', {MEDIA_BRIDGE_SECRET: ' \n'}, [], 2, /MEDIA_BRIDGE_SECRET is blank/],
  ['a wrong setting', {MEDIA_LIMIT_RATE: 'fast'}, [], 2, /"fast" is not a value of limit-rate/],
  ['no port', {}, ['--port', '70000'], 2, /whole number from 0 to 65535/],
])('%s: the reason at once', async (_name, env, parameters, exitCode, reason) => {
  const {box} = await machine();
  const {stdout, stderr, ...ended} = await box.run(['bridge', '--port', '0', ...parameters], {
    env: {...box.env, ...env},
  });
  expect({stdout, exitCode: ended.exitCode}).toEqual({stdout: '', exitCode});
  expect(stderr).toMatch(reason);
});

test('a port in use: who may have it, and what to do', async () => {
  const {box} = await machine();
  const other = createServer();
  onTestFinished(() => void other.close());
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const {port} = other.address() as AddressInfo;
  const {stderr, exitCode} = await box.run(['bridge', '--port', String(port)]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/Port \d+ is in use, perhaps by PicGo.*\n.*--port/);
});
