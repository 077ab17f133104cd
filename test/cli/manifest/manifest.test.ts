import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import type {EmbeddedService, ServiceOptions} from '../../support/embedded-service.ts';
import {eventually} from '../../support/eventually.ts';
import {notRun} from '../../support/installed.ts';
import {fixture} from '../../support/media.ts';

interface Entry {
  url: string;
  sha256: string;
  size: number;
  contentType: string;
  record: {id: string};
  stdin?: true;
}

/** A checkout with two pictures in `assets`, and a service that counts what it stores. */
async function checkout(options: Partial<ServiceOptions> = {}) {
  const connected = await connectedSandbox(options);
  const {sandbox, service} = connected;
  const path = (name: string) => join(sandbox.directory, name);
  await mkdir(path('assets/img'), {recursive: true});
  await copyFile(fixture('photo.png'), path('assets/img/logo.png'));
  await writePng(path('assets/icon.png'), 'icon');
  const upload = (...parameters: string[]) =>
    sandbox.run(['upload', '--manifest', 'media.json', ...parameters]);
  const text = () => readFile(path('media.json'), 'utf8');
  const manifest = async () =>
    JSON.parse(await text()) as {
      service: string;
      serviceId?: string;
      files: Record<string, Entry>;
      unknown?: Record<string, Entry>;
    };
  const stored = async () => (await service.records()).length;
  /** What the run left beside the manifest. */
  const beside = async () =>
    (await readdir(sandbox.directory)).filter(
      name => name.startsWith('media.json') || name.startsWith('.media-'),
    );
  return {...connected, path, upload, text, manifest, stored, beside};
}

/** Whether a request has met a fault of the service. */
function isFaultApplied({faults}: EmbeddedService): boolean {
  return faults?.counts().some(({applied}) => applied > 0) ?? false;
}

