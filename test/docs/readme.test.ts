import {chmod, copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {exitStatusOf} from '../../src/errors.ts';
import {embeddedService} from '../support/embedded.ts';
import {exampleService} from '../support/example-service.ts';
import {fixture, program, sandbox} from '../support/media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(match => match[1] ?? '');

describe('every example in the README', () => {
  it('is a block of shell that this test knows how to run, or one that another test runs', () => {
    const languages = [...readme.matchAll(/^```(.+)$/gm)].map(match => match[1]);
    expect(languages.filter(language => language === 'sh')).toHaveLength(blocks.length);
    // test/machines runs the recipes for several machines, test/docs/ci-snippets.test.ts those for CI systems,
    // test/packaging the program.
    expect(languages.filter(language => language !== 'sh')).toEqual([
      'bash',
      'bash',
      'yaml',
      'yaml',
      'js',
      'yaml',
      'yaml',
      'yaml',
      'groovy',
    ]);
    expect(blocks.slice(0, 2)).toEqual(['npm run demo\n', 'npm test\n']);
  });

  it('runs as printed: npm run demo', {timeout: 120_000}, async () => {
    const {stdout, exitCode} = await execa('npm', ['run', 'demo'], {cwd: root, reject: false});
    expect(exitCode).toBe(0);
    expect(stdout).toContain('$ media upload photo.png');
    const records = stdout
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line));
    expect(records.map(record => record.type)).toEqual(['IMAGE', 'VIDEO']);
    expect(records[0]).toMatchObject({width: 640, height: 400, imageType: 'png'});
  });

  it('runs as printed: npm install --global', {timeout: 120_000}, async () => {
    const home = await sandbox();
    const block = blocks.find(text => text.startsWith('npm install --global')) ?? 'false';
    const env = {
      ...home.env,
      npm_config_prefix: home.directory,
      PATH: `${join(home.directory, 'bin')}${delimiter}${home.env['PATH']}`,
    };
    const {stdout, exitCode} = await execa('bash', ['-e', '-c', block], {cwd: root, env, reject: false});
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+$/m);
  });

  it('runs as printed: all others, one after the other', {timeout: 120_000}, async () => {
    const machine = await newcomersMachine();
    for (const block of blocks.filter(text => !text.startsWith('npm '))) {
      const {exitCode, stdout, stderr} = await execa('bash', ['-e', '-o', 'pipefail', '-c', block], {
        ...machine,
        extendEnv: false,
        reject: false,
        timeout: 60_000,
      });
      expect({block, exitCode, stderr, printed: stdout !== ''}).toEqual({
        block,
        exitCode: 0,
        stderr: expect.any(String),
        printed: true,
      });
      expect(stderr).not.toMatch(/internal|Internal|not found/);
    }
  });

  it('prints an id: media upload photo.png --base-url embedded --json | jq -r .id', async () => {
    const command = 'media upload photo.png --base-url embedded --json | jq -r .id';
    expect(blocks).toContain(`${command}\n`);
    const {stdout} = await execa('bash', ['-e', '-o', 'pipefail', '-c', command], {
      ...(await newcomersMachine()),
      extendEnv: false,
    });
    expect(stdout).toMatch(/^m_[A-Za-z0-9_-]+$/);
  });
});

/** A directory with a photo and a video, `media` and `jq` on the PATH, a key, and the example's service. */
async function newcomersMachine() {
  const {service, key} = await embeddedService();
  const {proxyUrl, certificate} = await exampleService(new URL(service.url), [
    'api.example.com',
    'staging.example.com',
  ]);
  const home = await sandbox();
  const bin = join(home.directory, 'bin');
  await mkdir(bin);
  await executable(join(bin, 'media'), program);
  const {exitCode} = await execa('jq', ['--version'], {reject: false});
  if (exitCode !== 0) await executable(join(bin, 'jq'), join(root, 'test/support/jq.js'));
  for (const file of ['photo.png', 'clip.mp4']) await copyFile(fixture(file), join(home.directory, file));
  const authority = join(home.directory, 'authority.pem');
  await writeFile(authority, certificate);
  return {
    cwd: home.directory,
    env: {
      ...home.env,
      PATH: `${bin}${delimiter}${home.env['PATH']}`,
      KEY: key,
      HTTPS_PROXY: proxyUrl,
      NODE_EXTRA_CA_CERTS: authority,
    },
  };
}

async function executable(path: string, script: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  await chmod(path, 0o755);
}

describe('the table of error codes in the README', () => {
  it('lists every code with its exit status', () => {
    const rows = [...readme.matchAll(/^\| `([a-z_]+)` \| (\d) \|/gm)].map(match => [
      match[1],
      Number(match[2]),
    ]);
    expect(Object.fromEntries(rows)).toEqual(exitStatusOf);
  });
});
