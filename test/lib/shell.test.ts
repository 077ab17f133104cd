import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {printable} from '../../src/lib/printable.ts';
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
    ['=ls', "'=ls'"],
    ['ü.png', "'ü.png'"],
    ['', "''"],
    ['a\u200e.png', "$'a\\342\\200\\216.png'"],
    ['\ufeff', "$'\\357\\273\\277'"],
    ["it's\t1\n2", "$'it\\047s\\0111\\0122'"],
    ['b##[x].png', "$'b\\043\\043\\133x\\135.png'"],
    ['-\u202e', "$'./-\\342\\200\\256'"],
  ])('%j: as a shell reads it, and as a report prints it', async (path, quoted) => {
    expect(shellQuoted(path)).toBe(quoted);
    expect(printable(quoted)).toBe(quoted);
    const {stdout} = await execa(quoted.startsWith('$') ? 'bash' : 'sh', ['-c', `printf %s ${quoted}`]);
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
