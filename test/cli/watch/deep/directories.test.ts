import {copyFile, mkdir, readdir, readFile, readlink, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, waitingTest as test} from '../../../support/after-test.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {Watching} from '../../../support/watching.ts';
import {machine} from '../machine.ts';

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
