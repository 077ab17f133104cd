import {chmod, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it, test} from 'vitest';
import {needPrograms, whatIsMissing} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import packages from '../../support/programs.json' with {type: 'json'};

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the tests may start without a word: Node, npm, git, and programs of Debian's essential packages. */
const everywhere = [
  'bash',
  'chmod',
  'chown',
  'git',
  'ln',
  'mkfifo',
  'npm',
  'sh',
  'sha256sum',
  'stty',
  'tar',
  'touch',
];

async function directoryWith(...programs: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  for (const program of programs) {
    await writeFile(join(directory, program), '');
    await chmod(join(directory, program), 0o755);
  }
  return directory;
}

describe('what is missing of programs that a test needs', () => {
  const keyring = ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool'] as const;

  it.each([
    [[], 'dbus-run-session, gnome-keyring-daemon, secret-tool', 'dbus-daemon gnome-keyring libsecret-tools'],
    [['dbus-run-session'], 'gnome-keyring-daemon, secret-tool', 'gnome-keyring libsecret-tools'],
    [['dbus-run-session', 'secret-tool'], 'gnome-keyring-daemon', 'gnome-keyring'],
  ])('only %j on PATH: the others, and their packages', async (installed, missing, install) => {
    expect(whatIsMissing(keyring, await directoryWith(...installed))).toBe(
      `not installed: ${missing} (Debian and Ubuntu: apt-get install ${install})`,
    );
  });

  it('all of them, in several directories: nothing', async () => {
    const searchPath = `${await directoryWith(keyring[0])}:${await directoryWith(keyring[1], keyring[2])}`;
    expect(whatIsMissing(keyring, searchPath)).toBeUndefined();
  });

  it('a directory of that name, or a file that cannot be executed: missing', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'zsh'));
    await writeFile(join(directory, 'fish'), '', {mode: 0o644});
    expect(whatIsMissing(['zsh', 'fish'], directory)).toMatch(/^not installed: zsh, fish /);
  });

  it('one that Debian has no package for: its name', async () => {
    expect(whatIsMissing(['pwsh'], await temporaryDirectory())).toBe('not installed: pwsh');
  });
});

test('every program that a test starts is on every machine, or the test says that it needs it', async () => {
  const unstated: string[] = [];
  for (const entry of await readdir(join(root, 'test'), {recursive: true})) {
    if (!/\.ts$/.test(entry) || entry.startsWith('fixtures')) continue;
    const text = await readFile(join(root, 'test', entry), 'utf8');
    const started = [...text.matchAll(/\b(?:execa|execaSync|spawn|spawnSync)\(\s*'([\w-]+)'/g)];
    const unknown = new Set(started.map(match => match[1] ?? '').filter(name => !everywhere.includes(name)));
    const stated = (name: string) => name in packages && /needPrograms|whatIsMissing|cannotMount/.test(text);
    unstated.push(...[...unknown].filter(name => !stated(name)).map(name => `${entry}: ${name}`));
    if (/['"`]command -v /.test(text) && !entry.includes('needed-programs'))
      unstated.push(`${entry}: looks by itself`);
  }
  expect(unstated).toEqual([]);
});

test('.ci/peers.sh installs all that tests need and Debian has, but for what only npm run torture tries', async () => {
  const directory = await temporaryDirectory();
  for (const name of ['bash', 'dirname', 'env', 'id']) {
    const {stdout} = await execa('sh', ['-c', `command -v ${name}`]);
    await symlink(stdout, join(directory, name));
  }
  await symlink(process.execPath, join(directory, 'node'));
  const {stdout} = await execa(join(root, '.ci/peers.sh'), {env: {PATH: directory}, extendEnv: false});
  const expected = Object.entries(packages).filter(
    ([name, from]) => from !== null && !['apache2', 'caddy', 'go', 'mitmdump'].includes(name),
  );
  expect(stdout.replace(' fusepy', '')).toBe(
    `Not installed, and not to be installed here: ${expected.map(([name]) => name).join(' ')}. Tests that need them are not run.`,
  );
});

test('jq, or what stands in for it: the text of a value, nothing, and a failure', async context => {
  const standIn = [process.execPath, join(root, 'test/support/jq.js')];
  const run = (command: string[], input: string, ...parameters: string[]) => {
    const [file = '', ...rest] = command;
    return execa(file, [...rest, ...parameters], {input, reject: false});
  };
  const cases = [
    ['{"id":"é"}\n{"id":2}', '-r', '.id'],
    ['{"status":"done"}', '-r', 'select(.status == "failed") | .id'],
    ['{"id":1}', '.id.x'],
    ['', '-r', '.name', join(root, 'package.json')],
  ] as const;
  const made = [];
  for (const [input, ...parameters] of cases) made.push(await run(standIn, input, ...parameters));
  expect(made.map(({stdout, exitCode}) => ({stdout, exitCode}))).toEqual([
    {stdout: 'é\n2', exitCode: 0},
    {stdout: '', exitCode: 0},
    {stdout: '', exitCode: 5},
    {stdout: 'media-cli', exitCode: 0},
  ]);
  expect(made[2]?.stderr).toContain('Cannot index number with string "x"');
  needPrograms(context, ['jq']);
  for (const [index, [input, ...parameters]] of cases.entries()) {
    const {stdout, exitCode} = await run(['jq'], input, ...parameters);
    expect({stdout, exitCode}).toEqual({stdout: made[index]?.stdout, exitCode: made[index]?.exitCode});
  }
});
