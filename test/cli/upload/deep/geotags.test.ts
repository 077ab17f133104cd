import {hash} from 'node:crypto';
import {copyFile, mkdir, readFile, stat, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, it} from 'vitest';
import {MediaClient} from '../../../../src/library/media-client.ts';
import {uploadAll} from '../../../../src/library/upload-all.ts';
import {jpegWith, position, tiffOf} from '../../../media/location/tagged.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaUrl} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';
import {Watching} from '../../../support/watching.ts';

const secret = 'SECRET-PLACE';
const stays =
  'An earlier upload tells where it was taken, and stays public until you delete it at the service.';

/** A photo with a position, behind this many further segments of 60,000 bytes. */
function photo(segments: number, text: string): Promise<Buffer> {
  const filling = [...Array(segments).keys()].map(number => [30, Buffer.alloc(60_000, number)] as const);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiffOf(true, [[[0x88_25, 4, [-1]]], position])]);
  return jpegWith(...filling, [1, exif], [30, text]);
}

/** A machine with a small and a large photo that tell where they were taken, a picture that does not, and a video that may. */
async function machine() {
  const connected = await connectedSandbox();
  const {sandbox: box, service} = connected;
  const path = (name: string) => join(box.directory, name);
  const sources = {'small.jpg': await photo(0, 'one'), 'large.jpg': await photo(9, 'two')};
  for (const [name, bytes] of Object.entries(sources)) {
    await writeFile(path(name), bytes);
  }
  await writeFile(path('plain.jpg'), await readFile(fixture('photo.jpg')));
  await copyFile(fixture('clip.mkv'), path('clip.mkv'));
  const run = async (...parameters: string[]) => {
    const {stdout, stderr, exitCode} = await box.run(['upload', '--ndjson', ...parameters]);
    const lines = stdout.split('\n').slice(0, -1);
    const results = lines
      .map(line => JSON.parse(line))
      .sort((one, other) => (one.file < other.file ? -1 : 1));
    const said = results.map(({file, status, geotags, warning}) => [file, status, geotags, warning]);
    return {said, results, stderr, exitCode};
  };
  const bytesOf = async ({id}: {id?: unknown}) => {
    const stored = (await service.records()).find(one => one.record.id === id);
    return readFile(stored?.path ?? '');
  };
  const storedCount = async () => (await service.records()).length;
  return {...connected, box, path, sources, run, bytesOf, storedCount};
}

it('a manifest that has the file with its location: sent without it, once, and the entry replaced', async () => {
  const {path, run, storedCount} = await machine();
  const withManifest = (...more: string[]) => run('small.jpg', '--manifest', 'm.json', ...more);
  const urlIn = async () => JSON.parse(await readFile(path('m.json'), 'utf8')).files['small.jpg'].url;
  await withManifest();
  const before = await urlIn();
  const {said, results, stderr} = await withManifest('--geotags', 'strip');
  expect(said).toEqual([['small.jpg', 'uploaded', 'stripped', expect.stringContaining(stays)]]);
  expect(stderr).toContain('m.json: 0 added, 1 changed, 0 unchanged\n');
  expect(await urlIn()).toBe(results[0].url);
  expect(await urlIn()).not.toBe(before);
  expect((await withManifest('--geotags', 'strip')).said[0]?.slice(0, 3)).toEqual([
    ...['small.jpg', 'skipped', 'stripped'],
  ]);
  expect(await storedCount()).toBe(2);
});

it('the positions of a dashcam that no track refers to, and a phone cell: refused, and sent without it', async () => {
  const {box, path, run, bytesOf, storedCount} = await machine();
  const record = Buffer.from('GP\x06\0\0\0\0\x08\0\0\0\0\0\0\0\0DEVC\0\x01\0\x04', 'latin1');
  const data = Buffer.concat([Buffer.from('\0\0\0\x20mdat', 'latin1'), record]);
  await writeFile(path('drive.mp4'), Buffer.concat([await readFile(fixture('clip.mp4')), data]));
  const cell =
    '<rdf:Description xmlns:cell="http://developer.sonyericsson.com/cell/1.0/" cell:cgi="262-01-1" cell:r="7"/>';
  await writeFile(path('cell.jpg'), await jpegWith([1, `http://ns.adobe.com/xap/1.0/\0${cell}`]));
  const {said, results, exitCode} = await run('drive.mp4', 'cell.jpg', '--geotags', 'strip');
  expect(said.map(line => line.slice(0, 3))).toEqual([
    ['cell.jpg', 'uploaded', 'stripped'],
    ['drive.mp4', 'failed', undefined],
  ]);
  expect(results[1].error).toMatchObject({
    code: 'geotags_unstrippable',
    message: expect.stringContaining('dashcam'),
  });
  const sent = await bytesOf(results[0].record);
  expect([sent.length, sent.includes('262-01-1'), sent.includes('cell:r=')]).toEqual([
    (await readFile(path('cell.jpg'))).length,
    false,
    false,
  ]);
  expect([
    exitCode,
    await storedCount(),
    (await box.run(['upload', 'drive.mp4', '--geotags', 'warn'])).stderr,
  ]).toEqual([3, 1, expect.stringContaining('the positions of a dashcam could not be checked')]);
});

