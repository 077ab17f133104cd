import {readFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

describe('media serve', () => {
  it.runIf(process.platform === 'linux')(
    'photos, whose headers say all there is to say: no process is started to look at them, but for a clip',
    async () => {
      const box = await sandbox();
      const {child, env} = await serve(box, '--ephemeral');
      const processes = async () => {
        const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
        const ids = children.split(' ').filter(id => id !== '');
        const lines = await Promise.all(ids.map(id => readFile(`/proc/${id}/cmdline`, 'utf8')));
        return lines.filter(line => line.includes('__child')).length;
      };
      const photos = ['photo.png', 'photo.jpg', 'photo.gif', 'photo.webp', 'photo.bmp'].map(fixture);
      const {stdout} = await box.run(['upload', ...photos, '--json'], {env});
      expect(stdout.match(/"width":/g)).toHaveLength(photos.length);
      // It makes the thumbnails.
      expect(await processes()).toBe(1);
      await box.run(['upload', fixture('clip.mp4')], {env});
      // Another one reads the clip, and one makes its stream.
      expect(await processes()).toBe(3);
    },
  );
});
