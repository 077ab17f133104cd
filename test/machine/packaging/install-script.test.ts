import {mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {examplesIn, markdown} from '../../support/examples.ts';
import {needPrograms, pathOf} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {archive, publish, type Release, servedRelease, sha256} from '../../support/release.ts';

const script = fileURLToPath(new URL('../../../install.sh', import.meta.url));

/** What install.sh asks of the executable: which version it is, and the files that it prints. */
function executable(version: string): string {
  return `#!/bin/sh\ncase "$1" in --version) echo ${version} ;; *) echo "$*" ;; esac\n`;
}

const installed = [
  'bin/media',
  'bin/media-url',
  'share/bash-completion/completions/media',
  'share/fish/vendor_completions.d/media.fish',
  'share/man/man1/media.1',
  'share/zsh/site-functions/_media',
];

/** A home directory with a space in its name, and a release of version 1.0.0. */
async function newcomer() {
  const home = join(await temporaryDirectory(), 'my home');
  await mkdir(home);
  const release = await servedRelease(executable('1.0.0'));
  const path = process.env['PATH'] ?? '';
  const run = (parameters: readonly string[], {shell = ['sh'], PATH = path, HOME = home} = {}) =>
    execa(shell[0] ?? '', [...shell.slice(1), script, ...parameters], {
      cwd: home,
      env: {PATH, HOME},
      extendEnv: false,
      reject: false,
    });
  return {home, release, run, prefix: join(home, '.local')};
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, {recursive: true, withFileTypes: true}).catch(() => []);
  return entries
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** A directory with links to programs, for a PATH without the others. */
async function onlyPrograms(...names: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  for (const name of names) {
    const path = pathOf(name);
    if (path !== undefined) await symlink(path, join(directory, name));
  }
  return directory;
}

const needed = ['sh', 'uname', 'mkdir', 'mktemp', 'rm', 'rmdir', 'gzip', 'ln', 'chmod', 'mv', 'grep', 'cat'];

it('has at most 80 lines, and names no release before there is one', async () => {
  const text = await readFile(script, 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^release=\$\{MEDIA_RELEASE-\}$/m);
  expect(text).not.toMatch(/https:\/\/\w/);
});

describe.each([
  ['sh', ['sh']],
  ['bash', ['bash', '--posix']],
  ['busybox', ['busybox', 'sh']],
] as const)('in the shell %s', (name, shell) => {
  it('installs, upgrades, and removes without a trace', slowTest, async context => {
    needPrograms(context, name === 'busybox' ? ['curl', 'busybox'] : ['curl']);
    const {home, release, run, prefix} = await newcomer();
    // Who has run `npm install --global .` has another `media` on PATH, which is said in another sentence.
    const PATH = await onlyPrograms(...new Set([...needed, 'curl', 'sha256sum', shell[0]]));
    const first = await run(['--from', `${release.url}/`], {shell: [...shell], PATH});
    expect(first).toMatchObject({exitCode: 0, stderr: ''});
    expect(first.stdout).toBe(
      `Downloading ${release.url}/${archive}\nInstalled media 1.0.0 as ${prefix}/bin/media.\n` +
        `Your shell does not find it. Put this into its profile: export PATH="${prefix}/bin:$PATH"`,
    );
    expect(await filesBelow(prefix)).toEqual(installed);
    expect(await readFile(join(prefix, 'share/man/man1/media.1'), 'utf8')).toBe('help --man\n');
    expect((await execa(join(prefix, 'bin/media-url'), ['--version'])).stdout).toBe('1.0.0');

    publish(release, executable('2.0.0'));
    const second = await run(['--from', release.url], {
      shell: [...shell],
      PATH: `${prefix}/bin:${PATH}`,
    });
    expect(second.stdout).toContain('Installed media 2.0.0');
    expect(second.stdout).not.toContain('Your shell');
    expect((await execa(join(prefix, 'bin/media'), ['--version'])).stdout).toBe('2.0.0');

    await writeFile(join(prefix, 'bin/other'), '');
    expect(await run(['--uninstall'], {shell: [...shell]})).toMatchObject({exitCode: 0, stderr: ''});
    expect(await filesBelow(home)).toEqual(['.local/bin/other']);
    expect(await readdir(prefix)).toEqual(['bin']);
    expect(await run(['--uninstall'], {shell: [...shell]})).toMatchObject({exitCode: 0, stderr: ''});
  });
});

/** Ways to break a release, each with what install.sh says of it. */
const faults: Record<string, [(release: Release) => void, RegExp]> = {
  'a tampered file': [
    ({files}) => files.set(archive, gzipSync(executable('6.6.6'))),
    /is not the file that SHA256SUMS names: it was changed or cut off\. Nothing was installed\.$/,
  ],
  'a truncated file': [
    ({files}) => files.set(archive, files.get(archive)?.subarray(0, -20) ?? Buffer.from('')),
    /is not the file that SHA256SUMS names/,
  ],
  'no executable': [({files}) => files.delete(archive), /media-.*\.gz could not be downloaded\. Nothing/],
  'no SHA256SUMS': [({files}) => files.delete('SHA256SUMS'), /SHA256SUMS could not be downloaded\. Nothing/],
  'sums of other files': [
    ({files}) => files.set('SHA256SUMS', Buffer.from(`${sha256(Buffer.from(''))}  ${archive}.old\n`)),
    /is not the file that SHA256SUMS names/,
  ],
  'an executable for another system': [
    release => publish(release, 'exit 1\n'),
    /The executable does not run here: nothing was installed\. .*apt-get install libatomic1\)\.$/,
  ],
};

