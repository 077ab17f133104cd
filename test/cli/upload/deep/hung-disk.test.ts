import {copyFile, mkdir, readFile, realpath, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, type TestContext, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {ended} from '../../../support/ended.ts';
import {eventually} from '../../../support/eventually.ts';
import {mountHanging, whatFuseMisses} from '../../../support/hanging-disk.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');

function needFuse(context: TestContext): void {
  const missing = whatFuseMisses();
  if (missing !== undefined) notRun(context, missing);
}

/** Uploads files of a directory, of which one comes to hang; presses Ctrl-C then. */
async function interruptHung(
  directory: string,
  names: readonly string[],
  disk: {hangs(): boolean; end(): void},
  inputs = names,
) {
  const {url} = await scriptedServer(async connection => {
    for (const _name of names) {
      await connection.request();
      connection.answer(200, someRecord);
    }
  });
  const upload = (await sandboxFor(url)).start(['upload', '-c', '1', ...inputs], {cwd: directory});
  let stderr = '';
  upload.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  await eventually(() => disk.hangs());
  upload.kill('SIGINT');
  await ended(upload.pid ?? 0);
  // Not even SIGKILL has it gone before the call of one of its threads has come back from such a disk.
  disk.end();
  expect(await upload).toMatchObject({signal: 'SIGINT'});
  expect(stderr).not.toContain('Internal error');
  return stderr;
}

describe('Ctrl-C ends a run while a disk hangs', () => {
  test.for<[string, number]>([
    ['getattr', 2],
    ['getattr', 3],
    ['getattr', 4],
    ['getattr', 5],
    ['open', 1],
    ['read', 1],
    ['flush', 1],
  ])('in %s, call %i on the file', async ([call, count], context) => {
    needFuse(context);
    const directory = await temporaryDirectory();
    const disk = await mountHanging(directory, photo, call, count);
    await interruptHung(directory, ['photo.png'], disk);
  });

  test.for([[['-r', '.']], [['*.png']]])(
    'in the reading of a directory, for %j',
    async ([inputs], context) => {
      needFuse(context);
      const directory = await temporaryDirectory();
      const disk = await mountHanging(directory, photo, 'readdir', 1);
      // A run that found the disk hanging only after some seconds says why it ends.
      expect(await interruptHung(directory, [], disk, inputs)).not.toContain('was stopped by SIGINT');
    },
  );

  test('in the opening of a link from among local files', async context => {
    needFuse(context);
    const root = await realpath(await temporaryDirectory());
    const mounted = join(root, 'mounted');
    await mkdir(mounted);
    for (const name of ['a.png', 'b.png', 'd.png']) await copyFile(photo, join(root, name));
    await symlink(join(mounted, 'photo.png'), join(root, 'c.png'));
    const disk = await mountHanging(mounted, photo, 'open', 1);
    await interruptHung(root, ['a.png', 'b.png', 'c.png', 'd.png'], disk);
  });
});

test('a file whose type is read, and that is hashed, sent and journalled: opened once', async context => {
  needFuse(context);
  const directory = await temporaryDirectory();
  const disk = await mountHanging(directory, photo, 'open', 2);
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const box = await sandboxFor(url);
  const path = join(directory, 'photo.png');
  // Of the same size as the file before it: only its hash tells that it is another.
  await writeFile(join(box.directory, 'first.png'), (await readFile(photo)).fill(0, 500));
  const upload = ['upload', 'first.png', path, '-c', '1', '--types', 'content', '--journal', 'j'];
  const {stderr, exitCode} = await box.run(upload, {timeout: patienceMs});
  expect({exitCode, hangs: disk.hangs()}, stderr).toEqual({exitCode: 0, hangs: false});
  expect(requests[1]?.body.equals(await readFile(photo))).toBe(true);
});
