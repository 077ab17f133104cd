import {mkdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {rootCertificates} from 'node:tls';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, mediaCommand} from '../../../support/media.ts';

const png = await readFile(fixture('photo.png'));

/** A picture that tells where it was made for. */
function picture(place: string): Buffer {
  return Buffer.concat([png, Buffer.from(`made for ${place}`)]);
}

/** A machine with a service; `stored` tells which pictures that has. */
async function machine() {
  const {service, sandbox} = await connectedSandbox();
  const stored = async () => {
    const contents = await Promise.all((await service.records()).map(({path}) => readFile(path, 'latin1')));
    return contents.map(content => /made for (.*)$/s.exec(content)?.[1]).sort();
  };
  return {sandbox, stored, at: (...parts: string[]) => join(sandbox.directory, ...parts)};
}

/** current -> releases/2, with a photo.png beside each. */
async function releases(at: (...parts: string[]) => string): Promise<void> {
  await mkdir(at('releases/2'), {recursive: true});
  await symlink('releases/2', at('current'));
  await writeFile(at('photo.png'), picture('the directory'));
  await writeFile(at('releases/photo.png'), picture('releases'));
}

test.each([
  ['named', ['current/../photo.png']],
  ['by its absolute path', ['ABSOLUTE/current/../photo.png']],
  ['in a walk', ['-r', 'current/..', '--exclude', '2']],
  ['by a pattern', ['current/../*.png']],
  ['in a list', ['--files-from', 'list']],
])('current/../photo.png %s is the file that cat reads', async (_, inputs) => {
  const {sandbox, stored, at} = await machine();
  await releases(at);
  await writeFile(at('list'), 'current/../photo.png\n');
  const words = inputs.map(word => word.replace('ABSOLUTE', sandbox.directory));
  const {exitCode} = await sandbox.run(['upload', ...words, '--json']);
  expect(exitCode).toBe(0);
  expect(await stored()).toEqual(['releases']);
});

test('current/../photo.png and photo.png are two inputs, for a journal too', async () => {
  const {sandbox, stored, at} = await machine();
  await releases(at);
  const words = ['upload', 'current/../photo.png', 'photo.png', '--journal', 'current/../sent'];
  expect((await sandbox.run(words)).exitCode).toBe(0);
  expect(await stored()).toEqual(['releases', 'the directory']);
  expect((await readFile(at('releases/sent'), 'utf8')).match(/current\/\.\.\/photo\.png/g)).not.toBeNull();
  const check = ['journal', 'check', 'current/../sent', '--', 'photo.png', 'current/../photo.png'];
  expect((await sandbox.run(check)).exitCode).toBe(0);
});

/** Runs in a directory named by its bytes, which execa cannot be told: the shell goes there. */
function inDirectory(directory: Buffer, sandbox: {env: Record<string, string>}, words: string[]) {
  const octal = [...directory].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  const script = 'cd "$(printf "$1")" && shift && exec "$@"';
  return execa('sh', ['-c', script, 'sh', octal, ...mediaCommand, ...words], {
    env: sandbox.env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
}

test.each([
  ['a file', ['photo.png']],
  ['a walk', ['-r', '.']],
  ['a pattern', ['*.png']],
  ['a list', ['--files-from', 'list']],
])(
  '%s in a working directory whose name is not UTF-8: its own file, not that of a sibling',
  async (_, inputs) => {
    const {sandbox, stored, at} = await machine();
    const directory = Buffer.concat([Buffer.from(at('d')), Buffer.of(0xff)]);
    for (const [place, path] of [
      ['the sibling', Buffer.from(at('d\ufffd'))],
      ['the directory', directory],
    ] as const) {
      await mkdir(path);
      await writeFile(Buffer.concat([path, Buffer.from('/photo.png')]), picture(place));
      await writeFile(Buffer.concat([path, Buffer.from('/list')]), 'photo.png\n');
    }
    const words = ['upload', ...inputs, '--journal', 'sent', '--json', '--quiet'];
    const {stderr, exitCode} = await inDirectory(directory, sandbox, words);
    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(await stored()).toEqual(['the directory']);
    await expect(readFile(at('d\ufffd/sent'))).rejects.toThrow('ENOENT');
  },
);

test('a setting with the path of a file in a working directory whose name is not UTF-8: a usage error, not a path that leads elsewhere', async () => {
  const {sandbox, at} = await machine();
  const directory = Buffer.concat([Buffer.from(at('d')), Buffer.of(0xff)]);
  await mkdir(directory);
  await writeFile(Buffer.concat([directory, Buffer.from('/ca.pem')]), rootCertificates[0] ?? '');
  const words = ['config', 'set', 'cacert', 'ca.pem'];
  const {stderr, exitCode} = await inDirectory(directory, sandbox, words);
  expect([stderr.split('\n', 1)[0], exitCode]).toEqual([
    'media: The working directory has no path that could be stored.',
    2,
  ]);
});

test.each([
  ['upload photo.png --json', 'file_missing', 1],
  ['upload -r . --json', 'nothing_matched', 2],
  ['upload --files-from list --json', 'usage', 2],
  ['watch . --ndjson', 'file_missing', 1],
  ['rewrite . --ndjson --out-dir /', 'nothing_matched', 2],
])('%s in a working directory that was removed: one sentence', async (command, code, status) => {
  const {sandbox, at} = await machine();
  await mkdir(at('gone'));
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
  const {stdout, stderr, exitCode} = await execa(
    'sh',
    ['-c', script, 'sh', at('gone'), ...mediaCommand, ...command.split(' ')],
    {env: sandbox.env, extendEnv: false, reject: false},
  );
  expect([stdout, exitCode]).toEqual(['', status]);
  expect(JSON.parse(stderr).error).toMatchObject({code});
});

test('an absolute path in a working directory that was removed is uploaded', async () => {
  const {sandbox, stored, at} = await machine();
  await mkdir(at('gone'));
  await writeFile(at('photo.png'), picture('the directory'));
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
  const words = [...mediaCommand, 'upload', at('photo.png'), '--json'];
  const {exitCode} = await execa('sh', ['-c', script, 'sh', at('gone'), ...words], {
    env: sandbox.env,
    extendEnv: false,
    reject: false,
  });
  expect(exitCode).toBe(0);
  expect(await stored()).toEqual(['the directory']);
  await rm(at('photo.png'));
});

test('a video for the embedded service, from a working directory that was removed: stored, and its size read', async () => {
  const {sandbox, at} = await machine();
  await mkdir(at('gone'));
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
  const words = [...mediaCommand, 'upload', fixture('clip.mp4'), '--base-url', 'embedded', '--json'];
  const {stdout} = await execa('sh', ['-c', script, 'sh', at('gone'), ...words], {
    env: sandbox.env,
    extendEnv: false,
    reject: false,
  });
  expect(JSON.parse(stdout)).toMatchObject({width: 320, height: 180});
});
