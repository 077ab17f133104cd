import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {type Sandbox, sandbox} from '../../support/media.ts';

async function loggedIn(...profiles: string[]): Promise<Sandbox> {
  const box = await sandbox();
  for (const name of profiles) {
    await box.run(
      ['login', '--base-url', `https://${name}.example`, '--key-stdin', '--no-verify', '--profile', name],
      {stdin: 'pipe', input: `mk_key-of-${name}`},
    );
  }
  return box;
}

async function profilesOf(box: Sandbox) {
  return JSON.parse(await readFile(join(box.directory, 'config/config.json'), 'utf8')).profiles;
}

describe('media logout', () => {
  it('one of two profiles: its key is forgotten, its base URL and the other profile stay', async () => {
    const box = await loggedIn('default', 'staging');
    const {stdout, stderr, exitCode} = await box.run(['logout', '--profile', 'staging']);
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: '',
      stderr: 'Deleted the key of profile staging.\n',
      exitCode: 0,
    });
    expect(await profilesOf(box)).toEqual({
      default: {
        'base-url': 'https://default.example',
        key: 'mk_key-of-default',
        'key-origin': 'https://default.example',
      },
      staging: {'base-url': 'https://staging.example'},
    });
  });

  it('a profile that is not there: those that are, exit 0', async () => {
    const box = await loggedIn('staging');
    expect(await box.run(['logout', '--profile', 'stagin'])).toMatchObject({
      stdout: '',
      stderr: 'There is no profile "stagin". Use --profile staging.\n',
      exitCode: 0,
    });
  });

  it('no profile named: the default one', async () => {
    const box = await loggedIn('default', 'staging');
    expect(await box.run(['logout', '--quiet'])).toMatchObject({stderr: '', exitCode: 0});
    expect(Object.keys((await profilesOf(box)).default)).toEqual(['base-url']);
    expect((await profilesOf(box)).staging.key).toBe('mk_key-of-staging');
  });

  it('--all: every key is forgotten; the next upload says that there is none', async () => {
    const box = await loggedIn('default', 'staging', 'third');
    const {stderr, exitCode} = await box.run(['logout', '--all']);
    expect({stderr, exitCode}).toEqual({
      stderr: 'Deleted the key of profiles default, staging, third.\n',
      exitCode: 0,
    });
    expect(await readFile(join(box.directory, 'config/config.json'), 'utf8')).not.toContain('mk_key');
    const upload = await box.run(['upload', 'photo.png']);
    expect(upload.stderr).toContain('There is no API key for https://default.example.');
    expect(upload.exitCode).toBe(4);
  });

  it('a profile without a key, and no profile at all: nothing to forget is no failure', async () => {
    const box = await sandbox();
    expect(await box.run(['logout'])).toMatchObject({stderr: 'Profile default has no key.\n', exitCode: 0});
    expect(await box.run(['logout', '--all'])).toMatchObject({
      stderr: 'No profile has a key.\n',
      exitCode: 0,
    });
  });

  it('a profile with a key-command: nothing is stored, and the command that ends its use', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'key-command', 'echo k', '--profile', 'vault']);
    const {stderr} = await box.run(['logout', '--profile', 'vault']);
    const command = 'media config unset key-command --profile vault';
    expect(stderr).toBe(`Profile vault has no stored key. To stop using its key-command: ${command}\n`);
  });

  it('MEDIA_API_KEY set: a warning that it still is', async () => {
    const box = await loggedIn('default');
    const {stderr} = await box.run(['logout'], {env: {...box.env, MEDIA_API_KEY: 'mk_from-the-environment'}});
    expect(stderr).toBe(
      'Deleted the key of profile default.\nwarning: MEDIA_API_KEY is still set in the environment.\n',
    );
  });
});
