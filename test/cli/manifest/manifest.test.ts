import {copyFile, mkdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {fixture} from '../../support/media.ts';
import {checkout, isFaultApplied, writePng} from './checkout.ts';

describe('media upload --manifest', () => {
  it('records what was uploaded; the next run sends nothing, needs no key, and leaves the bytes', async () => {
    const {sandbox, service, upload, text, manifest, stored, beside} = await checkout();
    const first = await upload('-r', 'assets', '--format', 'url');
    expect(first).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/media\.json: 2 added, 0 changed, 0 unchanged\n$/),
    });
    const {files, service: url, serviceId} = await manifest();
    expect({url, serviceId}).toEqual({url: service.url, serviceId: service.identity});
    expect(Object.keys(files)).toEqual(['assets/icon.png', 'assets/img/logo.png']);
    expect(files['assets/icon.png']).toMatchObject({
      url: first.stdout.split('\n')[0],
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      contentType: 'image/png',
      record: {id: expect.any(String)},
    });
    expect(await beside()).toEqual(['media.json']);
    const bytes = await text();
    const {stdout, exitCode, stderr} = await upload('-r', 'assets', '--format', 'url');
    expect({stdout, exitCode}).toEqual({stdout: first.stdout, exitCode: 0});
    expect(stderr).toContain('media.json: 0 added, 0 changed, 2 unchanged\n');
    expect(await text()).toBe(bytes);
    expect(await stored()).toBe(2);
    expect(await beside()).toEqual(['media.json']);
    // A layout that is not ours stays, too.
    const withCrlf = `\ufeff${bytes.replace(/ {2}"serviceId".*\n/, '').replaceAll('\n', '\r\n')}`;
    await writeFile(join(sandbox.directory, 'media.json'), withCrlf);
    await service.close();
    delete sandbox.env['MEDIA_API_KEY'];
    expect(await upload('-r', 'assets', '--format', 'url')).toMatchObject({
      stdout: first.stdout,
      exitCode: 0,
    });
    expect(await text()).toBe(withCrlf);
  });

  it('a file with another name: a new key without a request; other content: replaced, with the fields of others', async () => {
    const {path, upload, manifest, stored} = await checkout();
    await upload('-r', 'assets');
    const before = await manifest();
    const noted = JSON.stringify({
      ...before,
      files: {...before.files, 'assets/icon.png': {...before.files['assets/icon.png'], alt: 'An icon'}},
    });
    await writeFile(path('media.json'), noted);
    await rename(path('assets/img/logo.png'), path('assets/brand.png'));
    await copyFile(path('assets/brand.png'), path('assets/copy.png'));
    await writePng(path('assets/icon.png'), 'another icon');
    const {stderr, exitCode} = await upload('-r', 'assets');
    expect({exitCode, stderr}).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('media.json: 2 added, 1 changed, 1 unchanged\n'),
    });
    const {files} = await manifest();
    const logo = before.files['assets/img/logo.png'];
    expect(files).toMatchObject({
      'assets/img/logo.png': logo,
      'assets/brand.png': logo,
      'assets/copy.png': logo,
    });
    expect(files['assets/icon.png']).toMatchObject({alt: 'An icon'});
    expect(files['assets/icon.png']?.sha256).not.toBe(before.files['assets/icon.png']?.sha256);
    expect(await stored()).toBe(3);
  });

  it('the same bytes as another type: sent, and the entry replaced, once', async () => {
    const {upload, manifest, stored} = await checkout();
    await upload('assets/icon.png');
    const before = (await manifest()).files['assets/icon.png'];
    const asWebp = () => upload('assets/icon.png', '--content-type', 'image/webp');
    expect((await asWebp()).stderr).toContain('media.json: 0 added, 1 changed, 0 unchanged\n');
    const {files} = await manifest();
    expect(files['assets/icon.png']).toMatchObject({sha256: before?.sha256, contentType: 'image/webp'});
    expect(files['assets/icon.png']?.url).not.toBe(before?.url);
    expect((await asWebp()).stderr).toContain('media.json: 0 added, 0 changed, 1 unchanged\n');
    expect(await stored()).toBe(2);
  });

  it('keys are paths from the directory of the file that a link leads to, wherever the command runs', async () => {
    const {sandbox, path, manifest, stored} = await checkout();
    await mkdir(path('data'));
    await symlink('data/media.json', path('media.json'));
    const run = (cwd: string, ...parameters: string[]) =>
      sandbox.run(['upload', ...parameters], {cwd: path(cwd)});
    expect((await run('.', 'assets/icon.png', '--manifest', 'media.json')).exitCode).toBe(0);
    expect(
      (await run('assets', 'icon.png', 'img/../img/logo.png', '--manifest', '../media.json')).exitCode,
    ).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual(['../assets/icon.png', '../assets/img/logo.png']);
    expect(await stored()).toBe(2);
    expect((await run('assets', '-r', '.', '--manifest', '../media.json', '--check')).exitCode).toBe(0);
    await rm(path('assets/icon.png'));
    expect((await run('.', '-r', 'assets', '--manifest', 'media.json', '--prune')).exitCode).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual(['../assets/img/logo.png']);
  });

  it('named through a link to its directory, as its files: the same keys', async () => {
    const {sandbox, path, manifest, stored} = await checkout();
    await symlink('.', path('site'));
    for (const directory of ['site/', '']) {
      const parameters = [`${directory}assets/icon.png`, '--manifest', `${directory}media.json`];
      expect((await sandbox.run(['upload', ...parameters])).exitCode).toBe(0);
      expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    }
    expect(await stored()).toBe(1);
  });

  it('what is unknown is written, and blocks its content under any name until it is settled; exit 5', async () => {
    const {service, path, upload, manifest, stored, beside} = await checkout({
      faults: {list: ['upload:nth=1,after=store,reset']},
    });
    const first = await upload('-r', 'assets', '--retries', '0', '-c', '1');
    expect(first.exitCode).toBe(5);
    expect(first.stderr).toContain('media journal resolve media.json --all --resend');
    const {files, unknown} = await manifest();
    expect(Object.keys(files)).toEqual(['assets/img/logo.png']);
    expect(unknown).toEqual({
      'assets/icon.png': {sha256: expect.any(String), size: expect.any(Number), contentType: 'image/png'},
    });
    expect(await beside()).toEqual(['media.json']);
    service.faults?.replace([]);
    await rename(path('assets/icon.png'), path('assets/moved.png'));
    expect((await upload('-r', 'assets')).exitCode).toBe(5);
    expect(await stored()).toBe(2);
    expect((await manifest()).unknown).toEqual(unknown);
    expect((await upload('-r', 'assets', '--on-unknown', 'retry')).exitCode).toBe(0);
    expect(await manifest()).not.toHaveProperty('unknown');
  });

  it('a run that is killed leaves its journal, which the next one continues and removes', async () => {
    const {sandbox, service, path, upload, manifest, stored, beside} = await checkout({
      faults: {list: ['upload:nth=2-,silence']},
    });
    const running = sandbox.start(['upload', '--manifest', 'media.json', '-r', 'assets', '-c', '1']);
    await eventually(() => isFaultApplied(service));
    running.kill('SIGKILL');
    await running;
    expect(await beside()).toEqual(['media.json.journal', 'media.json.journal.lock']);
    service.faults?.replace([]);
    await rm(path('assets/img'), {recursive: true});
    expect((await upload('assets/icon.png')).exitCode).toBe(0);
    const {files, unknown = {}} = await manifest();
    expect([Object.keys(files), Object.keys(unknown)]).toEqual([
      ['assets/icon.png'],
      ['assets/img/logo.png'],
    ]);
    expect(await beside()).toEqual(['media.json']);
    expect(await stored()).toBe(1);
  });

  it('of another service: refused, with both named; a newer version, or no JSON: nothing sent, the file untouched', async () => {
    const {service, path, upload, text, stored} = await checkout();
    await upload('-r', 'assets');
    const whole = await text();
    for (const [changed, code, words] of [
      [
        whole.replace(service.url, 'https://other.example'),
        'journal_of_other_service',
        'https://other.example',
      ],
      [whole.replace(/"serviceId": "/, '$&0'), 'journal_of_other_service', `0${service.identity}`],
      [whole.replace('"version": 1', '"version": 2'), 'journal_unusable', 'line 2'],
      [whole.slice(0, -9), 'journal_unusable', 'media.json'],
    ] as const) {
      await writeFile(path('media.json'), changed);
      const {stderr, exitCode} = await upload('-r', 'assets', '--json');
      expect({exitCode, code: JSON.parse(stderr).error.code}).toEqual({exitCode: 1, code});
      expect(stderr).toContain(words);
      expect(await text()).toBe(changed);
    }
    expect(await stored()).toBe(2);
  });

  it('one memory at a time, and the options of a manifest only with it: usage errors', async () => {
    const {sandbox, path} = await checkout();
    await writeFile(path('names'), 'a.png');
    for (const words of [
      ['--manifest', 'm', '--journal', 'j'],
      ['--manifest', 'm', '--once'],
      ['--check'],
      ['--prune', '--journal', 'j'],
      ['--manifest', 'm', '--prune', '--shard', '1/2'],
      ['--manifest', 'm', '--prune', '--files-from', 'names'],
      ['--manifest', ''],
    ])
      expect(await sandbox.run(['upload', '-r', 'assets', ...words]), words.join(' ')).toMatchObject({
        exitCode: 2,
        stdout: '',
      });
  });

  it('a run that stores nothing leaves no manifest', async () => {
    const {upload, beside} = await checkout({faults: {list: ['upload:status=415']}});
    expect((await upload('-r', 'assets')).stderr).toContain('0 uploaded, 0 skipped, 2 failed, 0 unknown');
    expect(await beside()).toEqual([]);
  });
});

