import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {beforeEach, describe, expect, it} from 'vitest';
import {needPrograms, type Program} from '../../support/installed.ts';
import {sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {interactiveShell, shellSandbox} from '../../support/shells.ts';

const completions = fileURLToPath(new URL('../../../completions', import.meta.url));
const files = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

/** Tests that need a shell which not every machine has. */
function describeIn(shell: Program, tests: () => void): void {
  describe(shell, () => {
    beforeEach(context => needPrograms(context, [shell]));
    tests();
  });
}

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
  async function profilesOf(config: string | undefined) {
    const box = await sandbox();
    await mkdir(join(box.directory, 'config'));
    const path = join(box.directory, 'config/config.json');
    if (config !== undefined) await writeFile(path, config);
    if (config !== undefined) await chmod(path, 0o600);
    const {stdout, stderr, exitCode} = await box.run(['completion', '--profiles']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    return stdout;
  }

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

  it.each([
    ['no settings file', undefined],
    ['a damaged one', '{"profiles":'],
    ['one of another shape', '{"profiles":null}'],
    ['one that is no object', '3'],
  ])('%s: nothing, exit 0', async (_name, config) => {
    expect(await profilesOf(config)).toBe('');
  });
});

/** Lines, with what a shell offers for them and what it does not. */
const offers: [line: string, offered: string[], others: string[]][] = [
  ['media ', ['login', 'upload', 'doctor', 'completion', 'help'], ['photo', 'notes']],
  ['media --profile ', ['default', 'staging'], ['upload']],
  ['media --profile default config ', ['list', 'get', 'unset'], ['upload']],
  ['media upload ', ['my photo.png', 'my clip.MP4', "it's.webp", 'my pictures'], ['notes.txt', '--types']],
  ['media upload -q a.png ', ['my photo.png', 'my clip.MP4', 'my pictures'], ['notes.txt', 'login']],
  ['media upload --', ['--types', '--format', '--base-url', '--quiet'], ['--key-stdin', 'photo']],
  ['media upload --format ', ['table', 'url', 'markdown'], ['notes']],
  ['media upload --types=', ['extension', 'content', 'strict'], ['notes']],
  ['media upload --journal ', ['notes.txt', 'my photo.png', 'my pictures'], []],
  ['media rewrite ', ['notes.txt', 'my pictures'], ['login']],
  ['media journal resolve notes.txt ', ['my photo.png', 'my pictures'], ['login']],
  ['media graphql -', ['-F', '-f', '--field', '--raw-field'], ['--types']],
  ['media upload -c ', [], ['photo', 'notes']],
  ['media upload -- --', [], ['--types']],
  ['media serve --', ['--port', '--quiet'], ['--types']],
  ['media serve --data-dir ', ['my pictures'], ['notes.txt', 'photo']],
  ['media config get ', ['base-url', 'cacert'], ['notes']],
  ['media journal ', ['list', 'check', 'merge', 'resolve'], ['login']],
  ['media help ', ['upload', 'config'], ['notes']],
  ['media completion ', ['bash', 'zsh', 'fish', 'powershell'], ['notes']],
];

/** What is typed, and what the line is after Tab. */
const lines: [typed: string, completed: string][] = [
  ['media up', 'media upload '],
  ['media --profile s', 'media --profile staging '],
  ['media --profile staging -q up', 'media --profile staging -q upload '],
  ['media upload --ty', 'media upload --types'],
  ['media upload --format=m', 'media upload --format=markdown '],
  ['media upload --on-unknown r', 'media upload --on-unknown retry '],
  ['media upload my\\ ph', 'media upload my\\ photo.png '],
  ['media upload "my ph', 'media upload "my photo.png" '],
  ['media upload my\\ pi', 'media upload my\\ pictures/'],
  ['media upload my\\ pictures/o', 'media upload my\\ pictures/one\\ two.jpg '],
  ['media upload ~/my\\ ph', 'media upload ~/my\\ photo.png '],
  ["media upload it\\'", "media upload it\\'s.webp "],
  ['media upload my\\ photo.png --base-url e', 'media upload my\\ photo.png --base-url embedded '],
  ['media upload no', 'media upload no'],
];

/** Profiles for the shells to offer. */
async function preparedSandbox() {
  const box = await shellSandbox();
  for (const profile of ['default', 'staging']) {
    await box.run(['config', 'set', 'base-url', 'https://media.example', '--profile', profile]);
  }
  return box;
}

/** The shell with the script read twice, and what a test asks of it. */
async function readTwice(shell: 'bash' | 'zsh' | 'fish', first = '') {
  const script = join(completions, files[shell]);
  return interactiveShell(shell, await preparedSandbox(), `${first}\nsource ${script}; source ${script}`);
}

const unescaped = (text: string) => text.replaceAll('\\', '');

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
