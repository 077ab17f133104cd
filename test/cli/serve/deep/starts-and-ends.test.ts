import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {freePort} from '../../../support/free-ports.ts';
import {mediaCommand, sandbox} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {serve} from '../../../support/served.ts';
import {testEphemeral} from '../ephemeral.ts';

describe('media serve', () => {
  it.skipIf(process.platform !== 'linux')(
    'onto a full disk: ends at once, since nobody knows the key',
    async () => {
      const box = await sandbox();
      const words = [...mediaCommand, 'serve', '--port', '0', '--ephemeral'];
      const run = execa('sh', ['-c', 'exec "$@" >/dev/full', 'sh', ...words], {
        ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, timeout: patienceMs},
      });
      const {exitCode, stderr} = await run;
      expect(stderr).toMatch(/^media: The output could not be written: the disk is full\.$/m);
      expect(stderr).not.toContain('Serving');
      expect(exitCode).toBe(1);
      expect(await readdir(box.directory)).toEqual([]);
    },
  );

  it('a default profile of this service that cannot be written: serves on, and ends as it is told', async () => {
    const box = await sandbox();
    const port = await freePort();
    await box.run(['config', 'set', 'base-url', `http://127.0.0.1:${port}`]);
    await mkdir(join(box.directory, 'config/config.json.draft'));
    const {child, url, stderr} = await serve(box, '--port', String(port));
    await eventually(() => stderr().includes('?token='));
    expect((await fetch(url)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM'});
    expect(stderr()).not.toContain('could not be written');
  });

  it('--ephemeral: a profile that is named gets its address, one of the environment does not', async () => {
    const box = await sandbox({MEDIA_PROFILE: 'mine'});
    const unnamed = await serve(box, '--ephemeral');
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'mine'])).exitCode).toBe(1);
    unnamed.child.kill('SIGTERM');
    const {url, stderr} = await serve(box, '--ephemeral', '--profile', 'local');
    await eventually(() => stderr().includes('media login --profile local\n'));
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'local'])).stdout).toBe(`${url}\n`);
  });

  it('--profile of another service: the profile stays as it is', async () => {
    const box = await sandbox();
    const set = ['config', 'set', 'base-url', 'https://api.example.com', '--profile', 'prod'];
    expect(await box.run(set)).toMatchObject({exitCode: 0});
    const {stderr} = await serve(box, '--profile', 'prod');
    await eventually(() =>
      stderr().includes('\nProfile prod belongs to https://api.example.com and was not changed.\n'),
    );
    const settings = await box.run(['config', 'list', '--profile', 'prod']);
    expect(settings.stdout).toContain('base-url=https://api.example.com (from profile prod)\n');
    expect(settings.stdout).not.toContain('profile-url');
  });

  it.skipIf(process.platform === 'win32')(
    '--ephemeral where nothing can be written: the variable that names another directory, exit 1',
    async () => {
      const {directory, env} = await sandbox();
      const command = ['-c', 'ulimit -f 0; exec "$0" "$@" serve --port 0 --ephemeral', ...mediaCommand];
      const options = {cwd: directory, env, extendEnv: false, reject: false} as const;
      const {stdout, stderr, exitCode} = await execa('sh', command, options);
      expect(stderr).toMatch(
        / cannot keep its data in .*: EFBIG\.\n {2}Choose another .* TMPDIR if --ephemeral\)\.$/,
      );
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    },
  );

  it('an address that no machine has, a port for faults that is in use: a sentence, exit 1', async () => {
    const box = await sandbox();
    const env = {MEDIA_SERVE_KEY: 'a-key-for-tests-0001'};
    const elsewhere = await box.run(['serve', '--ephemeral', '--host', '192.0.2.1'], {env});
    expect(elsewhere.stderr).toBe(
      'media: The embedded service cannot listen on 192.0.2.1: EADDRNOTAVAIL.\n  Choose an address of this machine with --host, such as 127.0.0.1, or 0.0.0.0 for all of them.\n',
    );
    const {port} = new URL((await serve(box)).url);
    const taken = await box.run(['serve', '--ephemeral', '--port', '0', '--fault-port', port]);
    expect(taken.stderr).toContain(`Port ${port} is in use.\n  Choose another with --fault-port,`);
    expect([elsewhere.exitCode, taken.exitCode]).toEqual([1, 1]);
  });

  it('damaged keys in the data directory: a sentence, exit 1', async () => {
    const box = await sandbox();
    await mkdir(join(box.directory, 'kept'));
    await writeFile(join(box.directory, 'kept/keys.json'), '{');
    const {stderr, exitCode} = await box.run(['serve', '--port', '0', '--data-dir', 'kept']);
    expect(stderr).toMatch(/^media: .*keys\.json is damaged/);
    expect(exitCode).toBe(1);
  });

  testEphemeral('SIGINT', 'SIGHUP');
});