it('a broken release: one sentence, status 1, and what was installed stays', slowTest, async context => {
  needPrograms(context, ['curl']);
  const {home, release, run, prefix} = await newcomer();
  for (const [fault, [breakIt, message]] of Object.entries(faults)) {
    publish(release, executable('2.0.0'));
    breakIt(release);
    const {exitCode, stderr} = await run(['--from', release.url]);
    expect({fault, exitCode}).toEqual({fault, exitCode: 1});
    expect(stderr).toMatch(message);
    expect({fault, left: await readdir(home, {recursive: true})}).toEqual({fault, left: ['.local']});
  }
  publish(release, executable('1.0.0'));
  await run(['--from', release.url]);
  publish(release, executable('2.0.0'));
  faults['a tampered file']?.[0](release);
  expect((await run(['--from', release.url])).exitCode).toBe(1);
  expect(await filesBelow(prefix)).toEqual(installed);
  expect((await execa(join(prefix, 'bin/media'), ['--version'])).stdout).toBe('1.0.0');
});

it('a directory that cannot be written, a link of npm, no address, a wrong option: what to do', async context => {
  needPrograms(context, ['curl']);
  const {home, release, run, prefix} = await newcomer();
  const from = ['--from', release.url];
  const cases: [string[], number, RegExp, object?][] = [
    [
      [...from, '--prefix', '/proc/none'],
      1,
      /\/proc\/none\/bin cannot be written\. Choose another directory: --prefix DIR$/,
    ],
    [[], 2, /Name the release by its https:\/\/ URL: --from URL$/],
    ...['http://example.com', 'http://localhost:x@example.com', 'http://127.0.0.1:80@example.com/'].map(
      (url): [string[], number, RegExp] => [['--from', url], 2, /Name the release by its https:\/\/ URL/],
    ),
    [['--prefix'], 2, /--prefix needs a value\.$/],
    [['--quiet'], 2, /There is no --quiet\. Usage: sh install\.sh /],
    [from, 2, /HOME is not set\. Name a directory: --prefix DIR$/, {HOME: ''}],
  ];
  for (const [parameters, exitCode, message, options] of cases) {
    const result = await run(parameters, options);
    expect({parameters, exitCode: result.exitCode}).toEqual({parameters, exitCode});
    expect(result.stderr).toMatch(message);
  }
  await mkdir(join(prefix, 'bin'), {recursive: true});
  await symlink('../lib/media.js', join(prefix, 'bin/media'));
  for (const parameters of [from, ['--uninstall']]) {
    const linked = await run(parameters);
    expect(linked).toMatchObject({exitCode: 1, stderr: expect.stringContaining('is a link that')});
  }
  expect(release.asked).toEqual([]);
  expect(await filesBelow(home)).toEqual(['.local/bin/media']);
});

