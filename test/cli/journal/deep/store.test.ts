import {copyFile, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {MediaClient, uploadAll} from '../../../../src/index.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaUrl, type Sandbox, sandbox} from '../../../support/media.ts';
import {type RawRequest, scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {twoStores} from '../../../support/two-stores.ts';
import {Watching} from '../../../support/watching.ts';

const document = 'A picture: ![it](a.png)\n';

async function machine() {
  const stores = await twoStores();
  await copyFile(fixture('photo.png'), join(stores.box.directory, 'a.png'));
  await writeFile(join(stores.box.directory, 'page.md'), document);
  return stores;
}

function program({directory, env}: Sandbox, ...parameters: string[]) {
  return execa(mediaUrl, parameters, {cwd: directory, env, extendEnv: false, reject: false});
}

/** The commands that go by a journal or a manifest: what fills it, and what would print, write or prove what it has. */
const commands: [name: string, before: string[], after: string[]][] = [
  ['--once', ['upload', '--once', 'a.png'], ['upload', '--once', 'a.png', '--json']],
  ['--journal', ['upload', '--journal', 'j', 'a.png'], ['upload', '--journal', 'j', 'a.png', '--json']],
  ['--once --dry-run', ['upload', '--once', 'a.png'], ['upload', '--once', '--dry-run', 'a.png', '--json']],
  [
    '--journal --dry-run',
    ['upload', '--journal', 'j', 'a.png'],
    ['upload', '--journal', 'j', '--dry-run', 'a.png', '--json'],
  ],
  ['rewrite', ['upload', '--once', 'a.png'], ['rewrite', 'page.md', '--ndjson']],
  ['rewrite --write', ['upload', '--once', 'a.png'], ['rewrite', '--write', 'page.md', '--ndjson']],
  ['media-url', ['upload', '--once', 'a.png'], ['media-url', 'a.png']],
  ['journal check', ['upload', '--journal', 'j', 'a.png'], ['journal', 'check', 'j', '--', 'a.png']],
  ['--manifest', ['upload', '--manifest', 'm', 'a.png'], ['upload', '--manifest', 'm', 'a.png', '--json']],
];

describe.each(commands)('%s', (name, before, after) => {
  const run = ({box}: Awaited<ReturnType<typeof machine>>) =>
    after[0] === 'media-url' ? program(box, ...after.slice(1)) : box.run(after);

  it('another store behind the URL: refused, nothing sent, printed or written; the first one again: as before', async () => {
    const stores = await machine();
    expect(await stores.box.run(before)).toMatchObject({exitCode: 0});
    const first = stores.service().identity;
    const {identity} = await stores.replace();
    const {stdout, stderr, exitCode} = await run(stores);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(
      `belongs to the service with the ID ${first}, but the one at its URL now has the ID ${identity}.`,
    );
    if (after.includes('--json')) expect(JSON.parse(stderr).error.code).toBe('journal_of_other_service');
    expect(await stores.stored()).toBe(0);
    expect(await readFile(join(stores.box.directory, 'page.md'), 'utf8')).toBe(document);
    await stores.restore();
    expect(await run(stores)).toMatchObject({exitCode: 0});
    expect(await stores.stored()).toBe(1);
  });

  it('nobody responds: nothing skipped, printed or written, and exit status 6', async () => {
    const stores = await machine();
    await stores.box.run(before);
    await stores.service().close();
    const {stdout, stderr, exitCode} = await run(stores);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 6});
    const kind = name === '--manifest' ? 'manifest m, with' : 'journal';
    expect(stderr).toContain(`did not say whether it is the service of the ${kind} `);
    expect(await readFile(join(stores.box.directory, 'page.md'), 'utf8')).toBe(document);
  });
});

it('journal check without a key for that service: says that it was not verified, and checks', async () => {
  const stores = await machine();
  await stores.box.run(['upload', '--journal', 'j', 'a.png']);
  await stores.replace();
  const {MEDIA_API_KEY: _, ...env} = stores.box.env;
  for (const other of [env, {...stores.box.env, MEDIA_BASE_URL: 'http://127.0.0.1:1'}])
    expect(await stores.box.run(['journal', 'check', 'j', '--', 'a.png'], {env: other})).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('not verified'),
    });
});

