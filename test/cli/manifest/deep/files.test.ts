import {link, mkdir, open, readFile, rename, rm, symlink, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../../../src/host.ts';
import {notRun} from '../../../support/installed.ts';
import {inputOf, upload as leave, openJournal} from '../../../support/journal.ts';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {checkout, writePng} from '../checkout.ts';

const drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('media upload --manifest', () => {
  it('standard input is known by its name, which it needs', async () => {
    const {sandbox, upload, path, manifest, stored} = await checkout();
    const input = await readFile(fixture('photo.png'));
    const pipe = (...parameters: string[]) =>
      sandbox.run(['upload', '--manifest', 'media.json', '-', ...parameters], {stdin: 'pipe', input});
    expect(await pipe()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Name it with --name.'),
    });
    expect((await pipe('--name', 'cat.png')).exitCode).toBe(0);
    expect((await pipe('--name', 'cat.png')).exitCode).toBe(0);
    expect((await manifest()).files).toMatchObject({'cat.png': {stdin: true, contentType: 'image/png'}});
    expect((await upload('assets/img/logo.png')).exitCode).toBe(0);
    expect((await manifest()).files['assets/img/logo.png']).not.toHaveProperty('stdin');
    await writeFile(path('cat.png'), input);
    for (const run of [() => upload('cat.png'), () => pipe('--name', 'cat.png')]) {
      expect((await run()).exitCode).toBe(0);
      expect((await manifest()).files['cat.png']).not.toHaveProperty('stdin');
    }
    expect(await stored()).toBe(1);
  });

  it('--check: another key has the content as it would be sent, but this one has not', async () => {
    const {upload, path} = await checkout();
    await writePng(path('copy.png'), 'icon');
    const asWebp = ['--content-type', 'image/webp'];
    await upload('assets/icon.png');
    await upload('copy.png', ...asWebp);
    expect((await upload('assets/icon.png', '--check')).exitCode).toBe(0);
    expect(await upload('assets/icon.png', '--check', ...asWebp)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('assets/icon.png is not as in media.json'),
    });
    expect((await upload('assets/icon.png', ...asWebp)).stderr).toContain('1 changed');
  });

  it('files beside its directory, through a link to elsewhere: keys as they are named', async () => {
    const {sandbox, path, stored} = await checkout();
    await mkdir(path('data'));
    const elsewhere = join(await temporaryDirectory(), 'pictures');
    await rename(path('assets'), elsewhere);
    await symlink(elsewhere, path('assets'));
    for (const [directory, inputs, manifest] of [
      ['data', '../assets', 'media.json'],
      ['.', 'assets', 'data/media.json'],
    ] as const) {
      const upload = ['upload', '-r', `${inputs}/`, '--manifest', manifest];
      expect((await sandbox.run(upload, {cwd: path(directory)})).exitCode).toBe(0);
      const {files} = JSON.parse(await readFile(path('data/media.json'), 'utf8'));
      expect(Object.keys(files)).toEqual(['../assets/icon.png', '../assets/img/logo.png']);
    }
    expect(await stored()).toBe(2);
  });

  it('two files whose paths are equal once `..` after a link is folded: two keys', async () => {
    const {upload, path, manifest} = await checkout();
    await symlink('assets/img', path('link'));
    await writePng(path('icon.png'), 'another');
    expect((await upload('icon.png', 'link/../icon.png')).exitCode).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png', 'icon.png']);
    expect((await upload('icon.png', 'link/../icon.png', '--check')).exitCode).toBe(0);
    // Folded or not, a link within the directory is named as such.
    expect((await upload('assets/../link/logo.png')).exitCode).toBe(0);
    expect(Object.keys((await manifest()).files)).toContain('link/logo.png');
  });

  it('the manifest and its journal are left out of a walk, and are not the output', async () => {
    const {sandbox, upload, path} = await checkout();
    await upload('-r', 'assets');
    expect(
      (await upload('-r', '.', '--all', '--exclude', '{config,data,.*}/**', '--ndjson')).stdout.match(
        /"file":"media\.json/g,
      ),
    ).toBeNull();
    const output = await open(path('media.json'), 'r+');
    const run = sandbox.run(['upload', '-r', 'assets', '--manifest', 'media.json'], {
      stdout: output.fd as never,
    });
    expect(await run).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--manifest and standard output are the same file'),
    });
    await output.close();
  });

  it('a manifest that a link leads to: its journal is left out of a walk, and is not the output', async () => {
    const {sandbox, service, path} = await checkout();
    await mkdir(path('data'));
    await symlink('data/media.json', path('media.json'));
    const scope = {service: service.url};
    const journal = await openJournal(path('data/media.json.journal'), systemHost(), {scope});
    await leave(journal, inputOf('other.png'), 'commit').finally(() => journal.close());
    const walk = ['upload', '-r', 'data', 'assets', '--all', '--manifest', 'media.json', '--ndjson'];
    const {stdout} = await sandbox.run(walk);
    expect(stdout.match(/"file":"[^"]*"/g)?.sort()).toEqual([
      '"file":"assets/icon.png"',
      '"file":"assets/img/logo.png"',
    ]);
    const output = await open(path('data/media.json.journal'), 'w');
    expect(await sandbox.run(walk, {stdout: output.fd as never})).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The journal of the manifest and standard output are the same file'),
    });
    await output.close();
  });

  it('that cannot be written: exit status 1, and the next run continues', async () => {
    const {upload, path, manifest, stored, beside} = await checkout();
    await upload('assets/icon.png');
    await link(path('media.json'), path('assets/media.json'));
    const {exitCode, stdout, stderr} = await upload('assets/img/logo.png', '--format', 'url');
    expect({exitCode, stderr}).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('The manifest media.json could not be written'),
    });
    expect(stderr).not.toContain('1 added');
    expect(await beside()).toEqual(['media.json', 'media.json.journal']);
    await rm(path('assets/media.json'));
    expect((await upload('assets/icon.png')).exitCode).toBe(0);
    expect(`${(await manifest()).files['assets/img/logo.png']?.url}\n`).toBe(stdout);
    expect(await beside()).toEqual(['media.json']);
    expect(await stored()).toBe(2);
  });

  it('without a key: refused for another service, also in a dry run; what is gone is removed', async () => {
    const {sandbox, service, path, upload, text, manifest} = await checkout();
    await upload('-r', 'assets');
    delete sandbox.env['MEDIA_API_KEY'];
    expect(await upload('-r', 'assets')).toMatchObject({exitCode: 4});
    const own = (await text()).replace(/ {2}"serviceId".*\n/, '');
    await writeFile(path('media.json'), own.replace(service.url, 'https://other.example'));
    for (const options of [[], ['--dry-run']])
      expect(await upload('-r', 'assets', ...options)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('The manifest media.json belongs to https://other.example'),
      });
    await writeFile(path('media.json'), own);
    delete sandbox.env['MEDIA_BASE_URL'];
    await rm(path('assets/icon.png'));
    expect(await upload('-r', 'assets', '--prune')).toMatchObject({exitCode: 0});
    const {files, service: url} = await manifest();
    expect([Object.keys(files), url]).toEqual([['assets/img/logo.png'], service.url]);
  });

  it.each([
    ['1', 0, '1 will be uploaded'],
    ['0', 5, '1 unknown'],
  ])(
    'a dry run with MEDIA_IDEMPOTENCY_KEYS=%s, after a run that was cut off: exit status %d',
    async (value, exitCode, summary) => {
      const {sandbox, service, path, upload} = await checkout();
      const scope = {service: service.url};
      const journal = await openJournal(path('media.json.journal'), systemHost(), {scope});
      const input = {...inputOf('assets/a.svg', drawing), contentType: 'image/svg+xml'};
      await leave(journal, input, 'commit').finally(() => journal.close());
      await writeFile(path('assets/a.svg'), drawing);
      sandbox.env['MEDIA_IDEMPOTENCY_KEYS'] = value;
      expect(await upload('-r', 'assets/a.svg', '--dry-run')).toMatchObject({
        exitCode,
        stderr: expect.stringContaining(summary),
      });
    },
  );

  it('a name that is not UTF-8 is refused before it is sent; names that differ in case are kept, and noted', async context => {
    const {upload, path, manifest, stored} = await checkout();
    const bytes = Buffer.concat([Buffer.from(path('assets/')), Buffer.from([0xff, 0x2e, 0x70, 0x6e, 0x67])]);
    await writeFile(bytes, await readFile(fixture('photo.png'))).catch(() =>
      notRun(context, 'on this file system, names are text'),
    );
    const refused = await upload('-r', 'assets');
    expect(refused).toMatchObject({exitCode: 3, stderr: expect.stringContaining('its name is not UTF-8')});
    expect(await stored()).toBe(2);
    await unlink(bytes);
    await writePng(path('assets/ICON.png'), 'loud');
    for (const options of [['--dry-run'], []]) {
      const {stderr, exitCode} = await upload('-r', 'assets', ...options);
      expect(exitCode).toBe(0);
      expect(stderr).toContain(
        'media.json has assets/icon.png and assets/ICON.png: only the spelling differs.\n',
      );
    }
    expect((await upload('-r', 'assets')).stderr).not.toContain('spelling');
    await rename(path('assets/ICON.png'), path('assets/e\u0301.png'));
    expect((await upload('-r', 'assets')).exitCode).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual([
      'assets/ICON.png',
      'assets/icon.png',
      'assets/img/logo.png',
      'assets/\u00e9.png',
    ]);
  });
});

