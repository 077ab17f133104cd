import {spawn} from 'node:child_process';
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterTest, expect, waitingTest as test} from '../../support/after-test.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {eventually} from '../../support/eventually.ts';
import {markdown} from '../../support/examples.ts';
import {notRun} from '../../support/installed.ts';
import {fixture, mediaCommand} from '../../support/media.ts';
import {Watching} from '../../support/watching.ts';

async function machine() {
  const connected = await connectedSandbox();
  const path = (name: string) => join(connected.sandbox.directory, name);
  await mkdir(path('in/sub'), {recursive: true});
  return {...connected, box: connected.sandbox, path};
}

test('what is there, what comes, is renamed and finished, in a directory that goes and returns: uploaded and moved', async () => {
  const {box, path, service} = await machine();
  await copyFile(fixture('photo.png'), path('in/sub/写真.png'));
  await copyFile(fixture('photo.gif'), path('in/clip.gif.part'));
  for (const name of ['notes.txt', '.hidden.png', 'empty.png'])
    await writeFile(path(`in/${name}`), name.startsWith('e') ? '' : name);
  await copyFile(fixture('photo.png'), path('outside.png'));
  await symlink(path('outside.png'), path('in/link.png'));
  await mkdir(path('outside'));
  await copyFile(fixture('photo.jpg'), path('outside/photo.jpg'));
  await symlink(path('outside'), path('in/linked'));
  // A name that is taken where a file goes.
  await mkdir(path('in/done'));
  await writeFile(path('in/done/clip.gif'), 'taken');
  const watching = new Watching(box, ['in', '--move-to', 'in/done', '--ndjson']);
  await watching.line({event: 'watching'});
  await rename(path('in/clip.gif.part'), path('in/clip.gif'));
  await eventually(async () => (await service.records()).length === 2);
  // The same content again, which has a record by now.
  await copyFile(fixture('photo.gif'), path('in/copy.gif'));
  expect(await watching.line({file: 'in/sub/写真.png'})).toMatchObject({
    status: 'uploaded',
    movedTo: path('in/done/sub/写真.png'),
    record: {},
  });
  expect(await readFile(path('in/done/sub/写真.png'))).toEqual(await readFile(fixture('photo.png')));
  await watching.line({file: 'in/clip.gif', movedTo: path('in/done/clip-1.gif')});
  await watching.line({file: 'in/copy.gif', status: 'skipped', movedTo: path('in/done/copy.gif')});
  await copyFile(fixture('page-named.png'), path('in/page.png'));
  expect(await watching.line({file: 'in/page.png'})).toMatchObject({
    status: 'failed',
    error: {code: 'not_media'},
  });
  expect((await readdir(path('in'))).sort()).toEqual(
    ['.hidden.png', 'done', 'empty.png', 'link.png', 'linked', 'notes.txt', 'page.png', 'sub'].sort(),
  );
  expect(await readdir(path('outside'))).toEqual(['photo.jpg']);

  await rm(path('in'), {recursive: true});
  await watching.line({event: 'gone', directory: 'in'});
  await mkdir(path('in'));
  await copyFile(fixture('photo.webp'), path('in/back.webp'));
  await watching.line({file: 'in/back.webp', movedTo: path('in/done/back.webp')});
  await eventually(() => watching.lines().filter(({event}) => event === 'watching').length === 2);
  expect(await service.records()).toHaveLength(3);
  watching.child.kill('SIGTERM');
  expect((await watching.child).signal).toBe('SIGTERM');
  expect(watching.stderr).toContain('media: in/page.png is not recognised as an image or a video');
});

test('a directory that is a link, and one whose name begins alike: files are named and moved by their paths below each', async () => {
  const {box, path} = await machine();
  await symlink('in', path('link'));
  await mkdir(path('linked'));
  await copyFile(fixture('photo.webp'), path('linked/c.webp'));
  await copyFile(fixture('photo.png'), path('in/sub/a.png'));
  const watching = new Watching(box, ['link/', 'linked', '--move-to', 'done', '--ndjson']);
  await watching.line({file: 'linked/c.webp', movedTo: path('done/c.webp')});
  await watching.line({file: 'link/sub/a.png', movedTo: path('done/sub/a.png')});
  await copyFile(fixture('photo.gif'), path('in/b.gif'));
  await watching.line({file: 'link/b.gif', movedTo: path('done/b.gif')});
  expect((await readdir(path('done'))).sort()).toEqual(['b.gif', 'c.webp', 'sub']);
});

