import {chmod, copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaUrl, type Sandbox} from '../../../support/media.ts';
import {xServer} from '../../../support/x-server.ts';

/** Puts a program of this name before all others. */
async function standIn({directory, env}: Sandbox, name: string, script: string): Promise<void> {
  const bin = join(directory, 'bin');
  await mkdir(bin, {recursive: true});
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
  env['PATH'] = `${bin}${delimiter}${env['PATH']}`;
}

test('a picture, files and text that were copied under X: uploaded once by each command, or said to be no picture', async context => {
  const desktop = await xServer(context);
  const {sandbox: box, service} = await connectedSandbox();
  box.env['DISPLAY'] = desktop.display;
  const nothing = await box.run(['upload', '--clipboard', '--json']);
  expect(nothing).toMatchObject({stdout: '', exitCode: 1});
  expect(JSON.parse(nothing.stderr)).toMatchObject({error: {code: 'clipboard_empty'}});

  await desktop.copy('image/png', fixture('photo.png'));
  const picture = await box.run([
    'upload',
    '--clipboard',
    '--once',
    '--template',
    '{file} {contentType} {url}\n',
  ]);
  const [stored] = await service.records();
  const url = String(stored?.record.fileUrl);
  expect(picture).toMatchObject({exitCode: 0, stdout: `clipboard.png image/png ${url}\n`, stderr: ''});
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  expect(bytes.equals(await readFile(fixture('photo.png')))).toBe(true);
  for (const parameters of [['--clipboard'], ['upload']]) {
    const {stdout} = await execa(mediaUrl, parameters, {cwd: '/', env: box.env, extendEnv: false});
    expect(stdout).toBe(url);
  }
  expect(await service.records()).toHaveLength(1);

  const [gif, outside] = [join(box.directory, '写真 1.gif'), fixture('photo.webp')];
  await copyFile(fixture('photo.gif'), gif);
  const list = join(box.directory, 'list');
  const lines = [
    '# copied',
    pathToFileURL(gif).href,
    'https://example.com/a.png',
    pathToFileURL(outside).href,
  ];
  await writeFile(list, lines.join('\r\n'));
  await desktop.copy('text/uri-list', list);
  const files = await box.run(['upload', '--clipboard', '--once', '--template', '{file} {contentType}\n']);
  expect(files.stdout).toBe(`${gif} image/gif\n${outside} image/webp\n`);
  expect(files.stderr).toContain(
    'Not uploaded: https://example.com/a.png. They are not files on this machine',
  );
  const {stdout} = await execa(mediaUrl, ['upload'], {cwd: '/', env: box.env, extendEnv: false});
  const types = new Map(
    (await service.records()).map(({contentType, record}) => [contentType, record.fileUrl]),
  );
  expect(stdout.split('\n')).toEqual([types.get('image/gif'), types.get('image/webp')]);

  await desktop.copy('UTF8_STRING', list);
  const text = await execa(mediaUrl, ['upload'], {cwd: '/', env: box.env, extendEnv: false, reject: false});
  expect(text.stdout).toBe('PicGo ERROR: The clipboard contains no picture.');
  expect(await service.records()).toHaveLength(3);
});

test('a program that hangs: Ctrl-C ends media upload and the program at once', async () => {
  const {sandbox: box, service} = await connectedSandbox();
  const pid = join(box.directory, 'pid');
  await standIn(box, 'xclip', `echo $$ > "${pid}.new"\nmv "${pid}.new" "${pid}"\nexec sleep 600`);
  box.env['DISPLAY'] = ':1';
  const child = box.start(['upload', '--clipboard']);
  const hanging = Number(await eventually(() => readFile(pid, 'utf8').catch(() => undefined)));
  child.kill('SIGINT');
  expect(await child).toMatchObject({signal: 'SIGINT', stdout: ''});
  const isGone = () => {
    try {
      process.kill(hanging, 0);
      return false;
    } catch {
      return true;
    }
  };
  expect(await eventually(isGone)).toBe(true);
  expect(await service.records()).toEqual([]);
});

test.for<[string, string[], RegExp, number]>([
  ['another input', ['upload', '--clipboard', 'photo.png'], /--clipboard takes no other input/, 2],
  ['a list', ['upload', '--clipboard', '--files-from', 'list'], /--clipboard takes no other input/, 2],
  ['no desktop', ['upload', '--clipboard'], /there is no desktop here.*DISPLAY/, 1],
])('%s: why not, and nothing is sent', async ([, parameters, reason, status]) => {
  const {sandbox: box, service} = await connectedSandbox();
  const {stdout, stderr, exitCode} = await box.run(parameters);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: status});
  expect(stderr).toMatch(reason);
  expect(await service.records()).toEqual([]);
});

test('media-url upload without files where the clipboard cannot be read: PicGo ERROR, as its callers look for', async () => {
  const {sandbox: box} = await connectedSandbox();
  const options = {cwd: '/', env: box.env, extendEnv: false, reject: false};
  const {stdout, exitCode} = await execa(mediaUrl, ['upload'], options);
  expect({stdout, exitCode}).toEqual({
    ...{
      exitCode: 1,
      stdout: expect.stringMatching(/^PicGo ERROR: The clipboard could not be read: there is no/),
    },
  });
  const both = await execa(mediaUrl, ['--clipboard', fixture('photo.png')], options);
  expect(both).toMatchObject({exitCode: 2, stdout: '', stderr: expect.stringContaining('Choose one')});
});