describe('media upload --check', () => {
  it('needs no key and no network, writes nothing, and names each file that is missing, changed or unknown', async () => {
    const {sandbox, service, path, upload, text, beside} = await checkout();
    await upload('-r', 'assets');
    await service.close();
    sandbox.env['MEDIA_BASE_URL'] = 'https://other.example';
    delete sandbox.env['MEDIA_API_KEY'];
    expect(await upload('-r', 'assets', '--check')).toEqual({
      exitCode: 0,
      signal: undefined,
      stdout: '',
      stderr: 'media.json is up to date: 2 files.\n',
    });
    const bytes = await text();
    const changed = bytes.replace(/( {2}"files")/, '  "kept": 1,\n$1');
    await writeFile(path('media.json'), changed);
    await copyFile(path('assets/icon.png'), path('assets/copy.png'));
    // Known content, but under another name.
    await copyFile(path('assets/icon.png'), path('assets/img/logo.png'));
    await writePng(path('assets/icon.png'), 'changed');
    for (let number = 1; number < 6; number += 1)
      await writePng(path(`assets/new-${number}.png`), `${number}`);
    const {stdout, stderr, exitCode} = await upload('-r', 'assets', '--check');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr.split('\n').slice(0, -1).sort()).toEqual([
      'media.json is out of date: 8 of 8 files. Run the command without --check, and commit media.json.',
      'media: assets/copy.png is not in media.json.',
      'media: assets/icon.png is not as in media.json.',
      'media: assets/img/logo.png is not as in media.json.',
      ...[1, 2, 3, 4, 5].map(number => `media: assets/new-${number}.png is not in media.json.`),
    ]);
    const lines = (await upload('-r', 'assets', '--check', '--ndjson')).stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line));
    expect(lines.filter(({error}) => error?.code === 'manifest_outdated')).toHaveLength(8);
    const github = {...sandbox.env, GITHUB_ACTIONS: 'true'};
    const annotated = await sandbox.run(
      ['upload', '-r', 'assets', '--manifest', 'media.json', '--check', '--ci'],
      {env: github},
    );
    expect(annotated.stderr.match(/^::error .*is not in media\.json/gm)).toHaveLength(6);
    expect(await text()).toBe(changed);
    expect(await beside()).toEqual(['media.json']);
  });
});

