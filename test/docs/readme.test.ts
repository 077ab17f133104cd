import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {examplesIn} from '../support/examples.ts';
import {sandbox} from '../support/media.ts';
import {newcomersMachine, type} from './newcomer.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const blocks = examplesIn('README.md').map(({code}) => code);

describe('every example in the README', () => {
  it('begins with the two commands that set everything up: npm run demo, npm test', () => {
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
    for (const block of blocks.filter(text => !text.startsWith('npm '))) await type(machine, block);
  });

  it('prints an id: media upload photo.png --base-url embedded --json | jq -r .id', async () => {
    const command = 'media upload photo.png --base-url embedded --json | jq -r .id';
    expect(blocks).toContain(`${command}\n`);
    expect(await type(await newcomersMachine(), command)).toMatch(/^m_[A-Za-z0-9_-]+$/);
  });
});