test('--poll: what comes is uploaded without events of the system', async context => {
  if (process.platform !== 'linux') return notRun(context, 'only Linux shows what a process has open');
  const {box, path} = await machine();
  const watching = new Watching(box, ['in', '--poll', '--ndjson']);
  await watching.line({event: 'watching'});
  await copyFile(fixture('photo.png'), path('in/sub/a.png'));
  await watching.line({file: 'in/sub/a.png', status: 'uploaded'});
  const open = `/proc/${watching.child.pid}/fd`;
  const links = await Promise.all(
    (await readdir(open)).map(name => readlink(join(open, name)).catch(() => 'closed')),
  );
  expect(links.length).toBeGreaterThan(2);
  expect(links).not.toContain('anon_inode:inotify');
});

test('many files at once, killed on the way and started again: each stored once and deleted, none lost', async () => {
  const {box, path, service, key} = await machine();
  const settings = {'base-url': service.url, key, 'key-origin': service.url, 'idempotency-keys': 'honoured'};
  await mkdir(path('config'), {mode: 0o700});
  await writeFile(path('config/config.json'), JSON.stringify({profiles: {default: settings}}), {mode: 0o600});
  delete box.env['MEDIA_BASE_URL'];
  delete box.env['MEDIA_API_KEY'];
  const pixel = await readFile(fixture('photo.png'));
  const count = 200;
  const killed = new Watching(box, ['in', '--delete', '--ndjson']);
  await killed.line({event: 'watching'});
  await Promise.all(
    Array.from({length: count}, (_, at) =>
      writeFile(path(`in/sub/${at}.png`), Buffer.concat([pixel, Buffer.from(String(at))])),
    ),
  );
  await eventually(() => killed.lines().length > count / 10);
  killed.child.kill('SIGKILL');
  await killed.child;
  const again = new Watching(box, ['in', '--delete', '--ndjson']);
  await eventually(async () => (await readdir(path('in/sub'))).length === 0, {pauseMs: 100});
  const records = await service.records();
  expect(records).toHaveLength(count);
  expect(new Set(records.map(({sha256}) => sha256)).size).toBe(count);
  expect(again.stderr).toBe('');
});

test('a reader of the output that does not read: SIGTERM ends the watch all the same', async () => {
  const {box, path, service} = await machine();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    await writeFile(
      path(`in/${name}.png`),
      `${await readFile(fixture('photo.png'), 'latin1')}${name}`,
      'latin1',
    );
  const wide = ['--template', `{file}${'x'.repeat(100_000)}\\n`, '--settle', '20ms'];
  const [program, ...words] = mediaCommand;
  const watch = spawn(program, [...words, 'watch', 'in', ...wide], {cwd: box.directory, env: box.env});
  afterTest(() => void watch.kill('SIGKILL'));
  await eventually(async () => (await service.records()).length === 6);
  watch.kill('SIGTERM');
  expect(await eventually(() => watch.signalCode ?? watch.exitCode ?? undefined)).toBe('SIGTERM');
});

test('a file that grows after its upload: uploaded again; a key that is revoked meanwhile: the file waits', async () => {
  const {box, path, service} = await machine();
  box.env['MEDIA_API_KEY'] = await service.createKey({label: 'watch'});
  const watching = new Watching(box, ['in', '--template', '{name} {status} {url}\\n']);
  await eventually(() => watching.stderr.includes('Watching in.'));
  await copyFile(fixture('photo.png'), path('in/a.png'));
  await eventually(() => watching.stdout.includes('a.png uploaded http'));
  await appendFile(path('in/a.png'), 'more');
  await eventually(() => watching.stdout.match(/^a\.png uploaded http/gm)?.length === 2);
  await service.revokeKeys('watch');
  await copyFile(fixture('photo.gif'), path('in/b.gif'));
  await eventually(() => /The API key is unknown.* 1 file waits/.test(watching.stderr));
  expect(await readdir(path('in'))).toContain('b.gif');
  watching.child.kill('SIGINT');
  expect((await watching.child).signal).toBe('SIGINT');
});

