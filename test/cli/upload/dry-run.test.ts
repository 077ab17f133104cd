import {appendFile, copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {formatHeader} from '../../support/journal.ts';
import {fixture, type Sandbox, sandbox} from '../../support/media.ts';

/** A tree with photos, a video, and a page. */
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

/** Each line's file, status and type, by file. */
function audit(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .map(({file, status, contentType}) => [file, status, contentType])
    .sort();
}

describe('media upload --dry-run', () => {
  it('a tree: the type of each file, and a page is refused', async () => {
    const box = await tree();
    const {stdout, stderr, exitCode} = await box.run(['upload', '-r', 'assets', '--dry-run', '--ndjson']);
    expect(audit(stdout)).toEqual([
      ['assets/a.png', 'checked', 'image/png'],
      ['assets/c.png', 'checked', 'image/png'],
      ['assets/clip.mp4', 'checked', 'video/mp4'],
      ['assets/d.png', 'checked', 'image/png'],
      ['assets/more/b.png', 'checked', 'image/png'],
      ['assets/page.png', 'failed', undefined],
    ]);
    expect(stderr).toMatch(/^media: assets\/page\.png is not recognised as an image or a video/m);
    expect(exitCode).toBe(3);
  });

  it('with the journal of an account, and without a key: nobody can be asked whose key it is', async () => {
    const url = 'http://127.0.0.1:9';
    const box = await sandbox({MEDIA_BASE_URL: url});
    const header = formatHeader({service: url, account: 'anna'});
    await writeFile(join(box.directory, 'j'), header);
    const command = ['upload', fixture('photo.png'), '--journal', 'j', '--dry-run', '--ndjson'];
    expect(await box.run(command)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"status":"checked"'),
    });
    expect(await readFile(join(box.directory, 'j'), 'utf8')).toBe(header);
  });

  it('the totals, by type', async () => {
    const box = await tree();
    const {stdout, stderr} = await box.run(['upload', '-r', 'assets', '--exclude', 'page.png', '--dry-run']);
    const [photo, clip] = await Promise.all(
      ['a.png', 'clip.mp4'].map(async name => (await readFile(join(box.directory, 'assets', name))).length),
    );
    expect(stderr).toBe(
      [
        `Nothing was sent. To upload: 5 files, ${kibibytes(4 * (photo ?? 0) + 2 + (clip ?? 0))}.`,
        `  image/png: 4 files, ${kibibytes(4 * (photo ?? 0) + 2)}`,
        `  video/mp4: 1 file, ${kibibytes(clip ?? 0)}`,
        '5 will be uploaded, 0 failed',
        '',
      ].join('\n'),
    );
    expect(stdout).toMatch(/│ file +│ status +│ type +│ size +│ note +│/);
    expect(stdout).toMatch(/b\.png +│ checked │ image\/png │ [\d.]+ KiB │ +│/);
  });
});

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