it('journal check with settings that cannot be used: says why, and does not pass', async () => {
  const stores = await machine();
  await stores.box.run(['upload', '--journal', 'j', 'a.png']);
  const env = {...stores.box.env, MEDIA_BASE_URL: 'http://127.0.0.1:port'};
  const {stdout, stderr, exitCode} = await stores.box.run(['journal', 'check', 'j', '--', 'a.png'], {env});
  expect(stderr).toContain('MEDIA_BASE_URL');
  expect(stderr).not.toContain('not verified');
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
});

it('media watch --delete: a file that only the first store has stays where it is', async () => {
  const stores = await machine();
  const {box} = stores;
  await box.run(['upload', '--once', 'a.png']);
  await stores.replace();
  await mkdir(join(box.directory, 'in'));
  await copyFile(fixture('photo.png'), join(box.directory, 'in/b.png'));
  const watching = new Watching(box, ['in', '--delete', '--ndjson']);
  await eventually(() => watching.stderr.includes('journal_of_other_service'));
  expect(await readdir(join(box.directory, 'in'))).toEqual(['b.png']);
  expect(await stores.stored()).toBe(0);
});

it('the library with a journal: rejects, in a dry run too, and goes on with the first store', async () => {
  const {url, box, stored, replace, restore} = await machine();
  const client = new MediaClient({baseUrl: url, apiKey: box.env['MEDIA_API_KEY'] ?? ''});
  const journal = join(box.directory, 'j');
  const run = async (dryRun = false) => {
    const statuses: string[] = [];
    for await (const {status} of uploadAll(['a.png'], {client, journal, dryRun, cwd: box.directory}))
      statuses.push(status);
    return statuses;
  };
  expect(await run()).toEqual(['uploaded']);
  await replace();
  for (const dryRun of [false, true])
    await expect(run(dryRun)).rejects.toMatchObject({code: 'journal_of_other_service'});
  expect(await stored()).toBe(0);
  await restore();
  expect(await run()).toEqual(['skipped']);
  await client.close();
});

it('journals of two stores behind one URL: neither merged, checked together, nor joined', async () => {
  const stores = await machine();
  const {box} = stores;
  await box.run(['upload', '--journal', 'j', 'a.png']);
  await stores.replace();
  await box.run(['upload', '--journal', 'k', 'a.png']);
  const [j, k] = await Promise.all(['j', 'k'].map(name => readFile(join(box.directory, name), 'utf8')));
  await writeFile(join(box.directory, 'both'), `${j}${k}`);
  for (const command of [
    ['journal', 'merge', '-o', 'all', 'j', 'k'],
    ['journal', 'check', 'j', 'k', '--', 'a.png'],
    ['upload', '--journal', 'both', 'a.png'],
  ])
    expect(await box.run(command)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(` (ID ${stores.service().identity})`),
    });
  // One that was merged belongs to the same store as its parts.
  expect((await box.run(['journal', 'merge', '-o', 'one', 'k'])).exitCode).toBe(0);
  await stores.restore();
  expect((await box.run(['upload', '--journal', 'one', 'a.png'])).stderr).toContain('with the ID');
});

