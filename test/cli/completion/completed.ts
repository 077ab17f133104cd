import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {sandbox} from '../../support/media.ts';
import {interactiveShell, shellSandbox} from '../../support/shells.ts';

export const completions = fileURLToPath(new URL('../../../completions', import.meta.url));

export const files = {bash: 'media.bash', zsh: '_media', fish: 'media.fish', powershell: 'media.ps1'};

/** Lines, with what a shell offers for them and what it does not. */
export const offers: [line: string, offered: string[], others: string[]][] = [
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
export const lines: [typed: string, completed: string][] = [
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
export async function preparedSandbox() {
  const box = await shellSandbox();
  for (const profile of ['default', 'staging']) {
    await box.run(['config', 'set', 'base-url', 'https://media.example', '--profile', profile]);
  }
  return box;
}

/** The shell with the script read twice, and what a test asks of it. */
export async function readTwice(shell: 'bash' | 'zsh' | 'fish', first = '') {
  const script = join(completions, files[shell]);
  return interactiveShell(shell, await preparedSandbox(), `${first}\nsource ${script}; source ${script}`);
}

export const unescaped = (text: string) => text.replaceAll('\\', '');

/** What `media completion --profiles` prints where the settings file is this text. */
export async function profilesOf(config: string | undefined) {
  const box = await sandbox();
  await mkdir(join(box.directory, 'config'));
  const path = join(box.directory, 'config/config.json');
  if (config !== undefined) await writeFile(path, config);
  if (config !== undefined) await chmod(path, 0o600);
  const {stdout, stderr, exitCode} = await box.run(['completion', '--profiles']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return stdout;
}
