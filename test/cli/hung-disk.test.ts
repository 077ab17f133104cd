import {spawn, spawnSync} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {copyFile, mkdir, realpath, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, type TestContext, test} from 'vitest';
import {sandboxFor} from '../service/program.ts';
import {eventually} from '../service/support.ts';
import {needPrograms, notRun} from '../support/installed.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');
const hangingDisk = fileURLToPath(new URL('../support/hanging-disk.py', import.meta.url));
/** Debian's own, which finds Debian's packages. */
const python = '/usr/bin/python3';

function needFuse(context: TestContext): void {
  needPrograms(context, ['umount']);
  const hasModule = ['fusepy', 'fuse'].some(
    name => spawnSync(python, ['-c', `import ${name}; ${name}.FUSE`]).status === 0,
  );
  if (!hasModule)
    notRun(context, 'not installed: fusepy (Debian and Ubuntu: apt-get install python3-fusepy)');
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
  } catch {
    notRun(context, 'a file system of its own may not be mounted here');
  }
}

/** Mounts a disk of one photo that hangs in a call on it; `end` has what waits go on, with an error. */
async function mountHanging(directory: string, call: string, count: number) {
  const daemon = spawn(python, [hangingDisk, directory, photo, call, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  daemon.stdout.on('data', chunk => {
    told += chunk;
  });
  const end = () => {
    daemon.kill('SIGKILL');
    spawnSync('umount', ['--lazy', directory]);
  };
  onTestFinished(end);
  await eventually(() => told.includes('ready'));
  return {hangs: () => told.includes('hangs'), end};
}

/** Uploads files of a directory, of which one comes to hang; presses Ctrl-C then. */
async function interruptHung(
  directory: string,
  names: readonly string[],
  disk: {hangs(): boolean; end(): void},
) {
  const {url} = await scriptedServer(async connection => {
    for (const _name of names) {
      await connection.request();
      connection.answer(200, someRecord);
    }
  });
  const upload = (await sandboxFor(url)).start(['upload', '-c', '1', ...names], {cwd: directory});
  let stderr = '';
  upload.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  await eventually(() => disk.hangs());
  upload.kill('SIGINT');
  await eventually(() => stderr.includes('Stopping: '));
  // Not even SIGKILL ends a process before the call of one of its threads has come back from such a disk.
  disk.end();
  expect(await upload).toMatchObject({signal: 'SIGINT'});
  expect(stderr).not.toContain('Internal error');
}

describe('Ctrl-C is heard while a disk hangs', () => {
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
    const disk = await mountHanging(directory, call, count);
    await interruptHung(directory, ['photo.png'], disk);
  });

  test('in the opening of a link from among local files', async context => {
    needFuse(context);
    const root = await realpath(await temporaryDirectory());
    const mounted = join(root, 'mounted');
    await mkdir(mounted);
    for (const name of ['a.png', 'b.png', 'd.png']) await copyFile(photo, join(root, name));
    await symlink(join(mounted, 'photo.png'), join(root, 'c.png'));
    const disk = await mountHanging(mounted, 'open', 1);
    await interruptHung(root, ['a.png', 'b.png', 'c.png', 'd.png'], disk);
  });
});
