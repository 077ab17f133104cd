import {chmod, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {MediaChild} from '../../../src/media/pixels/media-child.ts';
import {temporaryDirectory} from '../../embedded/support.ts';
import {fixture} from '../../support/media.ts';

test('images that own readers decide: ffprobe is not started for them, as it is for a TIFF and a video, without the key', async () => {
  const directory = await temporaryDirectory();
  const log = join(directory, 'log');
  await writeFile(
    join(directory, 'ffprobe'),
    `#!/bin/sh\nenv >> '${log}.env'\necho "$*" | grep -o 'file:.*fixtures/[^ ]*' >> '${log}'\n`,
  );
  await chmod(join(directory, 'ffprobe'), 0o755);
  const path = process.env['PATH'] ?? '';
  process.env['PATH'] = `${directory}${delimiter}${path}`;
  process.env['MEDIA_SERVE_KEY'] = 'a-key-of-the-owner-1';
  onTestFinished(() => {
    process.env['PATH'] = path;
    delete process.env['MEDIA_SERVE_KEY'];
  });
  // The process that reads media is shared, and another test may have started it with another PATH.
  vi.resetModules();
  const {probeMedia} = await import('../../../src/media/pixels/media.ts');
  const facts = async (name: string, contentType: string) => probeMedia({path: fixture(name), contentType});
  const size = {width: 320, height: 200};
  expect(await facts('favicon.ico', 'image/x-icon')).toEqual({width: 32, height: 32, imageType: 'ico'});
  expect(await facts('photo.heic', 'image/heic')).toEqual({...size, imageType: 'heic'});
  expect(await facts('photo.avif', 'image/avif')).toEqual({...size, imageType: 'avif'});
  expect(await facts('photo.gif', 'image/gif')).toEqual({...size, imageType: 'gif'});
  expect(await facts('photo.svg', 'image/svg+xml')).toEqual({width: 640, height: 400, imageType: 'svg'});
  expect(await facts('photo.tiff', 'image/tiff')).toEqual({width: 160, height: 100, imageType: 'tiff'});
  expect(await facts('clip.mp4', 'video/mp4')).toEqual({width: 320, height: 180, duration: 1});
  const asked = (await readFile(log, 'utf8')).trim().split('\n');
  expect(asked).toEqual(['photo.tiff', 'clip.mp4'].map(name => `file:${fixture(name)}`));
  // What reads files that anybody may send is told no secret.
  expect(await readFile(`${log}.env`, 'utf8')).not.toContain('a-key-of-the-owner-1');
});

test.skipIf(process.platform === 'win32')(
  'a process that hangs before it is ready: ended after a minute, and another one reads the next file',
  async () => {
    const directory = await temporaryDirectory();
    const hanging = join(directory, 'node');
    await writeFile(hanging, '#!/bin/sh\nexec sleep 600\n');
    await chmod(hanging, 0o755);
    const {execPath} = process;
    onTestFinished(() => {
      process.execPath = execPath;
      vi.useRealTimers();
    });
    process.execPath = hanging;
    vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
    const child = new MediaChild();
    const request = {task: 'probe', path: fixture('clip.mp4'), contentType: 'video/mp4'} as const;
    const [first, second] = [child.ask(request), child.ask(request)];
    process.execPath = execPath;
    vi.advanceTimersByTime(60_000);
    expect(await first).toBeUndefined();
    expect(await second).toMatchObject({width: 320, height: 180});
  },
);

test('a process that cannot be started: requests have no result, the later ones neither', async () => {
  const child = new MediaChild('no process has \0 in its environment');
  const request = {task: 'probe', path: fixture('clip.mp4'), contentType: 'video/mp4'} as const;
  expect(await Promise.all([child.ask(request), child.ask(request)])).toEqual([undefined, undefined]);
  child.start();
  expect(await child.ask(request)).toBeUndefined();
});
