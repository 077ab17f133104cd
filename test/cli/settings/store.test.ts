import {chmod, chown, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {configPath, readProfiles, updateProfiles} from '../../../src/cli/settings/store.ts';
import {type Host, systemHost} from '../../../src/host.ts';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {WatchedDisk} from '../../support/watched-disk.ts';

async function freshHost(changes: Partial<Host> = {}): Promise<Host> {
  return {...systemHost(), env: {MEDIA_CONFIG_DIR: join(await temporaryDirectory(), 'config')}, ...changes};
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777;
}

describe('the store of profiles', () => {
  it('no file yet: no profiles, and reading makes none', async () => {
    const host = await freshHost();
    expect(await readProfiles(host)).toEqual({});
    await expect(stat(join(configPath(host), '..'))).rejects.toThrow('ENOENT');
  });

  it('thirty changes at once: none is lost', async () => {
    const host = await freshHost();
    const names = Array.from({length: 30}, (_, index) => `p${index}`);
    await Promise.all(
      names.map(name =>
        updateProfiles(host, profiles => {
          profiles[name] = {key: name};
        }),
      ),
    );
    expect(Object.keys(await readProfiles(host)).sort()).toEqual(names.sort());
    expect(await readdir(join(configPath(host), '..'))).toEqual(['config.json']);
  });

  it('names with dots: no nesting', async () => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a.b'] = {'base-url': 'https://a.b'};
    });
    expect(JSON.parse(await readFile(configPath(host), 'utf8'))).toEqual({
      profiles: {'a.b': {'base-url': 'https://a.b'}},
    });
  });

  it('the name of a changed file is on disk when the change is told', async () => {
    const disk = new WatchedDisk();
    await updateProfiles(await freshHost({files: disk.files}), profiles => {
      profiles['a'] = {key: 'k'};
    });
    expect(disk.calls).toContain('sync config');
  });

  it('a change that fails: the file stays as it was, the lock is free', async () => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a'] = {key: 'k'};
    });
    const fail = () => {
      throw new Error('no');
    };
    await expect(updateProfiles(host, fail)).rejects.toMatchObject({code: 'config_unusable'});
    expect(await readProfiles(host)).toEqual({a: {key: 'k'}});
    expect(await readdir(join(configPath(host), '..'))).toEqual(['config.json']);
  });

  it('another process that keeps the lock: an error that says what to do, after 10 s on the clock', async () => {
    let now = 0;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const host = await freshHost({clock: {...systemHost().clock, monotonic: () => now, sleep}});
    await updateProfiles(host, () => {});
    const {ppid} = process;
    const holder = {...holderHere(host), pid: ppid, startTime: host.processStart(ppid)};
    await writeFile(`${configPath(host)}.lock`, JSON.stringify(holder));
    await expect(updateProfiles(host, () => {})).rejects.toMatchObject({
      code: 'config_unusable',
      message: `${configPath(host)}.lock is held by another process.`,
      hint: expect.stringContaining('remove that file'),
    });
    expect(now).toBeGreaterThan(10_000);
  });

  it.each([0o644, 0o640, 0o604])('a file of mode %o: made private before it is read', async mode => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a'] = {key: 'k'};
    });
    await chmod(configPath(host), mode);
    expect(await readProfiles(host)).toEqual({a: {key: 'k'}});
    expect(await modeOf(configPath(host))).toBe(0o600);
  });

  it.each(['win32', 'linux'] as const)(
    'on %s, in a directory that others read: only the file becomes private, where there are modes',
    async platform => {
      const host = await freshHost({platform});
      const directory = join(configPath(host), '..');
      await mkdir(directory, {mode: 0o755});
      await chmod(directory, 0o755);
      await writeFile(configPath(host), '{}', {mode: 0o644});
      expect(await readProfiles(host)).toEqual({});
      expect(await modeOf(configPath(host))).toBe(platform === 'win32' ? 0o644 : 0o600);
      await updateProfiles(host, () => {});
      expect(await modeOf(directory)).toBe(0o755);
    },
  );

  it.each([0o660, 0o606, 0o620])('a file of mode %o: others may have changed it, refused', async mode => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a'] = {key: 'k'};
    });
    await chmod(configPath(host), mode);
    await expect(readProfiles(host)).rejects.toMatchObject({
      code: 'config_unusable',
      message: `Other users may change ${configPath(host)}, so it is not trusted with a key.`,
    });
    expect(await modeOf(configPath(host))).toBe(mode);
  });

  it.skipIf(process.platform === 'win32')('a directory in which others may replace it: refused', async () => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a'] = {key: 'k'};
    });
    const directory = join(configPath(host), '..');
    await chmod(directory, 0o777);
    for (const use of [readProfiles(host), updateProfiles(host, () => {})])
      await expect(use).rejects.toMatchObject({
        code: 'config_unusable',
        message: `Other users may change ${directory}, so it is not trusted with a key.`,
      });
  });

  it.skipIf(process.platform === 'win32')('a file of another user, read by root: refused', async () => {
    const host = await freshHost({userId: () => 0});
    const directory = join(configPath(host), '..');
    await mkdir(directory, {mode: 0o700});
    await writeFile(configPath(host), '{"profiles":{"a":{"key-command":"id"}}}', {mode: 0o600});
    if (process.getuid?.() === 0) await chown(configPath(host), 65_534, 65_534);
    await expect(readProfiles(host)).rejects.toMatchObject({
      code: 'config_unusable',
      message: expect.stringContaining('belongs to another user'),
    });
  });

  it('a file that belongs to another user: refused', async () => {
    const host = await freshHost();
    await updateProfiles(host, profiles => {
      profiles['a'] = {key: 'k'};
    });
    const other = {...host, userId: () => 1 + (process.getuid?.() ?? 0)};
    await expect(readProfiles(other)).rejects.toMatchObject({
      code: 'config_unusable',
      message: expect.stringContaining('belongs to another user'),
    });
  });
});
