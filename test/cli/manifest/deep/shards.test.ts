import {readFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {checkout, writePng} from '../checkout.ts';

describe('media upload --manifest', () => {
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
});