/** A checkout that git knows, with its pictures uploaded. */
async function repository() {
  const made = await checkout();
  const git = (...words: string[]) =>
    execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {cwd: made.path('.')});
  await made.upload('-r', 'assets');
  await git('init', '--quiet');
  await git('add', 'assets', 'media.json');
  await git('commit', '--quiet', '-m', 'assets');
  return {...made, git};
}

describe('media upload --prune', () => {
  it('never in a sparse checkout', async () => {
    const {sandbox, upload, manifest, git} = await repository();
    await git('sparse-checkout', 'set', '--no-cone', 'media.json', 'assets/icon.png');
    const refused = await upload('assets/icon.png', 'assets/img/logo.png', '--prune');
    expect(refused).toMatchObject({exitCode: 2, stderr: expect.stringContaining('sparse checkout')});
    expect((await upload('-r', 'assets', '--check', '--prune')).exitCode).toBe(2);
    expect(Object.keys((await manifest()).files)).toHaveLength(2);
    const below = ['upload', 'assets/icon.png', '--manifest', 'assets/media.json', '--prune'];
    expect((await sandbox.run(below)).exitCode).toBe(2);
    await git('sparse-checkout', 'disable');
    expect((await upload('-r', 'assets', '--prune')).exitCode).toBe(0);
    expect((await sandbox.run(below)).exitCode).toBe(0);
  });

  it('in another work tree, by the settings of that and of all', async () => {
    const {sandbox, git} = await repository();
    await git('worktree', 'add', '--quiet', 'tree');
    const prune = () =>
      sandbox.run(['upload', '-r', 'tree/assets', '--manifest', 'tree/media.json', '--prune']);
    expect((await prune()).exitCode).toBe(0);
    await git('-C', 'tree', 'sparse-checkout', 'set', '--no-cone', 'media.json', 'assets/icon.png');
    expect((await prune()).exitCode).toBe(2);
    await git('-C', 'tree', 'sparse-checkout', 'disable');
    expect((await prune()).exitCode).toBe(0);
    await git('config', 'core.sparseCheckout', 'true');
    expect((await prune()).exitCode).toBe(2);
  });
});
