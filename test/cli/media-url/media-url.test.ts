import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {rootCertificates} from 'node:tls';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {runMediaUrl} from '../../../src/main.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {hostIn} from '../../support/journal.ts';
import {fixture, mediaUrl, type Sandbox, temporaryDirectory} from '../../support/media.ts';

/** Names that shells, URLs and editors trip over, each a file of its own. */
const names = [
  'with space.png',
  `quotes "and" 'more'.jpg`,
  '写真.gif',
  '$HOME `id`.webp',
  '100%25.avif',
  '[a]*?.bmp',
];

/** A machine with these files, each of other content, and the URL that each has got once all are uploaded. */
async function machine() {
  const connected = await connectedSandbox();
  const {sandbox, service} = connected;
  for (const name of names)
    await copyFile(fixture(`photo.${name.split('.').pop()}`), join(sandbox.directory, name));
  await copyFile(fixture('page-named.png'), join(sandbox.directory, 'page.png'));
  const urls = async () => {
    const records = await service.records();
    return (name: string) => {
      const type = `image/${name.split('.').pop()?.replace('jpg', 'jpeg')}`;
      return records.find(({contentType}) => contentType === type)?.record.fileUrl as string;
    };
  };
  return {...connected, urls};
}

function run(
  {directory, env}: Pick<Sandbox, 'directory' | 'env'>,
  parameters: readonly string[],
  program = mediaUrl,
) {
  return execa(program, parameters, {cwd: directory, env, extendEnv: false, reject: false});
}

const quoted = (word: string) => `"${word.replace(/["$`\\]/g, '\\$&')}"`;

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

test.each([
  [
    'one of three fails',
    [names[0] ?? '', 'page.png', 'gone.png'],
    3,
    /^(?=.*page\.png is not)(?=.*gone\.png does not exist)/s,
  ],
  ['none', [], 2, /No file was given/],
  ['a directory', ['.'], 1, /directory/],
  ['no local URL', ['file://host/share/a.png'], 2, /not the URL of a local file/],
])(
  '%s: nothing on stdout, the exit status of media upload, the reason on stderr',
  async (_name, files, status, reason) => {
    const {sandbox} = await machine();
    const {stdout, stderr, exitCode} = await run(sandbox, ['--no-progress', ...files]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: status});
    expect(stderr).toMatch(reason);
    expect(stderr).not.toMatch(/internal|uploaded,/i);
  },
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
