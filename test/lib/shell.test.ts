import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {shellQuoted} from '../../src/lib/shell.ts';
import {sandbox} from '../support/media.ts';

describe('a path in a command to paste', () => {
  it.each([
    ['photos/cat.png', 'photos/cat.png'],
    ['my photos', "'my photos'"],
    ["it's.png", "'it'\\''s.png'"],
    ['$HOME/*.png', "'$HOME/*.png'"],
    ['-r.png', './-r.png'],
    ['- r.png', "'./- r.png'"],
    ['ü.png', "'ü.png'"],
    ['', "''"],
  ])('%j: as a shell reads it', async (path, quoted) => {
    expect(shellQuoted(path)).toBe(quoted);
    const {stdout} = await execa('sh', ['-c', `printf %s ${quoted}`]);
    expect(stdout).toBe(path.startsWith('-') ? `./${path}` : path);
  });

  it('of a directory with a space in its name: quoted in the hint', async () => {
    const box = await sandbox();
    await mkdir(join(box.directory, 'my photos'));
    const {stderr, exitCode} = await box.run(['upload', 'my photos', '--base-url', 'embedded']);
    expect(stderr).toContain("  To upload what is in it: media upload --base-url embedded -r 'my photos'\n");
    expect(exitCode).toBe(1);
  });
});
