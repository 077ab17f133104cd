import {readFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../support/media.ts';

const commands = [
  [],
  ['login'],
  ['logout'],
  ['whoami'],
  ['upload'],
  ['graphql'],
  ['serve'],
  ['config'],
  ['config', 'list'],
  ['config', 'get'],
  ['config', 'set'],
  ['config', 'unset'],
  ['config', 'path'],
  ['completion'],
];

describe('help', () => {
  it('bare media: help on stdout, exit 0', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run([]);
    expect(stdout).toMatch(/^Usage: media <command> \[options\]\n/);
    for (const [name = 'help'] of commands) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    expect(stdout).toContain('\nExamples:\n');
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it.each(commands)(
    'media %s %s --help: usage, global options and examples on stdout, exit 0',
    async (...words) => {
      const {stdout, stderr, exitCode} = await (await sandbox()).run([...words, '--help']);
      expect(stdout.startsWith(`Usage: ${['media', ...words].join(' ')} `)).toBe(true);
      expect(stdout).toContain('\nExamples:\n  $ ');
      expect(stdout).toContain('--base-url <url>');
      expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    },
  );

  it('media help upload: the same as media upload --help', async () => {
    const box = await sandbox();
    const [help, option] = await Promise.all([box.run(['help', 'upload']), box.run(['upload', '-h'])]);
    expect(help.stdout).toBe(option.stdout);
    expect(help.exitCode).toBe(0);
  });

  it('media help, and media help config set: the same as with --help', async () => {
    const box = await sandbox();
    const runs = [['help'], ['--help'], ['help', 'config', 'set'], ['config', 'set', '--help']];
    const [all, allOption, one, oneOption] = await Promise.all(runs.map(words => box.run(words)));
    expect([all?.stdout, all?.exitCode]).toEqual([allOption?.stdout, 0]);
    expect([one?.stdout, one?.exitCode]).toEqual([oneOption?.stdout, 0]);
  });

  it('bare media config: its help on stdout, exit 0', async () => {
    const {stdout, exitCode} = await (await sandbox()).run(['config']);
    expect(stdout).toMatch(/^Usage: media config /);
    expect(exitCode).toBe(0);
  });

  it('--version, before and after a command: the version of package.json', async () => {
    const {version} = JSON.parse(await readFile(fixture('../../package.json'), 'utf8'));
    const box = await sandbox();
    const runs = await Promise.all([box.run(['--version']), box.run(['upload', '--version'])]);
    for (const {stdout, stderr, exitCode} of runs) {
      expect({stdout, stderr, exitCode}).toEqual({stdout: `${version}\n`, stderr: '', exitCode: 0});
    }
  });
});