/** A picture whose bytes differ by a text, which changes nothing of what is seen. */
async function writePng(path: string, text: string): Promise<void> {
  await writeFile(path, Buffer.concat([await readFile(fixture('photo.png')), Buffer.from(text)]));
}

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

  it('standard input is known by its name, which it needs', async () => {
    const {sandbox, upload, manifest, stored} = await checkout();
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

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: written with what succeeded, and the journal is gone',
    async signal => {
      const {sandbox, service, upload, manifest, stored, beside} = await checkout({
        faults: {list: ['upload:nth=2-,silence']},
      });
      const running = sandbox.start(['upload', '--manifest', 'media.json', '-r', 'assets', '-c', '1']);
      await eventually(() => isFaultApplied(service));
      running.kill(signal);
      expect((await running).signal).toBe(signal);
      const {files, unknown = {}} = await manifest();
      expect([Object.keys(files), Object.keys(unknown)]).toEqual([
        ['assets/icon.png'],
        ['assets/img/logo.png'],
      ]);
      expect(await beside()).toEqual(['media.json']);
      service.faults?.replace([]);
      expect((await upload('assets/icon.png')).exitCode).toBe(0);
      expect(await stored()).toBe(1);
    },
  );

  it('after a deadline, and where some files are refused: written with what succeeded', async () => {
    const {service, path, upload, manifest, beside} = await checkout({
      faults: {list: ['upload:nth=2,status=415']},
    });
    expect((await upload('-r', 'assets', '-c', '1')).exitCode).toBe(3);
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    service.faults?.replace(['upload:nth=2-,silence']);
    for (const name of ['one', 'two']) await writePng(path(`assets/${name}.png`), name);
    const {stdout, exitCode} = await upload('-r', 'assets', '-c', '1', '--deadline', '1s', '--ndjson');
    const lines = stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as {file: string; status: string});
    const filesThat = (...statuses: string[]) =>
      lines
        .filter(({status}) => statuses.includes(status))
        .map(({file}) => file)
        .sort();
    const {files, unknown = {}} = await manifest();
    expect(exitCode).toBeGreaterThan(0);
    expect(Object.keys(files)).toEqual(
      [...new Set(['assets/icon.png', ...filesThat('uploaded', 'skipped')])].sort(),
    );
    expect(Object.keys(unknown)).toEqual(filesThat('unknown'));
    expect(await beside()).toEqual(['media.json']);
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
    await rename(path('assets/ICON.png'), path('assets/e\u0301.png'));
    expect((await upload('-r', 'assets')).exitCode).toBe(0);
    expect(Object.keys((await manifest()).files)).toEqual([
      'assets/ICON.png',
      'assets/icon.png',
      'assets/img/logo.png',
      'assets/\u00e9.png',
    ]);
  });

  it('with --shard, a manifest for each part; joined, they are the manifest of all', async () => {
    const {upload, sandbox, path, stored} = await checkout();
    for (let number = 0; number < 8; number += 1) await writePng(path(`assets/${number}.png`), `${number}`);
    for (const part of ['1', '2', '1', '2']) {
      const words = ['--shard', `${part}/2`, '--manifest', `${part}.json`];
      expect((await sandbox.run(['upload', '-r', 'assets', ...words])).exitCode).toBe(0);
    }
    expect(await stored()).toBe(10);
    expect((await sandbox.run(['journal', 'merge', '-o', 'media.json', '1.json', '2.json'])).exitCode).toBe(
      0,
    );
    expect((await upload('-r', 'assets')).stderr).toContain('media.json: 0 added, 0 changed, 10 unchanged\n');
    expect(await stored()).toBe(10);
  });

  it('a run that stores nothing leaves no manifest', async () => {
    const {upload, beside} = await checkout({faults: {list: ['upload:status=415']}});
    expect((await upload('-r', 'assets')).stderr).toContain('0 uploaded, 0 skipped, 2 failed, 0 unknown');
    expect(await beside()).toEqual([]);
  });

  it('a part without inputs leaves a manifest without files, which is joined with the others', async () => {
    const {sandbox, service, path, manifest} = await checkout();
    for (const part of ['1', '2']) {
      const words = ['--shard', `${part}/2`, '--manifest', `${part}.json`];
      expect((await sandbox.run(['upload', 'assets/icon.png', ...words])).exitCode).toBe(0);
    }
    const texts = await Promise.all(['1', '2'].map(part => readFile(path(`${part}.json`), 'utf8')));
    expect(texts.map(text => JSON.parse(text)).filter(({files}) => Object.keys(files).length === 0)).toEqual([
      {version: 1, service: service.url, files: {}},
    ]);
    expect((await sandbox.run(['journal', 'merge', '-o', 'media.json', '1.json', '2.json'])).exitCode).toBe(
      0,
    );
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
  });

  it('a manifest that overrules the profile; that somebody changes during the run: joined', async () => {
    const {sandbox, service, path, text, manifest, stored} = await checkout({
      faults: {list: ['upload:nth=2-,silence']},
    });
    await sandbox.run(['config', 'set', 'once', 'true']);
    const running = sandbox.start([
      'upload',
      '--manifest',
      'media.json',
      '-r',
      'assets',
      '--timeout',
      '2s',
      '--retries',
      '0',
      '-c',
      '1',
    ]);
    await eventually(async () => (await stored()) === 1);
    const theirs = `{"version": 1, "service": "${service.url}", "files": {}, "note": "ours"}\n`;
    await writeFile(path('media.json'), theirs);
    await running;
    expect(await text()).toContain('"note": "ours"');
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    expect(await readdir(path('.'))).not.toContain('.local');
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
    await writePng(path('assets/icon.png'), 'changed');
    for (let number = 1; number < 6; number += 1)
      await writePng(path(`assets/new-${number}.png`), `${number}`);
    const {stdout, stderr, exitCode} = await upload('-r', 'assets', '--check');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr.split('\n').slice(0, -1).sort()).toEqual([
      'media.json is out of date: 7 of 8 files. Run the command without --check, and commit media.json.',
      'media: assets/copy.png is not in media.json.',
      'media: assets/icon.png is not as in media.json.',
      ...[1, 2, 3, 4, 5].map(number => `media: assets/new-${number}.png is not in media.json.`),
    ]);
    const lines = (await upload('-r', 'assets', '--check', '--ndjson')).stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line));
    expect(lines.filter(({error}) => error?.code === 'manifest_outdated')).toHaveLength(7);
    const github = {...sandbox.env, GITHUB_ACTIONS: 'true'};
    const annotated = await sandbox.run(
      ['upload', '-r', 'assets', '--manifest', 'media.json', '--check', '--ci'],
      {env: github},
    );
    expect(annotated.stderr.match(/^::error .*is not in media\.json/gm)).toHaveLength(6);
    expect(await text()).toBe(changed);
    expect(await beside()).toEqual(['media.json']);
  });

  it('without a manifest, each file is missing; with one that names an unknown file, that is said', async () => {
    const {upload, service, beside} = await checkout({
      faults: {list: ['upload:nth=1,after=store,reset']},
    });
    expect((await upload('-r', 'assets', '--check')).stderr).toContain(
      'media.json is out of date: 2 of 2 files',
    );
    expect(await beside()).toEqual([]);
    await upload('-r', 'assets', '--retries', '0', '-c', '1');
    service.faults?.replace([]);
    expect(await upload('-r', 'assets', '--check')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('assets/icon.png is unknown: it was sent, and may be stored.'),
    });
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

  it('removes what a run that was killed has stored, if it is gone since', async () => {
    const {sandbox, service, path, upload, manifest} = await checkout({
      faults: {list: ['upload:nth=2-,silence']},
    });
    const running = sandbox.start(['upload', '--manifest', 'media.json', '-r', 'assets', '-c', '1']);
    await eventually(() => isFaultApplied(service));
    running.kill('SIGKILL');
    await running;
    service.faults?.replace([]);
    await rm(path('assets/icon.png'));
    await upload('-r', 'assets', '--prune');
    expect(Object.keys((await manifest()).files)).toEqual(['assets/img/logo.png']);
  });

  it('never in a sparse checkout', async () => {
    const {path, upload, manifest} = await checkout();
    const git = (...words: string[]) =>
      execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {cwd: path('.')});
    await upload('-r', 'assets');
    await git('init', '--quiet');
    await git('add', 'assets', 'media.json');
    await git('commit', '--quiet', '-m', 'assets');
    await git('sparse-checkout', 'set', '--no-cone', 'media.json', 'assets/icon.png');
    const refused = await upload('assets/icon.png', 'assets/img/logo.png', '--prune');
    expect(refused).toMatchObject({exitCode: 2, stderr: expect.stringContaining('sparse checkout')});
    expect((await upload('-r', 'assets', '--check', '--prune')).exitCode).toBe(2);
    expect(Object.keys((await manifest()).files)).toHaveLength(2);
    await git('sparse-checkout', 'disable');
    expect((await upload('-r', 'assets', '--prune')).exitCode).toBe(0);
  });
});
