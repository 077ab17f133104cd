import {copyFile, mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaUrl} from '../../../support/media.ts';
import {Watching} from '../../../support/watching.ts';
import {empty, names, none, withoutUrl} from '../without-url.ts';

const photo = fixture('photo.png');

describe('a stored file without a URL', () => {
  it('media watch: the same', async () => {
    const box = await withoutUrl();
    await mkdir(join(box.directory, 'in'));
    await copyFile(photo, join(box.directory, 'in/photo.png'));
    const watching = new Watching(box, ['in']);
    await eventually(() => watching.stderr.includes(`warning: in/${empty}\n`));
    expect(watching.stdout).toBe('in/photo.png\t\n');
    watching.child.kill('SIGTERM');
    await watching.child;
  });

  it('media-url: no URL at all, exit 1', async () => {
    const box = await withoutUrl();
    const {stdout, stderr, exitCode} = await execa(mediaUrl, names, {
      ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(`media: ${none}`);
  });
});
