import {copyFile, mkdir, readdir, readFile, realpath, symlink, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

/** A request to the control port. */
function control({variables}: {variables: Record<string, string>}) {
  const {MEDIA_RESET_URL: url = '', MEDIA_FAULTS_KEY: key} = variables;
  return fetch(url, {method: 'POST', headers: {Authorization: `Bearer ${key}`}});
}

it('media serve --seed with junk in the directory, twice at once: the same media with the same IDs; a reset', async () => {
  const box = await sandbox();
  const inSeed = (name: string) => join(box.directory, 'seed', name);
  await mkdir(inSeed('.git/deep'), {recursive: true});
  await mkdir(inSeed('clips'));
  for (const name of ['empty', 'junk', 'other']) await mkdir(join(box.directory, name));
  for (const [from, to] of [
    ['photo.png', 'b.png'],
    ['photo.png', 'a.png'],
    ['photo.gif', 'clips/c.gif'],
    ['page-named.png', 'clips/page.png'],
    ['photo.jpg', '.git/deep/hidden.jpg'],
    ['photo.webp', '../other/photo.webp'],
  ] as const)
    await copyFile(fixture(from), inSeed(to));
  await Promise.all([
    writeFile(inSeed('.DS_Store'), ''),
    writeFile(inSeed('read me.txt'), 'text'),
    writeFile(inSeed('empty.jpg'), ''),
    writeFile(join(box.directory, 'junk/notes.txt'), 'text'),
    symlink('..', inSeed('clips/loop')),
    symlink('../a.png', inSeed('clips/inside.png')),
    symlink('../other', inSeed('leads-out')),
    symlink('../other/photo.webp', inSeed('out.webp')),
  ]);
  const options = ['--ephemeral', '--seed', 'seed', '--fault-port', '0'];
  const both = await Promise.all([serve(box, ...options), serve(box, ...options)]);
  const listOf = async ({url, key}: (typeof both)[0]) => {
    const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'};
    const body = '{"query": "{mediaList {nodes {id sha256 contentType createdAt}}}"}';
    const response = await fetch(`${url}/graphql`, {method: 'POST', headers, body});
    return ((await response.json()) as {data: {mediaList: {nodes: Record<string, string>[]}}}).data.mediaList
      .nodes;
  };
  const [first, second] = both;
  const seeded = await listOf(first);
  expect(seeded.map(({contentType}) => contentType).sort()).toEqual(['image/gif', 'image/png']);
  expect(await listOf(second)).toEqual(seeded);
  await eventually(() => first.stderr().includes('Serving'));
  const warnings = first.stderr().replace(/Serving[\s\S]*/, '');
  expect(warnings).toMatch(/seed\/clips\/page\.png is not recognised .* It is not part of the seed\.\n/);
  expect(warnings).toMatch(/seed\/empty\.jpg is empty: .* It is not part of the seed\.\n/);
  expect(warnings).toMatch(/^The seed has 3 of the files in seed; \d were left out\.$/m);
  expect(warnings).toMatch(/^seed\/a\.png and seed\/b\.png have the same content and are stored once\.$/m);
  const other = join(await realpath(box.directory), 'other');
  for (const [link, target] of [
    ['leads-out', other],
    ['out.webp', join(other, 'photo.webp')],
  ])
    expect(warnings).toContain(
      `\nwarning: seed/${link} is a link to ${target}, outside of seed. It is not part of the seed.\n`,
    );
  expect(warnings.trimEnd().split('\n')).toHaveLength(6);

  const upload = await box.run(['upload', fixture('photo.webp'), '--template', '{id}\\n'], {env: first.env});
  // What is uploaded is newer than the seed.
  expect((await listOf(first))[0]?.['id']).toBe(upload.stdout.trim());
  expect(await (await control(first)).json()).toEqual({media: 2});
  expect(await listOf(first)).toEqual(seeded);
  expect(await listOf(second)).toEqual(seeded);
  expect(await readdir(join(box.directory, 'seed'))).toHaveLength(9);

  for (const [parameters, exitCode, message] of [
    [['--seed', 'gone'], 1, /^media: gone could not be found: ENOENT\.\n {2}Name a directory/],
    [['--seed', 'seed/a.png'], 2, /^media: seed\/a\.png is not a directory\.\n {2}Name a directory/],
    [['--seed', 'empty'], 2, /empty/],
    [['--seed', 'junk'], 2, /no images or videos/],
    [['--allow-origin', 'http://a$b/'], 2, /\n {2}Write it like this: --allow-origin 'http:\/\/a\$b'\n$/],
    [['--allow-origin', 'http://a.test/'], 2, /\n {2}Write it like this: --allow-origin http:\/\/a\.test\n$/],
  ] as const) {
    const refused = await box.run(['serve', '--port', '0', '--ephemeral', ...parameters]);
    expect(refused.stderr).toMatch(message);
    expect({parameters, stdout: refused.stdout, exitCode: refused.exitCode}).toEqual({
      ...{parameters, stdout: '', exitCode},
    });
  }
});

it('requests for thumbnails of a seed, at once and later: each picture is opened once, also one that breaks off', async () => {
  const box = await sandbox();
  const [sharp, opened] = [join(box.directory, 'sharp.cjs'), join(box.directory, 'opened')];
  const real = createRequire(import.meta.url).resolve('sharp');
  await writeFile(
    sharp,
    `module.exports = (...input) => {
      require('node:fs').appendFileSync(${JSON.stringify(opened)}, '.');
      return require(${JSON.stringify(real)})(...input);
    };`,
  );
  box.env['MEDIA_SHARP'] = sharp;
  await mkdir(join(box.directory, 'seed'));
  for (const name of ['photo.png', 'truncated.png'])
    await copyFile(fixture(name), join(box.directory, 'seed', name));
  const {url, key} = await serve(box, '--ephemeral', '--seed', 'seed');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
    body: '{"query": "{mediaList {nodes {thumbnailUrl}}}"}',
  });
  const {data} = (await response.json()) as {data: {mediaList: {nodes: {thumbnailUrl: string}[]}}};
  const urls = data.mediaList.nodes.map(({thumbnailUrl}) => thumbnailUrl);
  const get = async (thumbnail: string) => (await fetch(thumbnail)).headers.get('content-type');
  const types = await Promise.all([...urls, ...urls].map(get));
  types.push(...(await Promise.all(urls.map(get))));
  expect(types.sort()).toEqual([...Array(3).fill('image/png'), ...Array(3).fill('image/webp')]);
  expect(await readFile(opened, 'utf8')).toBe('..');
});