describe('media upload --manifest --dry-run', () => {
  it('needs no key: says how many files will be uploaded, and writes nothing', async () => {
    const {sandbox, path, upload, beside} = await checkout();
    await upload('-r', 'assets');
    delete sandbox.env['MEDIA_API_KEY'];
    await writePng(path('assets/new.png'), 'new');
    const {stderr, exitCode} = await upload('-r', 'assets', '--dry-run');
    expect({exitCode, stderr}).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('1 will be uploaded, 2 uploaded before, 0 failed\n'),
    });
    expect(await beside()).toEqual(['media.json']);
  });

  it('without --dry-run, a run without a key that has something to send: no_key, and what is known is skipped', async () => {
    const {sandbox, path, upload, beside} = await checkout();
    await upload('-r', 'assets');
    await writeFile(
      path('media.json'),
      (await readFile(path('media.json'), 'utf8')).replace(/ {2}"serviceId".*\n/, ''),
    );
    delete sandbox.env['MEDIA_API_KEY'];
    for (const name of ['one', 'two']) await writePng(path(`assets/${name}.png`), name);
    const {stderr, exitCode} = await upload('-r', 'assets');
    expect(exitCode).toBe(4);
    expect(stderr).toContain('media.json: 0 added, 0 changed, 2 unchanged');
    expect(await beside()).toEqual(['media.json']);
  });
});

