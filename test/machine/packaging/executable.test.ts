import {existsSync} from 'node:fs';
import {copyFile, readdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {notRun} from '../../support/installed.ts';
import {fixture, program, type Sandbox, sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

const executable = join(dirname(dirname(program)), 'dist-executables/media-linux-x64');

/** Files of cameras, phones and programs, which are not part of the repository. */
const realMedia = fileURLToPath(new URL('../../../../shared/media/', import.meta.url));

/** How a command line ends, and all that it prints, without what differs between two runs of one program. */
async function run([file, ...before]: readonly string[], words: readonly string[], box: Sandbox) {
  // An empty PATH is none, and Node 20 then looks for ffmpeg in /usr/bin, unlike the Node of the executable.
  const PATH = join(box.directory, 'without-programs');
  const options = {
    ...{cwd: box.directory, env: {HOME: box.directory, PATH}},
    ...{extendEnv: false, reject: false},
  };
  const {exitCode, stdout, stderr} = await execa(file ?? '', [...before, ...words], options);
  const same = (text: unknown) =>
    String(text)
      .replace(/\bm_\w+/g, 'ID')
      .replace(/(?<=127\.0\.0\.1):\d+/g, ':PORT')
      .replace(/"elapsedMs":\d+|\d+ ms/g, 'TIME');
  return {exitCode, stdout: same(stdout), stderr: same(stderr)};
}

async function expectSame(lines: readonly string[][], box: Sandbox) {
  for (const words of lines)
    expect(await run([executable], words, box), words.join(' ')).toEqual(
      await run([process.execPath, program], words, box),
    );
}

test('the single executable does what the program does, with nothing on PATH', slowTest, async context => {
  if (!existsSync(executable)) notRun(context, 'npm run executables has not built an executable');
  const box = await sandbox();
  for (const name of ['photo.png', 'photo.jpg', 'clip.mp4', 'audio-only.mp4'])
    await copyFile(fixture(name), join(box.directory, name));
  await writeFile(join(box.directory, 'post.md'), '![a](photo.png)\n');
  const media = ['photo.png', 'photo.jpg', 'clip.mp4', 'audio-only.mp4', '--base-url', 'embedded', '-c', '1'];
  await expectSame(
    [
      ['upload', ...media, '--ndjson'],
      ['upload', ...media, '--geotags', 'strip'],
      ['rewrite', '--check', 'post.md'],
      ['help', '--man'],
      ['help', '--json'],
      ['help', '--schema', 'upload'],
      ['help', 'exit-codes'],
      ['completion', 'zsh'],
      ['journal', 'list', 'absent.journal'],
    ],
    box,
  );
});

test(
  'the single executable and real media: every record, table, line and exit status',
  slowTest,
  async context => {
    if (!existsSync(executable)) notRun(context, 'npm run executables has not built an executable');
    if (!existsSync(realMedia)) notRun(context, 'there is no ../shared/media');
    const files = (await readdir(realMedia)).sort().map(name => join(realMedia, name));
    const upload = ['upload', '--base-url', 'embedded', '-c', '1', '--no-progress'];
    const formats = [[], ['--json'], ['--ndjson'], ['--geotags', 'strip', '--ndjson']];
    await expectSame(
      formats.map(format => [...upload, ...format, ...files]),
      await sandbox(),
    );
    for (const file of files) await expectSame([[...upload, '--json', file]], await sandbox());
  },
);
