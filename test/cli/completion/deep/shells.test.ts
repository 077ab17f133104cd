import {join} from 'node:path';
import {execa} from 'execa';
import {beforeEach, describe, expect, it} from 'vitest';
import {needPrograms, type Program} from '../../../support/installed.ts';
import {slowTest} from '../../../support/patience.ts';
import {interactiveShell} from '../../../support/shells.ts';
import {completions, files, lines, offers, preparedSandbox, readTwice, unescaped} from '../completed.ts';

/** Tests that need a shell which not every machine has. */
function describeIn(shell: Program, tests: () => void): void {
  describe(shell, () => {
    beforeEach(context => needPrograms(context, [shell]));
    tests();
  });
}

describeIn('zsh', () => {
  const compinit = 'autoload -U compinit; compinit -u -D';

  it('offers what fits, and nothing else', slowTest, async () => {
    const zsh = await readTwice('zsh', compinit);
    for (const [line, offered, others] of offers) {
      const shown = unescaped((await zsh.complete(line)).shown.replace(line, ''));
      for (const word of offered) expect({line, shown}).toMatchObject({shown: expect.stringContaining(word)});
      for (const word of others)
        expect({line, shown}).not.toMatchObject({shown: expect.stringContaining(word)});
    }
  });

  it('shows a backslash in a description as it is', slowTest, async () => {
    const zsh = await readTwice('zsh', compinit);
    const {shown} = await zsh.complete('media upload --templat');
    const list = await zsh.complete('media upload --t');
    expect(`${shown}${list.shown}`).toContain('such as "{file}\\t{url}\\n"');
  });

  it('completes the line as it is typed', slowTest, async () => {
    const zsh = await readTwice('zsh', compinit);
    for (const [typed, completed] of lines) {
      const {line} = await zsh.complete(typed);
      expect({typed, line: line.replace(/=?\s*$/, '')}).toEqual({typed, line: completed.trimEnd()});
    }
  });

  it('works from a directory of fpath too, from the first time on', async () => {
    const zsh = await interactiveShell(
      'zsh',
      await preparedSandbox(),
      `fpath=(${completions} $fpath); ${compinit}`,
    );
    expect((await zsh.complete('media up')).line).toBe('media upload ');
    expect((await zsh.complete('media upload my\\ ph')).line).toBe('media upload my\\ photo.png ');
  });
});

describeIn('fish', () => {
  it('offers what fits, and nothing else', slowTest, async () => {
    const box = await preparedSandbox();
    const script = join(completions, files.fish);
    const text = `source ${script}; source ${script}; for line in $argv; echo "> $line"; complete -C $line; end`;
    const {stdout, stderr} = await execa(
      'fish',
      ['--no-config', '-c', text, ...offers.map(([line]) => line)],
      {
        cwd: box.directory,
        env: box.env,
        extendEnv: false,
        reject: false,
      },
    );
    expect(stderr).toBe('');
    const blocks = stdout.split(/^> .*\n?/m).slice(1);
    for (const [index, [line, offered, others]] of offers.entries()) {
      const words = (blocks[index] ?? '').split('\n').map(text => text.split('\t')[0] ?? '');
      for (const word of offered)
        expect({line, words}).toMatchObject({words: expect.arrayContaining([expect.stringContaining(word)])});
      for (const word of others)
        expect({line, words: words.filter(text => text.includes(word))}).toEqual({line, words: []});
    }
  });

  it('completes the line as it is typed', slowTest, async () => {
    const fish = await readTwice('fish');
    for (const [typed, completed] of lines) {
      const {line} = await fish.complete(typed);
      expect({typed, line: line.trimEnd()}).toEqual({typed, line: completed.trimEnd()});
    }
  });
});

describeIn('pwsh', () => {
  it('reads the script without an error', async () => {
    const script = join(completions, files.powershell);
    const {stderr, exitCode} = await execa('pwsh', ['-NoProfile', '-File', script], {reject: false});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('offers what fits, and nothing else', slowTest, async () => {
    const box = await preparedSandbox();
    const script = join(completions, files.powershell);
    for (const [line, offered, others] of offers) {
      const {stdout} = await execa(
        'pwsh',
        [
          '-NoProfile',
          '-Command',
          `. '${script}'; . '${script}'; (TabExpansion2 -inputScript $env:LINE -cursorColumn $env:LINE.Length).CompletionMatches.CompletionText`,
        ],
        {cwd: box.directory, env: {...box.env, LINE: line}, extendEnv: false, reject: false},
      );
      for (const word of offered)
        expect({line, stdout}).toMatchObject({stdout: expect.stringContaining(word)});
      for (const word of others)
        expect({line, stdout}).not.toMatchObject({stdout: expect.stringContaining(word)});
    }
  });
});