describe('media upload --prune', () => {
  it('removes the entries of files that are gone below the inputs, if their directory is there', async () => {
    const {sandbox, path, upload, manifest} = await checkout();
    await mkdir(path('other'));
    await mkdir(path('assets/gone'));
    for (const name of ['other/a', 'assets/gone/b', 'assets/c']) await writePng(path(`${name}.png`), name);
    await upload('-r', 'assets', 'other');
    const input = await readFile(fixture('photo.png'));
    await sandbox.run(['upload', '-', '--name', 'pipe.png', '--manifest', 'media.json'], {
      stdin: 'pipe',
      input,
    });
    await rm(path('other/a.png'));
    await rm(path('assets/c.png'));
    await rm(path('assets/gone'), {recursive: true});
    const keys = async () => Object.keys((await manifest()).files);
    const all = await keys();
    await upload('-r', 'assets');
    expect(await keys()).toEqual(all);
    expect((await upload('-r', 'assets', '--check')).exitCode).toBe(0);
    expect(await upload('-r', 'assets', '--check', '--prune')).toMatchObject({
      exitCode: 1,
      stderr:
        'media: assets/c.png is gone, and still in media.json.\n' +
        'media.json is out of date: 1 of 3 files. Run the command without --check, and commit media.json.\n',
    });
    const dryRun = await upload('-r', 'assets', '--dry-run', '--prune');
    expect({status: dryRun.exitCode, notes: dryRun.stderr.split('\n')}).toEqual({
      status: 0,
      notes: expect.arrayContaining(['To be removed from media.json, since the file is gone: assets/c.png']),
    });
    expect(await keys()).toEqual(all);
    expect((await upload('-r', 'assets', '--prune')).stderr).toContain(
      'media.json: 0 added, 0 changed, 1 removed, 5 unchanged\n',
    );
    expect(await keys()).toEqual(all.filter(key => key !== 'assets/c.png'));
    await upload('**/*.png', '-r', '--prune');
    expect(await keys()).toEqual(all.filter(key => key !== 'assets/c.png' && key !== 'other/a.png'));
  });
});
