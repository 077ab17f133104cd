import {mkdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {sha256} from '../../../support/journal.ts';
import {sandbox, temporaryDirectory} from '../../../support/media.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {checkout, writePng} from '../checkout.ts';

describe('media upload --prune', () => {
  it('a name in NFD: stored once, neither gone nor another spelling', async () => {
    const {upload, path, manifest, stored} = await checkout();
    await writePng(path('assets/cafe\u0301.png'), 'coffee');
    for (const run of [1, 2]) {
      const {stderr, exitCode} = await upload('-r', 'assets', '--prune');
      expect({exitCode, noted: stderr.includes('only the spelling')}, `run ${run}`).toEqual({
        exitCode: 0,
        noted: false,
      });
    }
    expect(Object.keys((await manifest()).files)).toContain('assets/caf\u00e9.png');
    expect(await stored()).toBe(3);
    expect((await upload('-r', 'assets', '--check', '--prune')).exitCode).toBe(0);
    await rm(path('assets/cafe\u0301.png'));
    expect((await upload('-r', 'assets', '--prune')).stderr).toContain('1 removed');
  });

  it.each(['a key that is refused', 'a deadline'])(
    'a run that %s ends early: nothing is removed, so that a file that was moved keeps its URL',
    async why => {
      const {service, upload, path, manifest, stored} = await checkout({
        faults: {list: ['upload:nth=99,reset']},
      });
      await upload('-r', 'assets');
      const before = (await manifest()).files['assets/icon.png']?.url;
      await rename(path('assets/icon.png'), path('assets/z.png'));
      await writePng(path('assets/a.png'), 'new');
      service.faults?.replace([why === 'a deadline' ? 'upload:latency=60m' : 'upload:status=401']);
      const end = why === 'a deadline' ? ['--deadline', '3s'] : [];
      expect((await upload('-r', 'assets', '--prune', '-c', '1', ...end)).exitCode).not.toBe(0);
      expect((await manifest()).files).toHaveProperty(['assets/icon.png']);
      service.faults?.replace([]);
      expect((await upload('-r', 'assets', '--prune')).stderr).toContain('1 removed');
      expect((await manifest()).files['assets/z.png']?.url).toBe(before);
      expect(await stored()).toBe(3);
    },
  );

  it.each<[what: string, change: (path: (name: string) => string) => Promise<void>, inputs: string[]]>([
    [
      'a link whose disk is away',
      async path => {
        await rename(path('assets'), path('away'));
        await symlink('disk', path('assets'));
      },
      ['assets/'],
    ],
    [
      'a file that was moved to a name that is refused',
      path => rename(path('assets/icon.png'), path('assets/icon.jpg')),
      ['assets', '--types', 'strict'],
    ],
    ['an input that is missing', path => rm(path('assets/icon.png')), ['assets', 'missing.png']],
  ])('%s: nothing is removed, since not all is known', async (_what, change, inputs) => {
    const {upload, path, manifest} = await checkout();
    await upload('-r', 'assets');
    const before = await manifest();
    await change(path);
    for (const mode of [['--dry-run'], []]) {
      const {exitCode, stderr} = await upload('-r', ...inputs, '--prune', ...mode);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain('Nothing is pruned, since a file failed.\n');
      expect(stderr).not.toContain('To be removed');
      expect(await manifest()).toEqual(before);
    }
  });

  it('Ctrl-C while a response is waited for: nothing is removed, since the other files were not looked at', async () => {
    let arrived: ScriptedConnection | undefined;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      arrived = connection;
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
    const path = (name: string) => join(box.directory, name);
    await mkdir(path('assets'));
    for (const name of ['a', 'moved']) await writePng(path(`assets/${name}.png`), name);
    const content = await readFile(path('assets/moved.png'));
    const entry = {size: content.length, contentType: 'image/png', record: {id: 'med_1'}};
    const files = {'assets/icon.png': {sha256: sha256(content), ...entry}};
    await writeFile(path('media.json'), JSON.stringify({version: 1, service: url, files}));
    const upload = ['upload', '-r', 'assets', '--manifest', 'media.json', '--prune', '-c', '1'];
    const running = box.start(upload);
    const connection = await eventually(() => arrived);
    const stopping = new Promise(resolve => running.stderr?.once('data', resolve));
    running.kill('SIGINT');
    expect(String(await stopping)).toContain('Stopping: waiting for responses');
    connection.answer(200, someRecord);
    expect((await running).signal).toBe('SIGINT');
    const after = JSON.parse(await readFile(path('media.json'), 'utf8'));
    expect(Object.keys(after.files)).toEqual(['assets/a.png', 'assets/icon.png']);
  });

  it('the last file of a directory: its entry is removed, also if only a hidden name is left', async () => {
    const {upload, path, manifest} = await checkout();
    await upload('-r', 'assets');
    await rm(path('assets/img/logo.png'));
    const check = await upload('-r', 'assets/img', '--check', '--prune');
    expect(check).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is gone, and still in media.json'),
    });
    expect(await upload('-r', 'assets/img', '--prune')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('1 removed'),
    });
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    await rm(path('assets/icon.png'));
    await writeFile(path('assets/.gitkeep'), '');
    expect(await upload('-r', 'assets', '--prune')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('1 removed'),
    });
    expect(await upload('-r', 'assets')).toMatchObject({exitCode: 2});
  });

  it('a manifest named by its whole path, through a link: keys below it, and entries that are gone', async () => {
    const {sandbox, path, manifest, stored} = await checkout();
    const link = join(await temporaryDirectory(), 'link');
    await symlink(sandbox.directory, link);
    const whole = join(link, 'media.json');
    const ways = [
      ['-r', 'assets', '--manifest', whole],
      ['-r', join(link, 'assets'), '--manifest', 'media.json'],
      ['-r', 'assets', '--manifest', 'media.json'],
    ];
    for (const way of ways) {
      expect((await sandbox.run(['upload', ...way])).exitCode).toBe(0);
      expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png', 'assets/img/logo.png']);
    }
    expect(await stored()).toBe(2);
    await rm(path('assets/icon.png'));
    const prune = ['upload', '-r', 'assets', '--prune', '--manifest', whole];
    expect((await sandbox.run(prune)).stderr).toContain('1 removed');
  });
});
