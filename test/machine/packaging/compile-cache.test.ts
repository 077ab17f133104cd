import {once} from 'node:events';
import {chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {notRun} from '../../support/installed.ts';
import {fixture, program, Sandbox, temporaryDirectory} from '../../support/media.ts';
import {patienceMs, slowTest} from '../../support/patience.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';

const reporter = fileURLToPath(new URL('../../support/compile-reporter.cjs', import.meta.url));
const dryRun = ['upload', '--dry-run', fixture('photo.png')];

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
  const root = dirname(dirname(program));
  for (const part of ['bin', 'dist', 'package.json']) {
    await cp(join(root, part), join(directory, part), {
      recursive: true,
      filter: source => !source.endsWith('compiled'),
    });
  }
});

/** Runs the copied program; `compiled` has a line for each file that it loaded. */
async function run(parameters: readonly string[], {env = {}, flags = [] as string[], limit = ''} = {}) {
  const report = join(directory, 'report');
  await rm(report, {force: true});
  const command = [
    process.execPath,
    ...flags,
    '--require',
    reporter,
    join(directory, 'bin', 'media.js'),
    ...parameters,
  ];
  const {exitCode, stdout, stderr} = await execa('sh', ['-c', `${limit} exec "$@"`, 'sh', ...command], {
    env: {
      ...new Sandbox(directory).env,
      HOME: home(),
      COMPILED_REPORT: report,
      ...env,
    },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: patienceMs,
  });
  const compiled = (await readFile(report, 'utf8')).trim().split('\n');
  return {exitCode, stdout, stderr, compiled};
}

async function kept(): Promise<string[]> {
  return (await readdir(join(directory, 'dist', 'compiled')).catch(() => [])).sort();
}

const home = () => join(directory, 'home');

/** Makes the package one that this user cannot write to: somebody else's, if this user is root. */
async function takePackageAway() {
  const dist = join(directory, 'dist');
  if (process.getuid?.() === 0) await execa('chown', ['--recursive', '65534:65534', dist]);
  else {
    await chmod(dist, 0o555);
    onTestFinished(() => chmod(dist, 0o755));
  }
}

describe('the second run of a command', () => {
  test('takes what the first compiled and kept, and does the same', async () => {
    const first = await run(dryRun);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.compiled).toContain('main.cjs none');
    expect(first.compiled.filter(line => !line.endsWith(' none'))).toEqual([]);
    const files = await kept();
    expect(files).toHaveLength(first.compiled.length);
    const {mode} = await stat(join(directory, 'dist', 'compiled', files[0] as string));
    expect(mode & 0o022).toBe(0);

    const second = await run(dryRun);
    expect(second.compiled).toEqual(first.compiled.map(line => line.replace('none', 'taken')));
    expect({...second, compiled: []}).toEqual({...first, compiled: []});
    expect(await kept()).toEqual(files);
  });

  test('adds the files that only it loads', async () => {
    await run([...dryRun, '--json']);
    const before = await kept();
    const {compiled} = await run(dryRun);
    const added = compiled.filter(line => line.endsWith(' none'));
    expect(added).toContain('cli-table3.cjs none');
    expect(await kept()).toHaveLength(before.length + added.length);
    expect((await run(dryRun)).compiled.filter(line => !line.endsWith(' taken'))).toEqual([]);
  });
});

test('each command keeps its own', async () => {
  await run(dryRun);
  const {exitCode, compiled} = await run(['config', 'list']);
  expect(exitCode).toBe(0);
  expect(compiled).toContain('main.cjs none');
  expect((await run(['config', 'list'])).compiled).toContain('main.cjs taken');
});

test('a command that runs until it is stopped keeps its own when it is', async () => {
  const service = execa(process.execPath, [join(directory, 'bin', 'media.js'), 'serve', '--ephemeral'], {
    env: {...new Sandbox(directory).env, HOME: home(), MEDIA_SERVE_PORT: '0'},
    ...{extendEnv: false, reject: false, stdin: 'ignore', timeout: patienceMs},
  });
  await once(service.stdout, 'data');
  service.kill('SIGTERM');
  expect((await service).signal).toBe('SIGTERM');
  expect((await kept()).filter(name => /^(?:main|embedded)\.cjs-.*-serve$/.test(name))).toHaveLength(2);
});