/** A service whose answers bear these identities, one after the other; the last one stays. */
async function identified(...ids: (string | undefined)[]) {
  const box = await sandbox();
  for (const name of ['a.png', 'b.jpg'])
    await copyFile(fixture(`photo.${name.slice(2)}`), join(box.directory, name));
  const {url, requests} = await scriptedServer(async connection => {
    const {head} = await connection.request();
    const id = ids.length > 1 ? ids.shift() : ids[0];
    const isUpload = head.some(line => /^idempotency-key/i.test(line));
    const fields = id === undefined ? {} : {'media-service-id': id};
    connection.answer(isUpload ? 200 : 415, isUpload ? someRecord : '{"message":"no"}', fields);
  });
  Object.assign(box.env, {MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key-of-the-test-1234'});
  const upload = (...words: string[]) =>
    box.run(['upload', '--journal', 'j', '--ndjson', '-c', '1', ...words]);
  return {box, requests, upload};
}

const uploadsIn = (requests: readonly RawRequest[]) =>
  requests.filter(({head}) => head.some(line => /^idempotency-key/i.test(line))).length;
const statusesIn = (stdout: string) => stdout.match(/"status":"\w+"/g);

describe('a journal and Media-Service-Id', () => {
  it('an upload whose response bears another ID: its record printed, its line carries that ID, the run ends', async () => {
    const {box, requests, upload} = await identified('one', 'one', 'two', 'one');
    expect((await upload('a.png')).exitCode).toBe(0);
    await copyFile(fixture('photo.gif'), join(box.directory, 'c.gif'));
    const {stdout, stderr, exitCode} = await upload('b.jpg', 'c.gif');
    expect(statusesIn(stdout)).toEqual(['"status":"uploaded"', '"status":"failed"']);
    expect(exitCode).toBe(3);
    expect(stdout).toContain('"code":"journal_of_other_service"');
    expect(stderr).toContain('b.jpg is stored, but the journal does not record it: The journal j belongs to');
    const journal = await readFile(join(box.directory, 'j'), 'utf8');
    const done = journal.split('\n').filter(line => line.startsWith('{"event":"done"'));
    expect(done.map(line => JSON.parse(line).serviceId)).toEqual(['one', 'two']);
    // The first one is back: it does not have the second file.
    expect(statusesIn((await upload('a.png', 'b.jpg')).stdout)).toEqual([
      '"status":"skipped"',
      '"status":"uploaded"',
    ]);
    expect(uploadsIn(requests)).toBe(3);
  });

  it.each([
    ['another ID', 'two', 1],
    ['no ID', undefined, 0],
  ])('one file whose response bears %s: its record, and exit status', async (_name, id, status) => {
    const {upload} = await identified('one', 'one', id);
    await upload('a.png');
    const {stdout, exitCode} = await upload('b.jpg');
    expect({statuses: statusesIn(stdout), exitCode}).toEqual({
      statuses: ['"status":"uploaded"'],
      exitCode: status,
    });
  });

  it('one file of a manifest whose response bears another ID: said of the manifest', async () => {
    const {box} = await identified('one', 'one', 'two');
    const upload = (name: string) => box.run(['upload', '--manifest', 'm', name]);
    expect((await upload('a.png')).exitCode).toBe(0);
    expect((await upload('b.jpg')).stderr).toContain('The manifest m belongs to the service with the ID one');
  });

  it.each([
    ['none any more', undefined],
    ['one that is malformed', 'one, two'],
  ])('where it was known, %s: nothing skipped, nothing sent, exit status 6', async (_name, then) => {
    const {requests, upload} = await identified('one', then);
    await upload('a.png');
    expect(await upload('a.png', 'b.jpg')).toMatchObject({
      stdout: '',
      exitCode: 6,
      stderr: expect.stringContaining('journal_unverified'),
    });
    expect(uploadsIn(requests)).toBe(1);
  });

  it('asked once a run, of the service only, by a request that stores nothing, with the key', async () => {
    const {requests, upload} = await identified('one');
    await upload('a.png');
    expect((await upload('a.png', 'b.jpg')).exitCode).toBe(0);
    expect(requests).toHaveLength(3);
    const probe = requests.find(({contentLength}) => contentLength === 1);
    expect(probe?.head).toContain('authorization: Bearer key-of-the-test-1234');
    expect(uploadsIn(requests)).toBe(2);
  });

  it.each([
    ['never sent', undefined],
    ['malformed', 'a "b"'],
  ])('%s: the service is known by its URL, and asked nothing', async (_name, id) => {
    const {box, requests, upload} = await identified(id);
    await upload('a.png');
    expect(statusesIn((await upload('a.png')).stdout)).toEqual(['"status":"skipped"']);
    expect((await upload('--dry-run', 'a.png')).exitCode).toBe(0);
    expect((await box.run(['journal', 'check', 'j', '--', 'a.png'])).exitCode).toBe(0);
    expect(requests).toHaveLength(1);
    expect(await readFile(join(box.directory, 'j'), 'utf8')).not.toContain('serviceId');
  });

  it('a dry run needs a key then: it says so', async () => {
    const {box, upload} = await identified('one');
    await upload('a.png');
    delete box.env['MEDIA_API_KEY'];
    expect((await upload('--dry-run', 'a.png')).exitCode).toBe(4);
  });

  it('a redirect is not followed: no other place learns the key', async () => {
    const {box, upload} = await identified('one');
    await upload('a.png');
    const other = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, '', {'media-service-id': 'one'});
    });
    const redirecting = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(307, '', {location: `${other.url}/v1/media/upload`});
    });
    const path = join(box.directory, 'j');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replaceAll(box.env['MEDIA_BASE_URL'] ?? '', redirecting.url));
    box.env['MEDIA_BASE_URL'] = redirecting.url;
    expect((await upload('a.png')).exitCode).toBe(6);
    expect(other.requests).toEqual([]);
  });
});
