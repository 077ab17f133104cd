import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../../../src/host.ts';
import {holderHere} from '../../../../src/lib/files/holder.ts';
import {sandbox} from '../../../support/media.ts';
import {filesOf, login, profilesOf} from '../logging-in.ts';

describe('the settings file', () => {
  it('six logins at once, a profile each: all of them survive', async () => {
    const box = await sandbox();
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const runs = await Promise.all(
      names.map(name =>
        login(box, `https://${name}.example`, ['--no-verify', '--profile', name], `mk_key-of-${name}`),
      ),
    );
    expect(runs.map(({exitCode}) => exitCode)).toEqual([0, 0, 0, 0, 0, 0]);
    const profiles = await profilesOf(box);
    expect(Object.fromEntries(Object.entries(profiles).map(([name, {key}]) => [name, key]))).toEqual(
      Object.fromEntries(names.map(name => [name, `mk_key-of-${name}`])),
    );
    expect(await filesOf(box)).toEqual(['config.json']);
  });

  it('a lock that a dead process left: replaced at once', async () => {
    const box = await sandbox();
    await mkdir(join(box.directory, 'config'));
    const child = box.start(['--version']);
    await child;
    const holder = {...holderHere(systemHost()), pid: child.pid};
    await writeFile(join(box.directory, 'config/config.json.lock'), JSON.stringify(holder));
    expect(await login(box, 'https://one.example', ['--no-verify'])).toMatchObject({exitCode: 0});
    expect(await filesOf(box)).toEqual(['config.json']);
  });
});