test('nothing of the run is kept: neither its key nor its address', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const key = 'mk_never_kept_0123';
  const {exitCode, stderr} = await run(['upload', fixture('photo.png')], {
    env: {MEDIA_API_KEY: key, MEDIA_BASE_URL: url},
  });
  expect(exitCode, stderr).toBe(0);
  const files = await kept();
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    const code = await readFile(join(directory, 'dist', 'compiled', file), 'latin1');
    expect({file, key: code.includes(key), url: code.includes(url)}).toEqual({file, key: false, url: false});
  }
});

test('five at once all do their work and leave nothing half written', slowTest, async () => {
  const runs = await Promise.all(
    Array.from({length: 5}, () =>
      execa(process.execPath, [join(directory, 'bin', 'media.js'), ...dryRun], {
        stdin: 'ignore',
        timeout: patienceMs,
      }),
    ),
  );
  expect(new Set(runs.map(({stdout}) => stdout)).size).toBe(1);
  const files = await kept();
  expect(files.filter(file => !file.endsWith('-upload'))).toEqual([]);
  // What takes over 5 s, as it may on a busy machine, is not kept.
  await eventually(async () => (await run(dryRun)).compiled.every(line => line.endsWith(' taken')));
});

describe('what was kept is left alone when it', () => {
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['is empty', () => Buffer.alloc(0)],
    ['was cut', bytes => bytes.subarray(0, 1000)],
    ['was cut in half', bytes => bytes.subarray(0, bytes.length / 2)],
    ['has no bytes but zeros', bytes => Buffer.alloc(bytes.length)],
    ['is something else', () => Buffer.from('not V8')],
    ...[0.1, 0.3, 0.5, 0.7, 0.9].map((place): [string, (bytes: Buffer) => Buffer] => [
      `has one bit wrong at ${place} of its length`,
      bytes => {
        const position = Math.floor(bytes.length * place);
        bytes.writeUInt8(bytes.readUInt8(position) ^ 4, position);
        return bytes;
      },
    ]),
  ];

  test(damages.map(([name]) => name).join(', or '), slowTest, async () => {
    const expected = await run(dryRun);
    for (const [name, damage] of damages) {
      const paths = (await kept()).map(file => join(directory, 'dist', 'compiled', file));
      const damaged = await Promise.all(paths.map(async path => damage(await readFile(path))));
      for (const [index, path] of paths.entries()) await writeFile(path, damaged[index] as Buffer);
      const {compiled, ...result} = await run(dryRun);
      expect([name, ...compiled.filter(line => line.endsWith(' taken'))]).toEqual([name]);
      expect({name, ...result, compiled: expected.compiled}).toEqual({name, ...expected});
      // And is made anew, which the next damage then meets.
      for (const [index, path] of paths.entries())
        expect((await readFile(path)).equals(damaged[index] as Buffer), `${name}: ${path}`).toBe(false);
    }
    expect((await run(dryRun)).compiled.filter(line => !line.endsWith(' taken'))).toEqual([]);
  });

  test('was made of a program that has been changed since, in as many bytes', async () => {
    await run(dryRun);
    const main = join(directory, 'dist', 'main.cjs');
    const source = await readFile(main, 'utf8');
    await writeFile(main, source.replaceAll('checked', 'CHECKED'));
    const changed = await run(dryRun);
    expect(changed.stdout).toContain('CHECKED');
    expect(changed.compiled).toContain('main.cjs none');
    expect((await run(dryRun)).compiled).toContain('main.cjs taken');
    // As with every change: what is no more than the last line of a file counts too.
    await writeFile(main, `${source.slice(0, -2)}\n\n`);
    expect((await run(dryRun)).compiled).toContain('main.cjs none');
  });

  test("was made without a user's own flags of V8", async () => {
    const expected = await run(dryRun);
    const files = await kept();
    const {compiled, ...result} = await run(dryRun, {flags: ['--no-opt']});
    expect(compiled.filter(line => !line.endsWith(' rejected'))).toEqual([]);
    expect({...result, compiled: expected.compiled}).toEqual(expected);
    // Who always has such flags gets code of their own.
    expect((await run(dryRun, {flags: ['--no-opt']})).compiled).toContain('main.cjs taken');
    expect(await kept()).toEqual(files);
  });
});

