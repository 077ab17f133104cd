import {readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../embedded/support.ts';
import {fixture, sandbox} from '../support/media.ts';

/** A MOV of 16 kB, four bytes of which are changed: its reader counts to 2^32, and takes memory all the while. */
async function endlessMov(directory: string): Promise<string> {
  const bytes = await readFile(fixture('clip.mov'));
  bytes.writeUInt32BE(0xffff_fff0, bytes.indexOf('ctts') + 12);
  const path = join(directory, 'endless.mov');
  await writeFile(path, bytes);
  return path;
}

test('a MOV that keeps its reader busy for ever: stored all the same, and the photo after it has its size', async () => {
  const box = await sandbox();
  const path = await endlessMov(box.directory);
  const upload = ['upload', path, fixture('photo.png'), '-c', '1', '--base-url', 'embedded', '--json'];
  const {stdout, exitCode} = await box.run(upload);
  const [video, photo] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(exitCode).toBe(0);
  expect(video).toMatchObject({type: 'VIDEO', size: 16_519});
  expect(video).not.toHaveProperty('duration');
  expect(photo).toMatchObject({width: 640, height: 400});
});

test('a MOV that keeps its reader busy for ever, and Ctrl-C: the run ends by it', async () => {
  const box = await sandbox();
  const upload = box.start(['upload', await endlessMov(box.directory), '--base-url', 'embedded', '--json']);
  // Once its bytes lie there, they are about to be read.
  await eventually(async () =>
    (await sizesIn(join(box.directory, 'data/media/embedded/temporary'))).includes(16_519),
  );
  upload.kill('SIGINT');
  expect((await upload).signal).toBe('SIGINT');
});

async function sizesIn(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => []);
  const stats = await Promise.all(names.map(name => stat(join(directory, name)).catch(() => undefined)));
  return stats.map(found => found?.size ?? 0);
}
