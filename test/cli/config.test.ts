import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {sandbox} from '../support/media.ts';

describe('media config', () => {
  it('path: where the settings are stored, before there are any', async () => {
    const box = await sandbox();
    expect(await box.run(['config', 'path'])).toMatchObject({
      stdout: `${join(box.directory, 'config/config.json')}\n`,
      stderr: '',
      exitCode: 0,
    });
    const {MEDIA_CONFIG_DIR, ...env} = box.env;
    const {stdout} = await box.run(['config', 'path'], {
      env: {...env, XDG_CONFIG_HOME: join(box.directory, 'xdg')},
    });
    expect(stdout).toBe(`${join(box.directory, 'xdg/media/config.json')}\n`);
  });

  it('set, get, list and unset of each setting', async () => {
    const box = await sandbox();
    const settings: [string, string, string][] = [
      ['base-url', 'https://api.example.com/v2//', 'https://api.example.com/v2'],
      ['graphql-url', 'https://api.example.com/graph', 'https://api.example.com/graph'],
      ['cacert', 'ca.pem', join(box.directory, 'ca.pem')],
      ['idempotency-keys', 'honoured', 'honoured'],
    ];
    for (const [name, given] of settings) {
      expect(await box.run(['config', 'set', name, given])).toMatchObject({
        stdout: '',
        stderr: '',
        exitCode: 0,
      });
    }
    expect((await box.run(['config', 'list'])).stdout).toBe(
      settings.map(([name, , kept]) => `${name}=${kept}\n`).join(''),
    );
    for (const [name, , kept] of settings) {
      expect(await box.run(['config', 'get', name])).toMatchObject({stdout: `${kept}\n`, exitCode: 0});
    }
    expect(await box.run(['config', 'unset', 'cacert'])).toMatchObject({stdout: '', stderr: '', exitCode: 0});
    expect(await box.run(['config', 'get', 'cacert'])).toMatchObject({stdout: '', stderr: '', exitCode: 1});
    expect(await box.run(['config', 'unset', 'cacert'])).toMatchObject({exitCode: 0});
  });

  it('--profile before and after, and MEDIA_PROFILE: the same profile', async () => {
    const box = await sandbox();
    await box.run(['--profile', 'staging', 'config', 'set', 'base-url', 'embedded']);
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'staging'])).stdout).toBe('embedded\n');
    expect((await box.run(['config', 'list'], {env: {...box.env, MEDIA_PROFILE: 'staging'}})).stdout).toBe(
      'base-url=embedded\n',
    );
    expect((await box.run(['config', 'list'])).stdout).toBe('');
  });

  it.each([
    [['get', 'key'], 'There is no setting "key".'],
    [['set', 'key', 'mk_x'], 'There is no setting "key".'],
    [['set', 'idempotency-keys', 'yes'], '"yes" is not a value of idempotency-keys.'],
    [['set', 'base-url'], "Missing required argument 'value'"],
    [['set', 'base-url', 'https://a.example', 'more'], 'Too many arguments'],
    [['sit'], "Unknown command 'sit'."],
  ])('%j: a usage error', async (parameters, sentence) => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['config', ...parameters]);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('a stored key: never among the settings, kept when one changes', async () => {
    const box = await sandbox();
    await box.run(['login', '--base-url', 'https://a.example', '--key-stdin', '--no-verify'], {
      stdin: 'pipe',
      input: 'mk_key',
    });
    await box.run(['config', 'set', 'idempotency-keys', 'ignored']);
    expect((await box.run(['config', 'list'])).stdout).toBe(
      'base-url=https://a.example\nidempotency-keys=ignored\n',
    );
    expect(await readFile(join(box.directory, 'config/config.json'), 'utf8')).toContain('mk_key');
  });

  it.each([['list'], ['get', 'base-url'], ['unset', 'base-url']])(
    '%s of a profile that is not there: those that are, exit 1',
    async (...parameters) => {
      const box = await sandbox();
      for (const profile of ['staging', 'default'])
        await box.run(['config', 'set', 'base-url', 'embedded', '--profile', profile]);
      expect(await box.run(['config', ...parameters, '--profile', 'stagin'])).toMatchObject({
        stdout: '',
        stderr: 'media: There is no profile "stagin".\n  Use --profile staging or --profile default.\n',
        exitCode: 1,
      });
    },
  );

  it('a host name with dots as a profile: kept whole', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'base-url', 'embedded', '--profile', 'api.example.com']);
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'api.example.com'])).stdout).toBe(
      'embedded\n',
    );
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'api'])).exitCode).toBe(1);
  });

  it('six changes at once: all of them survive', async () => {
    const box = await sandbox();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      names.map(name => box.run(['config', 'set', 'base-url', `https://${name}.example`, '--profile', name])),
    );
    const {profiles} = JSON.parse(await readFile(join(box.directory, 'config/config.json'), 'utf8'));
    expect(Object.keys(profiles).sort()).toEqual(names);
  });
});

describe('the cacert setting', () => {
  it.each([
    ['a file that is missing', undefined, 'could not be read: ENOENT'],
    ['a file that is no certificate', 'hello', 'contains no certificate in PEM format'],
  ])(
    '%s: a usage error before anything is sent; the embedded service does without',
    async (_name, text, sentence) => {
      const box = await sandbox();
      if (text !== undefined) await writeFile(join(box.directory, 'ca.pem'), text);
      await box.run(['config', 'set', 'cacert', 'ca.pem']);
      await box.run(['config', 'set', 'base-url', 'https://a.example']);
      const {stderr, exitCode} = await box.run(['whoami']);
      expect(stderr).toContain(sentence);
      expect(exitCode).toBe(2);
      await box.run(['config', 'set', 'base-url', 'embedded']);
      expect(await box.run(['whoami'])).toMatchObject({exitCode: 0});
    },
  );
});
