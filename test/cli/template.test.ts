import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connectedSandbox} from '../support/embedded.ts';
import {fixture} from '../support/media.ts';

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
