import {copyFile, mkdir, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {notRun} from '../../support/installed.ts';
import {fixture} from '../../support/media.ts';

test('--template: a line for each success in the order of the inputs, of upload, of what was skipped, and of the journal', async () => {
  const {service, sandbox} = await connectedSandbox();
  for (const name of ['photo.png', 'clip.mp4']) await copyFile(fixture(name), join(sandbox.directory, name));
  const inputs = ['clip.mp4', 'gone.png', 'photo.png'];
  const template = '{file}\\t{url}\\t{status}\\n';
  const run = await sandbox.run(['upload', ...inputs, '--once', '--template', template]);
  const urls = new Map(
    (await service.records()).map(({contentType, record}) => [contentType, record.fileUrl]),
  );
  const lines = (status: string) =>
    `clip.mp4\t${urls.get('video/mp4')}\t${status}\nphoto.png\t${urls.get('image/png')}\t${status}\n`;
  expect(run).toMatchObject({stdout: lines('uploaded'), exitCode: 3});
  const again = await sandbox.run(['upload', ...inputs, '--once', '--template', template]);
  expect(again).toMatchObject({stdout: lines('skipped'), exitCode: 3});
  const list = await sandbox.run(['journal', 'list', '--template', `${template}`]);
  expect(list.stdout.split('\n').sort().join('\n')).toBe(`\n${lines('uploaded').trimEnd()}`);

  const checked = await sandbox.run([
    'upload',
    'photo.png',
    '--dry-run',
    '--template',
    '{path} {contentType} {url}.',
  ]);
  expect(checked.stdout).toBe(`${join(sandbox.directory, 'photo.png')} image/png .`);
});

test('--template of a name that is not UTF-8: its bytes between zero bytes and in words for a shell', async context => {
  if (process.platform !== 'linux') notRun(context, 'only on Linux may names have any bytes');
  const {sandbox} = await connectedSandbox();
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  await mkdir(join(sandbox.directory, 'in'));
  const path = bytes(join(sandbox.directory, 'in/caf\xe9.png'));
  await copyFile(fixture('photo.png'), path);
  const exact = ['--template', '{file}\\0{name}\\0{path}\\0{status}\\0'];
  const upload = ['upload', '-r', 'in', '--journal', 'journal'];
  const uploaded = await sandbox.run([...upload, ...exact], {encoding: 'buffer'});
  const name = Buffer.concat([bytes('in/caf\xe9.png\0caf\xe9.png\0'), path]);
  expect(Buffer.from(uploaded.stdout)).toEqual(Buffer.concat([name, bytes('\0uploaded\0')]));
  const words = await sandbox.run([...upload, '--template', '{file|shell} {name|shell} {path|shell}']);
  const printed = await execa('bash', ['-c', `printf '%s\\0' ${words.stdout}`], {encoding: 'buffer'});
  expect(Buffer.from(printed.stdout)).toEqual(Buffer.concat([name, bytes('\0')]));
  const list = await sandbox.run(['journal', 'list', 'journal', ...exact], {encoding: 'buffer'});
  const listed = bytes('caf\xe9.png\0caf\xe9.png\0caf\xe9.png\0uploaded\0');
  expect(Buffer.from(list.stdout)).toEqual(listed);
});

test('{file|shell} of a name that looks like an option: a path that no command takes for one', async () => {
  const {sandbox} = await connectedSandbox();
  await copyFile(fixture('photo.png'), join(sandbox.directory, '-v.png'));
  await mkdir(join(sandbox.directory, 'done'));
  const upload = ['upload', '*.png', '--template', 'mv {file|shell} done/{name|shell}\\n'];
  const {stdout} = await sandbox.run(upload);
  await execa('bash', ['-c', stdout], {cwd: sandbox.directory});
  expect(await readdir(join(sandbox.directory, 'done'))).toEqual(['-v.png']);
});

test.each([
  [['upload', 'photo.png', '--template', '{fiel}'], 'unknown field: {fiel}'],
  [
    ['upload', 'photo.png', '--template', '{id}', '--json'],
    "Option '--json' cannot be used with option '--template <text>'.",
  ],
  [
    ['journal', 'list', '--template', '{id}', '--json'],
    "Option '--json' cannot be used with option '--template <text>'.",
  ],
  [['upload', 'photo.png', '--template', ''], 'The value of --template is empty.'],
])('%j: a usage error, nothing sent', async (parameters, message) => {
  const {service, sandbox} = await connectedSandbox();
  const {stdout, stderr, exitCode} = await sandbox.run(parameters);
  expect(`${stdout}${stderr}`).toContain(message);
  expect(exitCode).toBe(2);
  expect(await service.records()).toEqual([]);
});
