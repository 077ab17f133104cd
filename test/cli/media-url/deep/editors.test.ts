import {copyFile, mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {fixture, mediaUrl} from '../../../support/media.ts';
import {machine, names, quoted, run} from '../machine.ts';

test('MarkText, execFile(FILE, [path]) without options: trimmed stdout is the URL; a failure is an exit status', async () => {
  const {sandbox, urls} = await machine();
  const script = `require('node:child_process').execFile(process.argv[1], [process.argv[2]], (error, stdout) =>
    console.log(JSON.stringify({code: error && error.code, stdout: stdout.trim()})))`;
  const call = async (name: string) => {
    const {stdout} = await run(
      sandbox,
      ['-e', script, mediaUrl, join(sandbox.directory, name)],
      process.execPath,
    );
    return JSON.parse(stdout);
  };
  const name = names[2] ?? '';
  expect(await call(name)).toEqual({code: null, stdout: (await urls())(name)});
  expect(await call('page.png')).toEqual({code: 1, stdout: ''});
});

test('Obsidian, PATH upload "p1" "p2" in a shell: the last lines, or PicGo ERROR on stdout', async () => {
  const {sandbox, urls} = await machine();
  const shell = (...files: string[]) =>
    execa(
      'bash',
      ['-c', `${mediaUrl} upload ${files.map(file => quoted(join(sandbox.directory, file))).join(' ')}`],
      {
        ...{cwd: '/', env: sandbox.env, extendEnv: false, reject: false},
      },
    );
  const two = names.slice(0, 2);
  expect((await shell(...two)).stdout.split('\n').slice(-2)).toEqual(two.map(await urls()));
  const failed = await shell(...two, 'page.png');
  expect(failed.stdout).toMatch(/^PicGo ERROR: .*page\.png is not recognised as an image or a video/);
  expect(failed.stdout).not.toContain('http');
  // A directory of that name is none of the files.
  await mkdir(join(sandbox.directory, 'upload'));
  const noKey = {...sandbox.env, MEDIA_API_KEY: ''};
  const {stdout} = await run({directory: sandbox.directory, env: noKey}, ['upload', names[0] ?? '']);
  expect(stdout).toMatch(/^PicGo ERROR: .*no API key/i);
});

test('a file named upload: a file', async () => {
  const {sandbox, service} = await machine();
  await copyFile(fixture('photo.png'), join(sandbox.directory, 'upload'));
  const {stdout} = await run(sandbox, ['upload', names[0] ?? '']);
  expect(stdout.split('\n')).toEqual(Array(2).fill((await service.records())[0]?.record.fileUrl));
});
