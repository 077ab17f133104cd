import {rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {temporaryDirectory} from '../../../support/media.ts';
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
