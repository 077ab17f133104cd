import {appendFile, link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {type Disposal, dispose} from '../../../src/commands/watch/disposal.ts';
import {notRun} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';

/** A file that was uploaded, and a directory to move it to. */
async function uploadedFile(target?: string) {
  const root = await temporaryDirectory();
  const path = join(root, 'in', 'a.png');
  await mkdir(join(root, 'in'));
  await writeFile(path, 'content');
  const moveTo = target ?? join(root, 'done');
  const file = {path, relative: join('sub', 'a.png'), stat: await stat(path, {bigint: true})};
  const disposed = (disposal: Disposal = {moveTo}) => dispose(file, disposal);
  return {path, moveTo, disposed, target: join(moveTo, 'sub', 'a.png')};
}

test.each(['delete', 'move'])('%s of a file that has changed, or is gone: nothing', async what => {
  const {path, moveTo, disposed} = await uploadedFile();
  const disposal: Disposal = what === 'delete' ? 'delete' : {moveTo};
  await appendFile(path, 'more');
  expect(await disposed(disposal)).toBe('changed');
  expect(await readFile(path, 'utf8')).toBe('contentmore');
  await rm(path);
  expect(await disposed(disposal)).toBe('gone');
  expect(await stat(moveTo).catch(() => 'nothing')).toBe('nothing');
});

test('unchanged: kept, deleted, or moved with its directories', async () => {
  const {path, disposed, target} = await uploadedFile();
  expect(await disposed('keep')).toBe('kept');
  expect(await disposed()).toEqual({movedTo: target});
  expect(await readFile(target, 'utf8')).toBe('content');
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
  const other = await uploadedFile();
  expect(await other.disposed('delete')).toBe('deleted');
  expect(await stat(other.path).catch(() => 'gone')).toBe('gone');
});

test('names that are taken: numbers; nothing is overwritten', async () => {
  const {moveTo, disposed, target} = await uploadedFile();
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  for (const name of ['a.png', 'a-1.png']) await writeFile(join(moveTo, 'sub', name), 'other');
  const movedTo = target.replace('a.png', 'a-2.png');
  expect(await disposed()).toEqual({movedTo});
  expect(await readFile(movedTo, 'utf8')).toBe('content');
  expect(await readFile(target, 'utf8')).toBe('other');
});

test('killed between the two steps of a move: the next run finishes it', async () => {
  const {path, moveTo, target} = await uploadedFile();
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  await link(path, target);
  const file = {path, relative: join('sub', 'a.png'), stat: await stat(path, {bigint: true})};
  expect(await dispose(file, {moveTo})).toEqual({movedTo: target});
  expect(await readdir(join(moveTo, 'sub'))).toEqual(['a.png']);
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
});

test('another file system: copied with its time, or with a number', async context => {
  const here = await temporaryDirectory();
  const places = ['/dev/shm', '/var/tmp'];
  const devices = await Promise.all(
    places.map(place =>
      stat(place).then(
        ({dev}) => dev,
        () => undefined,
      ),
    ),
  );
  const {dev} = await stat(here);
  const place = places.find((_, at) => devices[at] !== undefined && devices[at] !== dev);
  if (place === undefined) return notRun(context, 'there is one file system only');
  const moveTo = await mkdtemp(join(place, 'media-test-'));
  onTestFinished(() => rm(moveTo, {recursive: true}));
  const first = await uploadedFile(moveTo);
  const {mtimeMs} = await stat(first.path);
  expect(await first.disposed()).toEqual({movedTo: first.target});
  expect(await readFile(first.target, 'utf8')).toBe('content');
  expect(Math.abs((await stat(first.target)).mtimeMs - mtimeMs)).toBeLessThan(1_000);
  const second = await uploadedFile(moveTo);
  expect(await second.disposed()).toEqual({movedTo: first.target.replace('a.png', 'a-1.png')});
  expect((await readdir(join(moveTo, 'sub'))).sort()).toEqual(['a-1.png', 'a.png']);
});
