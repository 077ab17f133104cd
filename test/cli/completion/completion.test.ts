import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {interactiveShell, shellSandbox} from '../../support/shells.ts';
import {completions, files, lines, offers, profilesOf, readTwice, unescaped} from './completed.ts';

describe('media completion', () => {
  it.each(Object.entries(files))('%s: prints completions/%s', async (shell, file) => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['completion', shell]);
    expect(stdout).toBe(await readFile(join(completions, file), 'utf8'));
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('a global option before it: the same', async () => {
    const {stdout, exitCode} = await (await sandbox()).run(['--quiet', 'completion', 'bash']);
    expect(stdout).toBe(await readFile(join(completions, 'media.bash'), 'utf8'));
    expect(exitCode).toBe(0);
  });

  it.each([[['completion']], [['completion', 'tcsh']], [['completion', 'bash', 'zsh']]])(
    '%j: a usage error, exit 2',
    async words => {
      const {stdout, stderr, exitCode} = await (await sandbox()).run(words);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
      expect(stderr).toMatch(/^media: .+\n/);
    },
  );

  it('a reader that goes away at once: no word of it', async () => {
    const box = await shellSandbox();
    const {stderr, stdout} = await execa('sh', ['-c', 'media completion powershell | head -n 1'], {
      cwd: box.directory,
      env: box.env,
      extendEnv: false,
    });
    expect({stderr, stdout: stdout.slice(0, 13)}).toEqual({stderr: '', stdout: '# Completions'});
  });
});

describe('media completion --profiles', () => {
  it('the names, one a line, without any that a shell could read otherwise', async () => {
    const profiles = {
      default: {},
      'staging-2.eu': {},
      '$(touch x)': {},
      '-q': {},
      'two words': {},
      'a\nb': {},
    };
    expect(await profilesOf(JSON.stringify({profiles}))).toBe('default\nstaging-2.eu\n');
  });

  it('a damaged one: nothing, exit 0', async () => {
    expect(await profilesOf('{"profiles":')).toBe('');
  });
});

describe('bash', () => {
  it('offers what fits, and nothing else', slowTest, async () => {
    const bash = await readTwice('bash');
    for (const [line, offered, others] of offers) {
      const shown = unescaped((await bash.complete(line)).shown.replace(line, ''));
      for (const word of offered) expect({line, shown}).toMatchObject({shown: expect.stringContaining(word)});
      for (const word of others)
        expect({line, shown}).not.toMatchObject({shown: expect.stringContaining(word)});
    }
  });

  it('completes the line as it is typed', slowTest, async () => {
    const bash = await readTwice('bash');
    const more: typeof lines = [
      ['media upload my\\ photo.png > no', 'media upload my\\ photo.png > notes.txt '],
      ['media upload --journal=no', 'media upload --journal=notes.txt '],
    ];
    for (const [typed, completed] of [...lines, ...more]) {
      const {line} = await bash.complete(typed);
      expect({typed, line: line.trimEnd()}).toEqual({typed, line: completed.trimEnd()});
    }
  });

  it('names below a variable, whatever the shell does with patterns', async () => {
    const box = await shellSandbox();
    const script = join(completions, files.bash);
    const bash = await interactiveShell('bash', box, `source ${script}; set -f; shopt -s failglob`);
    const photo = `${box.directory}/my\\ photo.png `;
    expect((await bash.complete('media upload $HOME/my\\ ph')).line).toBe(`media upload ${photo}`);
    expect((await bash.complete('media upload "$HOME/my ph')).line).toBe(
      `media upload "${box.directory}/my photo.png" `,
    );
    expect((await bash.complete('media upload nothing')).shown).not.toContain('no match');
    expect((await bash.complete("media upload '$HOME/my ph")).line).toBe("media upload '$HOME/my ph");
  });

  it('takes names with a colon, which readline breaks words at', async () => {
    const box = await shellSandbox();
    await writeFile(join(box.directory, 'frame:12.png'), '');
    const bash = await interactiveShell('bash', box, `source ${join(completions, files.bash)}`);
    expect((await bash.complete('media upload frame:1')).line).toBe('media upload frame:12.png ');
  });
});