test('a directory that may not be read: told once, by its name; the others are watched', async () => {
  const {box, path} = await machine();
  await mkdir(path('in/closed'));
  await chmod(path('in/closed'), 0);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await execa('chown', ['-R', '65534:65534', box.directory]);
  const start: typeof box.start = (parameters, options) =>
    box.start(parameters, {...options, ...(isRoot && {uid: 65_534, gid: 65_534})});
  const watching = new Watching({start}, ['in', '--ndjson']);
  const told = () => watching.stderr.split('in/closed cannot be watched: permission denied.').length - 1;
  await eventually(() => told() > 0);
  await mkdir(path('in/new'));
  await copyFile(fixture('photo.png'), path('in/new/a.png'));
  await watching.line({file: 'in/new/a.png', status: 'uploaded'});
  expect(told()).toBe(1);
  watching.child.kill('SIGTERM');
  expect((await watching.child).signal).toBe('SIGTERM');
  await chmod(path('in/closed'), 0o700);
});

test('names that are not UTF-8: told once, since they are not seen; one with the character for that is uploaded', async context => {
  const {box, path} = await machine();
  const nameless = (at: string, name: string) =>
    Buffer.concat([Buffer.from(`${path(at)}/`), Buffer.of(0xff), Buffer.from(name)]);
  await mkdir(nameless('in', '')).catch(() => context.skip('no such names here'));
  await writeFile(nameless('in/sub', '.png'), await readFile(fixture('photo.png')));
  await copyFile(fixture('photo.png'), path('in/\ufffd.png'));
  const watching = new Watching(box, ['in', '--ndjson']);
  const told = () => watching.stderr.match(/in\/[^ ]+ cannot be watched: its name is not UTF-8\./g)?.sort();
  await watching.line({file: 'in/\ufffd.png', status: 'uploaded'});
  await eventually(() => told()?.length === 2);
  watching.child.kill('SIGTERM');
  expect((await watching.child).signal).toBe('SIGTERM');
  expect(told()).toEqual(
    ['in/sub/\ufffd.png', 'in/\ufffd'].map(name => `${name} cannot be watched: its name is not UTF-8.`),
  );
});

const refusals: [string, string[], number, RegExp][] = [
  ['no directory', [], 2, /missing required argument|No directory|argument 'directory'/i],
  ['a directory that does not exist', ['gone'], 1, /gone does not exist/],
  ['a file', ['photo.png'], 2, /photo\.png is not a directory/],
  [
    'both disposals',
    ['in', '--delete', '--move-to', 'x'],
    2,
    /'--move-to <directory>' cannot be used with option '--delete'/,
  ],
  ['a name with a backslash', ['back\\slash'], 2, /back\\slash cannot be watched: its path has a backslash/],
  ['moved to where it is', ['in', '--move-to', 'in'], 2, /the watched directory in overlap\./],
  [
    'moved to a parent',
    ['in/sub', '--move-to', '.'],
    2,
    /--move-to \. and the watched directory in\/sub overlap\./,
  ],
  ['moved to a parent by a link', ['link', '--move-to', 'in'], 2, /the watched directory link overlap\./],
  [
    'two formats',
    ['in', '--ndjson', '--template', '{id}'],
    2,
    /'--ndjson' cannot be used with option '--template <text>'/,
  ],
  ['an unknown field', ['in', '--template', '{fiel}'], 2, /unknown field: \{fiel\}/],
  ['no key', ['in', '--profile', 'none'], 4, /none/],
  ['a wrong setting', ['in', '--settle', '1s'], 2, /"fast" is not a value of limit-rate/],
];

for (const [name, parameters, exitCode, reason] of refusals)
  test(`${name}: the reason at once`, async () => {
    const {box, path} = await machine();
    await copyFile(fixture('photo.png'), path('photo.png'));
    await symlink('in/sub', path('link'));
    await mkdir(path('back\\slash'));
    const changes = parameters.includes('none')
      ? {MEDIA_API_KEY: ''}
      : parameters.includes('1s') && {MEDIA_LIMIT_RATE: 'fast'};
    const env = {...box.env, ...changes};
    const {stdout, stderr, ...ended} = await box.run(['watch', ...parameters], {env});
    expect({stdout, exitCode: ended.exitCode}).toEqual({stdout: '', exitCode});
    expect(stderr).toMatch(reason);
  });

test('the systemd unit of the page: a command line that commander takes', async () => {
  const {box, path} = await machine();
  const [, unit = ''] = /```ini\n(.*?)```/s.exec(markdown('docs/publishing.md')) ?? [];
  const [, words = ''] = /^ExecStart=\/usr\/bin\/env media (.*)$/m.exec(unit) ?? [];
  const {stderr, exitCode} = await box.run([...words.replaceAll('%h', path('gone')).split(' ')]);
  expect({stderr, exitCode}).toEqual({stderr: `media: ${path('gone')}/Scans does not exist.\n`, exitCode: 1});
});