it('a machine that begins to strip: what is sent, skipped, refused, printed and remembered', async () => {
  const {box, sources, run, bytesOf, path, storedCount} = await machine();
  const photos = ['small.jpg', 'large.jpg', 'plain.jpg'];
  // The next run need not read what has not changed for two seconds before this one, and reads what was touched since.
  await eventually(async () => (await stat(path('clip.mkv'))).ctimeMs < Date.now() - 2_000);
  const kept = await run(...photos, 'clip.mkv', '--journal', 'j');
  await utimes(path('large.jpg'), 1_000_000_000, 1_000_000_000);
  expect(kept.said.map(([, status, geotags]) => [status, geotags])).toEqual(
    Array(4).fill(['uploaded', undefined]),
  );

  const warned = await run(...photos, 'clip.mkv', '--journal', 'j', '--geotags', 'warn');
  const tells = 'It tells where it was taken.';
  expect(warned.said).toEqual([
    [
      'clip.mkv',
      'skipped',
      undefined,
      expect.stringMatching(/^It may tell where it was taken: .* could not be checked\.$/),
    ],
    ['large.jpg', 'skipped', 'present', tells],
    ['plain.jpg', 'skipped', 'none', undefined],
    ['small.jpg', 'skipped', 'present', tells],
  ]);
  const inWords = await box.run(['upload', ...photos, '--dry-run', '--geotags', 'warn']);
  expect(inWords.stderr).toContain('warning: 2 files tell where they were taken.\n  small.jpg, large.jpg\n');

  const dry = await box.run(['upload', ...photos, '--journal', 'j', '--dry-run', '--geotags', 'strip']);
  expect(dry.stdout).toMatch(/small\.jpg .* without its location/);
  expect(dry.stderr).toContain('  without their location: 2 files,');
  expect(dry.stderr).toContain(`warning: 2 files: ${stays}\n`);
  expect(await storedCount()).toBe(4);

  const stripped = await run(
    ...photos,
    'clip.mkv',
    '--journal',
    'j',
    '--geotags',
    'strip',
    '--verify',
    'strict',
  );
  expect(stripped.exitCode).toBe(3);
  expect(stripped.said).toEqual([
    ['clip.mkv', 'failed', undefined, undefined],
    ['large.jpg', 'uploaded', 'stripped', stays],
    ['plain.jpg', 'skipped', 'none', undefined],
    ['small.jpg', 'uploaded', 'stripped', stays],
  ]);
  expect(stripped.results[0].error.code).toBe('geotags_unstrippable');
  expect(stripped.results[0].error.message).toMatch(/^clip\.mkv is not sent: .*, in .*matroska\.$/);
  for (const {file, record} of [stripped.results[1], stripped.results[3]]) {
    const source = sources[file as keyof typeof sources];
    const sent = await bytesOf(record);
    expect(sent.length).toBe(source.length);
    expect(sent.includes(secret)).toBe(false);
    expect(await readFile(path(file))).toEqual(source);
    const differing = source.reduce((count, byte, at) => count + Number(byte !== sent[at]), 0);
    expect(differing).toBeLessThan(120);
  }
  const journal = await readFile(path('j'), 'utf8');
  expect(journal.match(/"transform":"geotags\/2"/g)).toHaveLength(2);
  // Both ways are known by the hash of the source.
  for (const bytes of Object.values(sources)) expect(journal.split(hash('sha256', bytes))).toHaveLength(3);

  // That, too, of a file that was never sent with its location, and is hashed while it is sent.
  await writeFile(path('new.jpg'), await photo(20, 'three'));
  await run('new.jpg', '--journal', 'j', '--geotags', 'strip');
  await copyFile(path('new.jpg'), path('copy.jpg'));
  const copied = await run('copy.jpg', '--journal', 'j', '--geotags', 'strip');
  expect(copied.said).toEqual([['copy.jpg', 'skipped', 'stripped', undefined]]);

  const again = await run(...photos, '--journal', 'j', '--geotags', 'strip');
  expect(again.said.map(([, status, geotags, warning]) => [status, geotags, warning])).toEqual([
    ['skipped', 'stripped', undefined],
    ['skipped', 'none', undefined],
    ['skipped', 'stripped', undefined],
  ]);
  expect((await run(...photos, '--journal', 'j')).said.map(([, status]) => status)).toEqual(
    Array(3).fill('skipped'),
  );
  expect(await storedCount()).toBe(7);
  const check = await box.run(['journal', 'check', 'j', '--', ...photos]);
  expect(check.stderr).toBe('3 inputs, each recorded exactly once.\n');
});

