import {readdir, readFile, writeFile} from 'node:fs/promises';
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
    // A layout that is not ours stays, too.
    const withCrlf = (await readFile(path('1.json'), 'utf8')).replaceAll('\n', '\r\n');
    await writeFile(path('1.json'), withCrlf);
    await sandbox.run(['upload', '-r', 'assets', '--shard', '1/2', '--manifest', '1.json']);
    expect(await readFile(path('1.json'), 'utf8')).toBe(withCrlf);
    expect((await sandbox.run(['journal', 'merge', '-o', 'media.json', '1.json', '2.json'])).exitCode).toBe(
      0,
    );
    expect((await upload('-r', 'assets')).stderr).toContain('media.json: 0 added, 0 changed, 10 unchanged\n');
    expect(await stored()).toBe(10);
  });

  it('a part without inputs leaves a manifest without files, which is joined with the others', async () => {
    const {sandbox, service, path, manifest} = await checkout();
    const upload = async (part: number, env = sandbox.env) => {
      const words = ['--shard', `${part}/2`, '--manifest', `${part}.json`];
      return (await sandbox.run(['upload', 'assets/icon.png', ...words], {env})).exitCode;
    };
    // Without a service, there is nothing to write.
    const {MEDIA_BASE_URL: _url, MEDIA_API_KEY: _key, ...env} = sandbox.env;
    expect([await upload(1, env), await upload(2, env)].sort()).toEqual([0, 4]);
    expect((await readdir(path('.'))).filter(name => name.endsWith('.json'))).toEqual([]);
    for (const part of [1, 2]) expect(await upload(part)).toBe(0);
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
