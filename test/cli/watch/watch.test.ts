import {chmod, copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {execa} from 'execa';
import {expect, waitingTest as test} from '../../support/after-test.ts';
import {eventually} from '../../support/eventually.ts';
import {markdown} from '../../support/examples.ts';
import {notRun} from '../../support/installed.ts';
import {fixture} from '../../support/media.ts';
import {Watching} from '../../support/watching.ts';
import {machine, type Refusal, refusedAtOnce} from './machine.ts';

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

test('a directory that may not be read: told once, by its name; the others are watched', async context => {
  const {box, path} = await machine();
  await mkdir(path('in/closed'));
  await chmod(path('in/closed'), 0);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await execa('chown', ['-R', '65534:65534', box.directory]);
  const start: typeof box.start = (parameters, options) =>
    box.start(parameters, {...options, ...(isRoot && {uid: 65_534, gid: 65_534})});
  if ((await start(['--version'])).exitCode !== 0)
    notRun(context, 'as root, it needs a clone that other users may enter');
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

const refusals: Refusal[] = [
  ['no directory', [], 2, /missing required argument|No directory|argument 'directory'/i],
  ['a directory that does not exist', ['gone'], 1, /gone does not exist/],
  [
    'both disposals',
    ['in', '--delete', '--move-to', 'x'],
    2,
    /'--move-to <directory>' cannot be used with option '--delete'/,
  ],
  ['no key', ['in', '--profile', 'none'], 4, /none/],
];

for (const refusal of refusals) refusedAtOnce(refusal);

test('the systemd unit of the page: a command line that commander takes', async () => {
  const {box, path} = await machine();
  const [, unit = ''] = /```ini\n(.*?)```/s.exec(markdown('docs/publishing.md')) ?? [];
  const [, words = ''] = /^ExecStart=\/usr\/bin\/env media (.*)$/m.exec(unit) ?? [];
  const {stderr, exitCode} = await box.run([...words.replaceAll('%h', path('gone')).split(' ')]);
  expect({stderr, exitCode}).toEqual({stderr: `media: ${path('gone')}/Scans does not exist.\n`, exitCode: 1});
});