it('an upload of unknown outcome: not sent again in another way, unless that is asked for, and never under its key', async () => {
  const {box, sources} = await machine();
  const statuses = [502, 502];
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(statuses.shift() ?? 500, 'gone');
  });
  const profile = {
    'base-url': url,
    key: 'key-of-the-test-1234',
    'key-origin': url,
    'idempotency-keys': 'honoured',
  };
  const config = JSON.stringify({profiles: {default: profile}});
  await writeFile(join(box.directory, 'config.json'), config, {mode: 0o600});
  const env = {MEDIA_CONFIG_DIR: box.directory, PATH: box.env['PATH'] ?? '', HOME: box.directory};
  const run = async (...parameters: string[]) => {
    const command = ['upload', 'small.jpg', '--journal', 'k', '--retries', '0', '--ndjson', ...parameters];
    return JSON.parse((await box.run(command, {env, extendEnv: false})).stdout).status;
  };
  expect(await run('--geotags', 'strip', '--on-unknown', 'hold')).toBe('unknown');
  expect(await run()).toBe('unknown');
  expect(requests).toHaveLength(1);
  expect(await run('--on-unknown', 'retry')).toBe('unknown');
  const keys = requests.map(({head}) => head.find(line => /^idempotency-key/i.test(line)));
  expect(new Set(keys).size).toBe(2);
  expect(sources['small.jpg'].includes(secret)).toBe(true);
});

it('watch, media-url, rewrite, the library and standard input: the same', async () => {
  const {box, path, service, key, sources, bytesOf} = await machine();
  const strip = ['--geotags', 'strip'];
  const refused = await box.run(['watch', '.', '--delete', ...strip]);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining('--delete and --geotags strip were given together.'),
  ]);
  await mkdir(path('in'));
  await writeFile(path('in/a.jpg'), await photo(0, 'watch'));
  const watching = new Watching(box, ['in', '--ndjson', ...strip]);
  expect(await watching.line({file: 'in/a.jpg'})).toMatchObject({status: 'uploaded', geotags: 'stripped'});
  await writeFile(path('c.jpg'), await photo(0, 'media-url'));
  await execa(mediaUrl, ['c.jpg', ...strip], {cwd: box.directory, env: box.env});
  await writeFile(path('d.jpg'), await photo(0, 'rewrite'));
  await writeFile(path('post.md'), '![](d.jpg)');
  const rewrite = await box.run(['rewrite', 'post.md', '--ndjson', ...strip]);
  expect(JSON.parse(rewrite.stdout)).toMatchObject({status: 'checked', geotags: 'stripped'});
  await box.run(['rewrite', '--write', 'post.md', ...strip]);
  const input = await box.run(['upload', '-', '--name', 'e.jpg', '--ndjson', ...strip], {
    stdin: 'pipe',
    input: await photo(5, 'stdin'),
  });
  expect(JSON.parse(input.stdout)).toMatchObject({status: 'uploaded', geotags: 'stripped'});
  const client = new MediaClient({baseUrl: service.url, apiKey: key});
  for await (const result of uploadAll([path('small.jpg')], {client, geotags: 'strip'}))
    expect(result).toMatchObject({status: 'uploaded', geotags: 'stripped'});
  await client.close();
  const records = await service.records();
  expect(records).toHaveLength(5);
  for (const {record} of records) expect((await bytesOf(record)).includes(secret)).toBe(false);
  expect(sources['small.jpg'].includes(secret)).toBe(true);
});
