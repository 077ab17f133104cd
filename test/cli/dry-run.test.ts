import {appendFile, copyFile, mkdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fixture, type Sandbox, sandbox} from '../support/media.ts';

/** A tree with two photos that are the same, a third of their size that is not, a video, and a page. */
async function tree(): Promise<Sandbox> {
  const box = await sandbox();
  const assets = join(box.directory, 'assets');
  await mkdir(join(assets, 'more'), {recursive: true});
  await copyFile(fixture('photo.png'), join(assets, 'a.png'));
  await copyFile(fixture('photo.png'), join(assets, 'more/b.png'));
  await copyFile(fixture('clip.mp4'), join(assets, 'clip.mp4'));
  await copyFile(fixture('page-named.png'), join(assets, 'page.png'));
  await copyFile(fixture('photo.png'), join(assets, 'c.png'));
  await appendFile(join(assets, 'c.png'), 'x');
  await copyFile(fixture('photo.png'), join(assets, 'd.png'));
  await appendFile(join(assets, 'd.png'), 'y');
  return box;
}

/** Each line's file, status, type and what it is the same as. */
function audit(stdout: string): unknown[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .map(({file, status, contentType, duplicateOf}) => [file, status, contentType, duplicateOf]);
}

describe('media upload --dry-run', () => {
  it('a tree: types, sizes, duplicates by content, in the order of the inputs', async () => {
    const box = await tree();
    const {stdout, stderr, exitCode} = await box.run(['upload', '-r', 'assets', '--dry-run', '--ndjson']);
    expect(audit(stdout)).toEqual([
      ['assets/a.png', 'checked', 'image/png', undefined],
      ['assets/c.png', 'checked', 'image/png', undefined],
      ['assets/clip.mp4', 'checked', 'video/mp4', undefined],
      ['assets/d.png', 'checked', 'image/png', undefined],
      ['assets/more/b.png', 'checked', 'image/png', 'assets/a.png'],
      ['assets/page.png', 'failed', undefined, undefined],
    ]);
    expect(stderr).toMatch(/^\{"error":.*"not_media".*\}\n$/);
    expect(exitCode).toBe(3);
  });

  it('the totals, by type, and of the duplicates', async () => {
    const box = await tree();
    const {stdout, stderr} = await box.run(['upload', '-r', 'assets', '--exclude', 'page.png', '--dry-run']);
    const [photo, clip] = await Promise.all(
      ['a.png', 'clip.mp4'].map(async name => (await readFile(join(box.directory, 'assets', name))).length),
    );
    expect(stderr).toBe(
      [
        `Checked, nothing was sent: 5 files, ${kibibytes(4 * (photo ?? 0) + 2 + (clip ?? 0))}.`,
        `  image/png: 4 files, ${kibibytes(4 * (photo ?? 0) + 2)}`,
        `  video/mp4: 1 file, ${kibibytes(clip ?? 0)}`,
        `  the same content as another: 1 file, ${kibibytes(photo ?? 0)}`,
        '5 checked, 0 failed',
        '',
      ].join('\n'),
    );
    expect(stdout).toMatch(/│ file +│ status +│ type +│ size +│ note +│/);
    expect(stdout).toMatch(/b\.png +│ checked │ image\/png │ \d+ │ same content as assets\/a\.png │/);
  });

  it.each([
    ['before the file it equals', ['-', 'assets/a.png'], [undefined, '-']],
    ['after it', ['assets/a.png', '-'], [undefined, 'assets/a.png']],
  ])('standard input %s', async (_name, inputs, duplicates) => {
    const box = await tree();
    const {stdout} = await box.run(['upload', '--dry-run', '--ndjson', ...inputs], {
      stdin: 'pipe',
      input: await readFile(fixture('photo.png')),
    });
    expect(audit(stdout).map(line => (line as unknown[])[3])).toEqual(duplicates);
  });

  it('many of equal content, many at a time: all but the first are its duplicates', async () => {
    const box = await sandbox();
    const names = Array.from({length: 60}, (_, index) => `p${String(index).padStart(2, '0')}.png`);
    for (const name of names) await copyFile(fixture('photo.png'), join(box.directory, name));
    const {stdout} = await box.run(['upload', '--dry-run', '--ndjson', '-c', '30', ...names]);
    expect(audit(stdout).map(line => (line as unknown[])[3])).toEqual([
      undefined,
      ...Array.from({length: 59}, () => 'p00.png'),
    ]);
  });
});

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
