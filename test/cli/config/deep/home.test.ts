import {spawnSync} from 'node:child_process';
import {chmod, chown, copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, type TestContext, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {notRun, whatIsMissing} from '../../../support/installed.ts';
import {fixture, mediaCommand, mediaUrl, testedExecutable} from '../../../support/media.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';

// Another user may not see the directory of PATH in which env would look for node.
const mediaUrlCommand: readonly [string, ...string[]] =
  testedExecutable === undefined ? [process.execPath, mediaUrl] : [mediaUrl];

const isRoot = process.getuid?.() === 0;

/** A machine with a picture and a document, for the user with this id if the test may become that user. */
async function machine(context: TestContext, uid: number) {
  const {sandbox: box, service} = await connectedSandbox();
  const {directory} = box;
  const path = (name: string) => join(directory, name);
  await copyFile(fixture('photo.png'), path('a.png'));
  await writeFile(path('page.md'), '![a](a.png)\n');
  const user = isRoot ? {uid, gid: uid} : {};
  if (isRoot) for (const name of ['', 'a.png', 'page.md']) await chown(path(name), uid, uid);
  const {HOME: _home, XDG_DATA_HOME: _data, MEDIA_CONFIG_DIR: _config, ...bare} = box.env;
  const run = (parameters: readonly string[], env: Record<string, string>, words = mediaCommand) =>
    execa(words[0], [...words.slice(1), ...parameters], {
      ...{cwd: directory, env: {...bare, ...env}, extendEnv: false, reject: false},
      ...{stdin: 'ignore', timeout: patienceMs, ...user},
    });
  const {exitCode} = await run(['--version'], {}).catch(() => ({exitCode: undefined}));
  if (exitCode !== 0) notRun(context, 'other users cannot read this clone');
  return {run, path, service, env: bare};
}

const needsState = {
  exitCode: 1,
  stderr: expect.stringMatching(/^media(-url)?: .*\n {2}Set XDG_STATE_HOME to .*--no-once/m),
};

/** Homes without a place for files, by what is wrong with them. */
const homes: Record<string, Record<string, string>> = {
  'is where no directory can be made': {HOME: '/proc/none'},
  'is a device': {HOME: '/dev/null'},
  'is empty': {HOME: ''},
  // Without HOME, the system is asked, which does not know this user.
  ...(isRoot ? {'nobody knows': {}} : {}),
};

test.for(Object.entries(homes))(
  'a home that %s: what needs no memory works, the rest says what to set',
  slowTest,
  async ([, env], context) => {
    const {run, path, service} = await machine(context, 12_345);
    expect(await run(['upload', 'a.png', '--template', '{id}\\n'], env)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await run(['doctor'], env)).toMatchObject({exitCode: 0, stderr: ''});
    const unset = {...env, MEDIA_API_KEY: '', MEDIA_BASE_URL: ''};
    expect(await run(['upload', '--dry-run', 'a.png'], unset)).toMatchObject({exitCode: 0});
    expect(await run(['upload', '--once', 'a.png'], env)).toMatchObject(needsState);
    // The rest fails, or works elsewhere, whatever is wrong with the home.
    if (env !== homes['is a device']) return;
    expect(await run(['a.png'], env, mediaUrlCommand)).toMatchObject({...needsState, stdout: ''});
    expect(await run(['rewrite', '--write', 'page.md'], env)).toMatchObject(needsState);
    expect(await readFile(path('page.md'), 'utf8')).toBe('![a](a.png)\n');
    const {stderr} = await run(['upload', '--ndjson', '--once', 'a.png'], env);
    expect(JSON.parse(stderr).error).toMatchObject({code: 'state_unwritable'});
    for (const place of [
      ['--base-url', 'embedded', 'upload', 'a.png'],
      ['config', 'set', 'once', 'true'],
    ])
      expect(await run(place, env)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/\n {2}.*(DATA_HOME|CONFIG_DIR)/),
      });
    expect(await service.records()).toHaveLength(1);
    const state = {...env, XDG_STATE_HOME: path('state')};
    expect(await run(['upload', '--once', 'a.png'], state)).toMatchObject({exitCode: 0});
    expect(await run(['a.png'], state, mediaUrlCommand)).toMatchObject({exitCode: 0});
    expect(await service.records()).toHaveLength(2);
  },
);

test(
  "nobody's home, a state directory and a journal that cannot be written: which, why and what to set",
  slowTest,
  async context => {
    const {run, path} = await machine(context, 65_534);
    if (isRoot) expect(await run(['upload', '--once', 'a.png'], {})).toMatchObject(needsState);
    expect(await run(['upload', '--once', 'a.png'], {XDG_STATE_HOME: path('state')})).toMatchObject({
      exitCode: 0,
    });
    for (const [unwritable, parent] of [
      ['state/media/journals', 'state'],
      ['state/media', 'state/media'],
    ] as const) {
      await chmod(path(unwritable), 0o500);
      const ended = await run(['upload', '--once', 'a.png'], {XDG_STATE_HOME: path(parent)});
      expect(ended.stderr).toContain('permission denied');
      expect(ended).toMatchObject(needsState);
    }
  },
);

test('a home on a read-only mount: uploads work, --once says what to set', slowTest, async context => {
  const {path, service, env} = await machine(context, 0);
  await mkdir(path('home'));
  const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  const inside = ['-m', 'sh', '-c', mount, path('home')];
  const missing = whatIsMissing(['mount', 'unshare']);
  if (missing !== undefined || spawnSync('unshare', [...inside, 'true']).status !== 0)
    notRun(context, missing ?? 'nothing may be mounted here, not even in a namespace');
  const run = (...parameters: string[]) =>
    execa('unshare', [...inside, ...mediaCommand, ...parameters], {
      ...{cwd: path(''), env: {...env, HOME: path('home')}, extendEnv: false, reject: false, stdin: 'ignore'},
    });
  expect(await run('upload', 'a.png')).toMatchObject({exitCode: 0});
  const ended = await run('upload', '--once', 'a.png');
  expect(ended).toMatchObject(needsState);
  expect(ended.stderr).toContain('EROFS');
  expect(await service.records()).toHaveLength(1);
});
