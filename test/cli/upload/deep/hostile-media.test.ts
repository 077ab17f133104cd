import {expect, test} from 'vitest';
import {endlessMov} from '../../../support/endless-mov.ts';
import {fixture, sandbox} from '../../../support/media.ts';

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