describe("for a package that is not this user's, or not writable,", () => {
  test('what its owner has kept is taken', async () => {
    await run(dryRun);
    const files = await kept();
    await takePackageAway();
    expect((await run(dryRun)).compiled.filter(line => !line.endsWith(' taken'))).toEqual([]);
    expect((await run(['config', 'list'])).exitCode).toBe(0);
    expect(await kept()).toEqual(files);
  });

  // Somebody else may own the home of a user (under sudo, for example), and exchange what is in it at any time.
  test.each(['HOME', 'XDG_CACHE_HOME'])('nothing is kept in %s, or taken from it', async variable => {
    const expected = await run(dryRun);
    const cache = join(directory, 'cache');
    const env = {[variable]: variable === 'HOME' ? home() : cache};
    const [parent, target] = [
      variable === 'HOME' ? join(home(), '.cache') : cache,
      join(directory, 'target'),
    ];
    await mkdir(join(parent, 'media'), {recursive: true});
    await rename(join(directory, 'dist', 'compiled'), target);
    await symlink(target, join(parent, 'media', 'compiled'));
    const files = (await readdir(target)).sort();
    await takePackageAway();
    expect(await run(dryRun, {env})).toEqual(expected);
    expect((await run(['config', 'list'], {env})).exitCode).toBe(0);
    expect((await readdir(target)).sort()).toEqual(files);
    expect(await readdir(join(directory, 'dist'))).not.toContain('compiled');
  });
});

describe('nothing is kept, and nothing else is different,', () => {
  async function expectNothingKept(result: Awaited<ReturnType<typeof run>>) {
    expect(result.exitCode, result.stderr).toBe(0);
    expect(result.stderr).toBe('');
    expect(result.stdout).toContain('photo.png');
    expect(await kept()).toEqual([]);
    expect(await readdir(join(home(), '.cache')).catch(() => [])).toEqual([]);
  }

  test('where the directory cannot be made', async () => {
    await writeFile(join(directory, 'dist', 'compiled'), '');
    await expectNothingKept(await run(dryRun));
  });

  test('when the disk has no room for it', async () => {
    const first = await run(dryRun, {limit: 'ulimit -f 100;'});
    expect(first.exitCode, first.stderr).toBe(0);
    expect({...(await run(dryRun)), compiled: first.compiled}).toEqual(first);
    expect((await run(dryRun)).compiled.filter(line => !line.endsWith(' taken'))).toEqual([]);
  });

  test('when the run took over 5 s', async () => {
    await expectNothingKept(await run(dryRun, {env: {RUN_SECONDS: '5.1'}}));
  });

  test('when it is switched off as in Node', async () => {
    await expectNothingKept(await run(dryRun, {env: {NODE_DISABLE_COMPILE_CACHE: '1'}}));
    await mkdir(join(directory, 'dist', 'compiled'), {recursive: true});
    await expectNothingKept(await run(dryRun, {env: {NODE_DISABLE_COMPILE_CACHE: '1'}}));
  });

  test('when the command failed', async () => {
    const {exitCode} = await run(['upload', 'none.png', '--dry-run']);
    expect(exitCode).not.toBe(0);
    expect(await kept()).toEqual([]);
  });
});

test('V8 compiles the HTTP parser once, however many responses it reads, and no function by TurboFan', async context => {
  if (!/^v2[046]/.test(process.version))
    notRun(context, 'only the program on Node 20, 24 and 26 holds V8 back');
  const picture = await readFile(fixture('photo.png'));
  const photos = join(directory, 'photos');
  await mkdir(photos);
  for (let number = 0; number < 100; number += 1)
    await writeFile(join(photos, `${number}.png`), Buffer.concat([picture, Buffer.from([number])]));
  // On a busy machine, the run may take longer than the time after which V8 may optimise.
  const flags = join(directory, 'bin', 'flags.js');
  const [before, after] = (await readFile(flags, 'utf8')).split('2_000');
  await writeFile(flags, `${before}2_000_000${after}`);
  const {stdout, stderr} = await run(['upload', '-r', photos, '--base-url', 'embedded', '--ndjson'], {
    flags: ['--trace-wasm-compilation-times', '--trace-opt'],
  });
  expect(stdout.match(/"status":"uploaded"/g), stderr).toHaveLength(100);
  expect(stdout).toContain('using Liftoff');
  expect(stdout).not.toContain('using TurboFan');
  // On Node 20, which has no other optimising compiler, a few functions are.
  if (!process.version.startsWith('v20.')) expect(stdout).not.toContain('TURBOFAN');
});