it('without gzip: nothing is downloaded; without hard links: installed; no room: what it is', async context => {
  needPrograms(context, ['curl']);
  const {release, run, prefix} = await newcomer();
  const from = ['--from', release.url];
  const PATH = await onlyPrograms(
    ...needed.filter(name => !/^(?:gzip|ln)$/.test(name)),
    'curl',
    'sha256sum',
    'cp',
  );
  expect(await run(from, {PATH})).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Install gzip'),
  });
  expect(release.asked).toEqual([]);
  await symlink(pathOf('gzip') ?? '', join(PATH, 'gzip'));
  expect(await run(from, {PATH})).toMatchObject({exitCode: 0, stderr: ''});
  expect(await filesBelow(prefix)).toEqual(installed);
  publish(release, `${executable('2.0.0')}${'#'.repeat(100_000)}`);
  const full = await run(from, {shell: ['sh', '-c', 'ulimit -f 8; exec sh "$@"', 'sh']});
  expect(full).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/unpacked.*disk.*Nothing was installed\.$/),
  });
  expect((await execa(join(prefix, 'bin/media'), ['--version'])).stdout).toBe('1.0.0');
});

it('a directory in the place of a file: refused before anything is downloaded', async context => {
  needPrograms(context, ['curl']);
  const {home, release, run, prefix} = await newcomer();
  await mkdir(join(prefix, 'bin/media'), {recursive: true});
  const {exitCode, stderr} = await run(['--from', release.url]);
  expect({exitCode, stderr}).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('bin/media is a directory'),
  });
  expect(release.asked).toEqual([]);
  expect(await readdir(join(home, '.local/bin'))).toEqual(['media']);
});

it('without a program for checksums: nothing is downloaded; with wget and openssl only: installed', async context => {
  needPrograms(context, ['wget', 'openssl']);
  const {release, run, prefix} = await newcomer();
  const none = await run(['--from', release.url], {PATH: await onlyPrograms(...needed, 'wget')});
  expect(none).toMatchObject({exitCode: 1});
  expect(none.stderr).toContain('without one, the download cannot be checked.');
  expect(release.asked).toEqual([]);
  const other = await run(['--from', release.url], {PATH: await onlyPrograms(...needed, 'wget', 'openssl')});
  expect(other).toMatchObject({exitCode: 0, stderr: ''});
  expect(await filesBelow(prefix)).toEqual(installed);
});

it('docs/install.md and docs/verify.md, block by block as printed', async context => {
  needPrograms(context, ['curl']);
  const {home, release} = await newcomer();
  release.files.set('install.sh', await readFile(script));
  const [byScript = '', byHand = ''] = examplesIn('docs/install.md').map(({code}) => code);
  const [uninstall = ''] = /sh install\.sh --uninstall/.exec(markdown('docs/install.md')) ?? [];
  const [verify = ''] = examplesIn('docs/verify.md').map(({code}) => code);
  const ours = (code: string) => code.replaceAll('media-linux-x64', archive.replace('.gz', ''));
  const type = (code: string) =>
    execa('bash', ['-e', '-c', ours(code)], {
      cwd: home,
      env: {PATH: process.env['PATH'], HOME: home, MEDIA_RELEASE: release.url},
      extendEnv: false,
    });
  expect((await type(byScript)).stdout).toContain('Installed media 1.0.0');
  await type(uninstall);
  expect(await filesBelow(home)).toEqual(['install.sh']);
  expect((await type(byHand)).stdout).toBe(`${archive}: OK`);
  expect((await type('./media-linux-x64 --version')).stdout).toBe('1.0.0');
  await writeFile(join(home, archive), 'changed');
  await expect(type(verify)).rejects.toThrow(`${archive}: FAILED`);
});
