import {existsSync} from 'node:fs';
import {copyFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {notRun} from '../support/installed.ts';
import {fixture, program, sandbox} from '../support/media.ts';
import {slowTest} from '../support/patience.ts';

const executable = join(dirname(dirname(program)), `dist-executables/media-linux-x64`);

test('the single executable does what the program does, with nothing on PATH', slowTest, async context => {
  if (!existsSync(executable)) notRun(context, 'npm run executables has not built an executable');
  const box = await sandbox();
  for (const name of ['photo.png', 'photo.jpg', 'clip.mp4', 'audio-only.mp4'])
    await copyFile(fixture(name), join(box.directory, name));
  await writeFile(join(box.directory, 'post.md'), '![a](photo.png)\n');
  const media = ['photo.png', 'photo.jpg', 'clip.mp4', 'audio-only.mp4', '--base-url', 'embedded', '-c', '1'];
  const lines = [
    ['upload', ...media, '--ndjson'],
    ['upload', ...media, '--geotags', 'strip'],
    ['rewrite', '--check', 'post.md'],
    ['help', '--man'],
    ['help', '--json'],
    ['help', '--schema', 'upload'],
    ['help', 'exit-codes'],
    ['completion', 'zsh'],
    ['journal', 'list', 'absent.journal'],
  ];
  const run = async (file: string, parameters: readonly string[]) => {
    const options = {
      cwd: box.directory,
      env: {HOME: box.directory, PATH: ''},
      extendEnv: false,
      reject: false,
    };
    const {exitCode, stdout, stderr} = await execa(file, parameters, options);
    // What differs between two runs of one program.
    const same = (text: string) =>
      text
        .replace(/\bm_\w+/g, 'ID')
        .replace(/:\d{4,5}\b/g, ':PORT')
        .replace(/"elapsedMs":\d+|\d+ ms/g, 'TIME');
    return {exitCode, stdout: same(stdout), stderr: same(stderr)};
  };
  for (const words of lines) {
    const byNode = await run(process.execPath, [program, ...words]);
    expect(await run(executable, words), words.join(' ')).toEqual(byNode);
  }
});
