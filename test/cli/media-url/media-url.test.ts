import {mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {rootCertificates} from 'node:tls';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {runMediaUrl} from '../../../src/main.ts';
import {hostIn} from '../../support/journal.ts';
import {mediaUrl, temporaryDirectory} from '../../support/media.ts';
import {expectRefusal, machine, names, quoted, run} from './machine.ts';

test('Typora, CMD "p1" "p2" in a shell: the last lines are the URLs in order, of repeated files and of file:// URLs too; nothing is sent twice', async () => {
  const {sandbox, service, urls} = await machine();
  const [first = '', second = ''] = names;
  const paths = names.map(name => join(sandbox.directory, name));
  const repeated = [...paths, paths[1] ?? '', pathToFileURL(paths[2] ?? '').href];
  const shell = (words: readonly string[]) =>
    execa('sh', ['-c', `${quoted(mediaUrl)} ${words.map(quoted).join(' ')}`], {
      ...{cwd: '/', env: sandbox.env, extendEnv: false},
    });
  const {stdout} = await shell(repeated);
  const url = await urls();
  expect(stdout.split('\n')).toEqual([...names, second, names[2] ?? ''].map(url));
  expect((await shell([paths[0] ?? ''])).stdout).toBe(url(first));
  expect(await service.records()).toHaveLength(names.length);
});

test.each([
  [
    'one of three fails',
    [names[0] ?? '', 'page.png', 'gone.png'],
    3,
    /^(?=.*page\.png is not)(?=.*gone\.png does not exist)/s,
  ],
  ['none', [], 2, /No file was given/],
])(
  '%s: nothing on stdout, the exit status of media upload, the reason on stderr',
  (_name, files, status, reason) => expectRefusal(files, status, reason),
);

test('a desktop without PATH, terminal or working directory of its own: the launcher, with the options it was made with', async () => {
  const {sandbox, service, key, urls} = await machine();
  const config = join(sandbox.directory, '.config/media/config.json');
  await mkdir(join(config, '..'), {recursive: true, mode: 0o700});
  const blog = {'base-url': service.url, key, 'key-origin': service.url};
  await writeFile(config, JSON.stringify({profiles: {blog}}), {mode: 0o600});
  const launcher = join(sandbox.directory, "it's a launcher");
  await writeFile(join(sandbox.directory, 'ca.pem'), rootCertificates[0] ?? '');
  const made = await run(sandbox, ['--profile', 'blog', '--cacert', 'ca.pem', '--launcher', launcher]);
  expect(made).toMatchObject({exitCode: 0, stdout: ''});
  expect((await stat(launcher)).mode & 0o777).toBe(0o755);
  const bare = {cwd: '/', env: {HOME: sandbox.directory}, extendEnv: false};
  const [name = ''] = names;
  const {stdout, stderr} = await execa(launcher, [join(sandbox.directory, name)], bare);
  expect({stdout, stderr}).toEqual({stdout: (await urls())(name), stderr: ''});

  const again = await run(sandbox, ['--launcher', launcher]);
  const refusal = `media: ${launcher} could not be written: it already exists.\n  Remove it, or name another file.`;
  expect(again).toMatchObject({exitCode: 1, stderr: refusal});
  expect(await readFile(launcher, 'utf8')).toContain('--profile blog');
});

test('a launcher for Windows: percent signs in its options are not read as variables', async () => {
  const directory = await temporaryDirectory();
  const options = ['--base-url', 'https://a.example/%20x%20', '--launcher', 'media.cmd'];
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  expect(await runMediaUrl(options, hostIn(directory, {platform: 'win32', stdout, stderr}))).toBe(0);
  expect(await readFile(join(directory, 'media.cmd'), 'utf8')).toMatch(
    / "--base-url" "https:\/\/a\.example\/%%20x%%20" %\*\r\n$/,
  );
});