it('SIGTERM while thumbnails of a seed are asked for: the one that is being made is the last', async () => {
  const box = await sandbox();
  const [sharp, opened, go] = ['sharp.cjs', 'opened', 'go'].map(name => join(box.directory, name));
  await writeFile(
    sharp ?? '',
    `const {appendFileSync, existsSync} = require('node:fs');
    module.exports = () => {
      appendFileSync(${JSON.stringify(opened)}, '.');
      const word = new Int32Array(new SharedArrayBuffer(4));
      while (!existsSync(${JSON.stringify(go)})) Atomics.wait(word, 0, 0, 10);
      throw new Error('no picture');
    };`,
  );
  box.env['MEDIA_SHARP'] = sharp ?? '';
  await mkdir(join(box.directory, 'seed'));
  for (const name of ['photo.png', 'photo.jpg', 'photo.webp'])
    await copyFile(fixture(name), join(box.directory, 'seed', name));
  const {url, key, child} = await serve(box, '--ephemeral', '--seed', 'seed');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
    body: '{"query": "{mediaList {nodes {thumbnailUrl}}}"}',
  });
  const {data} = (await response.json()) as {data: {mediaList: {nodes: {thumbnailUrl: string}[]}}};
  const asked = data.mediaList.nodes.map(({thumbnailUrl}) => fetch(thumbnailUrl).catch(() => 'closed'));
  const readOpened = () => readFile(opened ?? '', 'utf8').catch(() => '');
  await eventually(async () => (await readOpened()) === '.');
  child.kill('SIGTERM');
  expect(await Promise.all(asked)).toEqual(['closed', 'closed', 'closed']);
  await writeFile(go ?? '', '');
  expect(await child).toMatchObject({signal: 'SIGTERM'});
  expect(await readOpened()).toBe('.');
});

it('media serve with its data directory in the seed, also by way of a link: a thumbnail that is kept there is not part of the seed', async () => {
  const box = await sandbox();
  await copyFile(fixture('clip.mp4'), join(box.directory, 'clip.mp4'));
  await mkdir(join(box.directory, 'data/thumbnails'), {recursive: true});
  await copyFile(fixture('photo.webp'), join(box.directory, 'data/thumbnails/photo.webp'));
  await symlink('.', join(box.directory, 'link'));
  for (const seed of ['.', 'link']) {
    const {variables, child} = await serve(box, '--data-dir', 'data', '--seed', seed, '--fault-port', '0');
    expect(await (await control({variables})).json()).toEqual({media: 1});
    child.kill('SIGTERM');
    await child;
  }
});
