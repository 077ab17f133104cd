import {execFileSync} from 'node:child_process';
import {chmod, copyFile, mkdir, readFile, symlink, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';
import {checkout, fates, fill, stored} from './checkout.ts';

describe('media upload -r of an ordinary folder', () => {
  test('takes the images and videos in it, by name or bytes, and counts what it leaves out', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const parameters = ['-r', 'work', '--template', '{file}\\n', '--no-progress'];
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...parameters]);
    expect(stderr).toBe('2 uploaded, 0 skipped, 0 failed, 0 unknown, 5 left out: not media or hidden\n');
    expect(stdout).toBe('work/cat.png\nwork/deep/down/dog\n');
    expect(exitCode).toBe(0);
    expect(await stored(service)).toEqual(['work/cat.png', 'work/deep/down/dog']);
  });

  test('. from within it; --verbose names what is left out', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', '.', '-v', '-c', '1'], {
      cwd: join(sandbox.directory, 'work'),
    });
    expect(stderr.split('\n').filter(line => line.includes('left out'))).toEqual([
      '.DS_Store: left out, hidden.',
      '._cat.png: left out, hidden.',
      '.git: left out, hidden.',
      'README.md: left out, not media.',
      'src/main.ts: left out, not media.',
      '2 uploaded, 0 skipped, 0 failed, 0 unknown, 5 left out: not media or hidden',
    ]);
    expect(exitCode).toBe(0);
    expect(await service.records()).toHaveLength(2);
  });

  test('--ndjson has no line for what is left out, standard error its number', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', '-r', 'work', '--ndjson']);
    expect(fates(stdout)).toEqual(['work/cat.png: uploaded', 'work/deep/down/dog: uploaded']);
    expect([stderr, exitCode]).toEqual([
      '2 uploaded, 0 skipped, 0 failed, 0 unknown, 5 left out: not media or hidden\n',
      0,
    ]);
  });

  test('--all takes everything, as named files are taken', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'work', '--all', '--ndjson']);
    expect(fates(stdout)).toEqual([
      'work/.DS_Store: failed not_media',
      'work/._cat.png: failed not_media',
      'work/.git/objects/ab/photo.png: uploaded',
      'work/README.md: failed not_media',
      'work/cat.png: uploaded',
      'work/deep/down/dog: uploaded',
      'work/src/main.ts: failed not_media',
    ]);
    expect(exitCode).toBe(3);
    expect(await stored(service)).toContain('work/.git/objects/ab/photo.png');
  });

  test('--content-type speaks for what is taken, and takes no more', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stdout, exitCode} = await sandbox.run([
      'upload',
      '-r',
      'work',
      '--content-type',
      'image/webp',
      '--ndjson',
    ]);
    expect(fates(stdout)).toEqual(['work/cat.png: uploaded', 'work/deep/down/dog: uploaded']);
    expect(stdout.match(/"contentType":"image\/webp"/g)).toHaveLength(2);
    expect(exitCode).toBe(0);
    expect(await service.records()).toHaveLength(2);
  });

  test('what only its name calls an image still fails: an HTML page, a pointer of Git LFS, nothing at all', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {
      'work/cat.png': undefined,
      'work/page.jpg': '<!doctype html><title>404</title>',
      'work/large.mp4': await readFile(fixture('lfs-pointer.png')),
      'work/empty.gif': '',
      'work/empty.txt': '',
    });
    await symlink('nowhere', join(sandbox.directory, 'work/broken.jpg'));
    await symlink('nowhere', join(sandbox.directory, 'work/broken'));
    execFileSync('mkfifo', ['work/pipe.png', 'work/pipe'], {cwd: sandbox.directory});
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'work', '--ndjson']);
    expect(fates(stdout)).toEqual([
      'work/broken.jpg: failed file_missing',
      'work/cat.png: uploaded',
      'work/empty.gif: failed empty_file',
      'work/large.mp4: failed not_media',
      'work/page.jpg: failed not_media',
      'work/pipe.png: failed not_a_file',
    ]);
    expect(exitCode).toBe(3);
  });

  test.runIf(process.geteuid?.() !== 0)(
    'what may not be read fails where its name calls it an image',
    async () => {
      const {sandbox} = await connectedSandbox();
      await fill(sandbox, {'work/cat.png': undefined, 'work/secret.png': undefined, 'work/secret': 'x'});
      for (const name of ['secret.png', 'secret']) await chmod(join(sandbox.directory, 'work', name), 0);
      const {stdout} = await sandbox.run(['upload', '-r', 'work', '--ndjson']);
      expect(fates(stdout)).toEqual(['work/cat.png: uploaded', 'work/secret.png: failed file_unreadable']);
    },
  );

  test('what is named is tried, and fails, though the folder around it leaves it out', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, {...checkout, 'work/.cat.png': undefined});
    const named = ['work/README.md', 'work/.cat.png', 'work/deep/down/dog'];
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'work', ...named, '--ndjson']);
    expect(fates(stdout)).toEqual([
      'work/.cat.png: uploaded',
      'work/README.md: failed not_media',
      'work/cat.png: uploaded',
      'work/deep/down/dog: uploaded',
    ]);
    expect(exitCode).toBe(3);
    expect(await stored(service)).toEqual(['work/.cat.png', 'work/cat.png', 'work/deep/down/dog']);
  });

  test('names in a list are tried, and directories in it are walked', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {...checkout, 'notes.txt': 'none', list: 'notes.txt\nwork\n'});
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', '--files-from', 'list', '--ndjson']);
    expect(fates(stdout)).toEqual([
      'notes.txt: failed not_media',
      'work/cat.png: uploaded',
      'work/deep/down/dog: uploaded',
    ]);
    expect(exitCode).toBe(3);
  });
});

describe('a pattern', () => {
  test('takes images and videos only; hidden names where it spells the dot', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, {'a.png': undefined, '.b.png': undefined, 'c.txt': 'none', '.d/e.png': undefined});
    const all = await sandbox.run(['upload', '*', '--ndjson', '-v']);
    expect([fates(all.stdout), all.exitCode]).toEqual([['a.png: uploaded'], 0]);
    expect(all.stderr).toContain('c.txt: left out, not media.\n');
    const spelled = await sandbox.run(['upload', '.*.png', '.d/*.png', '--ndjson']);
    expect(fates(spelled.stdout)).toEqual(['.b.png: uploaded', '.d/e.png: uploaded']);
    expect(await stored(service)).toEqual(['.b.png', '.d/e.png', 'a.png']);
  });
});

describe('a hidden directory', () => {
  test('that is named is walked', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, {'.private/a.png': undefined, '.private/.b.png': undefined});
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', '.private', '--quiet']);
    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(await stored(service)).toEqual(['.private/a.png']);
  });
});

describe('where nothing is left', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['text alone', {'work/README.md': '# About', 'work/LICENSE': 'none'}, ['-r', 'work']],
    ['hidden names alone', {'work/.DS_Store': 'Bud1', 'work/.git/a.png': ''}, ['-r', 'work']],
    ['a pattern of text', {'a.txt': 'none', 'b.txt': 'none'}, ['*.txt']],
  ])('%s: nothing_matched, exit 2', async (_, files, inputs) => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, files);
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...inputs, '--json']);
    const {error} = JSON.parse(stderr);
    expect([stdout, exitCode, error.code]).toEqual(['', 2, 'nothing_matched']);
    expect(error.message).toContain('2 names were left out');
    expect(error.hint).toContain('--all');
    expect(await service.records()).toEqual([]);
  });

  test('one folder without a picture beside one with some is no error', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {'photos/a.png': undefined, 'docs/README.md': '# About', 'web/.DS_Store': 'Bud1'});
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', 'photos', 'docs', 'web']);
    expect(stderr).toContain('1 uploaded, 0 skipped, 0 failed, 0 unknown, 2 left out');
    expect(exitCode).toBe(0);
  });
});

describe('a dry run', () => {
  test('leaves out the same, and its totals do not count it', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', 'work', '--dry-run']);
    expect(stderr).toMatch(/^Nothing was sent. To upload: 2 files, /);
    expect(stderr).toMatch(/2 will be uploaded, 0 failed, 5 left out: not media or hidden\n$/);
    expect(exitCode).toBe(0);
    expect(await service.records()).toEqual([]);
  });
});

describe('links', () => {
  test('to directories are not followed, and mentioned in one note', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, {'far/b.png': undefined, 'work/a.png': undefined});
    await symlink('../far', join(sandbox.directory, 'work/one'));
    const single = await sandbox.run(['upload', '-r', 'work', '--no-progress']);
    expect(single.stderr).toBe(
      '1 link to a directory was not followed: work/one. Name it to upload what is in it.\n' +
        '1 uploaded, 0 skipped, 0 failed, 0 unknown\n',
    );
    await symlink('../far', join(sandbox.directory, 'work/two'));
    const two = await sandbox.run(['upload', '-r', 'work', 'work']);
    expect(two.stderr).toContain('2 links to directories were not followed');
    expect(two.exitCode).toBe(0);
    expect(new Set(await stored(service))).toEqual(new Set(['work/a.png']));
  });

  test('to directories alone: nothing_matched, and a hint that they can be named', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {'far/b.png': undefined, 'work/.keep': ''});
    await symlink('../far', join(sandbox.directory, 'links'));
    await mkdir(join(sandbox.directory, 'work2'));
    await symlink('../far', join(sandbox.directory, 'work2/one'));
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', 'work2']);
    expect(stderr).toContain('name one to upload what is in it');
    expect(exitCode).toBe(2);
  });

  test.each([
    ['a directory', ['-r', 'e']],
    ['a quoted pattern', ['e/*']],
    ['what a shell makes of it', ['e/link.png', 'e/photo.png']],
  ])('to a file beside it, by %s: sent once', async (_, inputs) => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, {'e/photo.png': undefined});
    await symlink('photo.png', join(sandbox.directory, 'e/link.png'));
    const {stderr} = await sandbox.run(['upload', ...inputs]);
    expect(stderr).toMatch(/^1 uploaded|^$/);
    expect(await stored(service)).toEqual(['e/photo.png']);
  });
});

test('a video of 3 GB in a folder that leaves things out is not read for that', async () => {
  const {sandbox} = await connectedSandbox();
  await fill(sandbox, {'work/notes': 'text'});
  await copyFile(fixture('clip.mp4'), join(sandbox.directory, 'work/film'));
  await writeFile(join(sandbox.directory, 'work/data.bin'), '');
  await truncate(join(sandbox.directory, 'work/data.bin'), 3e9);
  const {stderr, exitCode} = await sandbox.run(['upload', '-r', 'work', '--dry-run']);
  expect(stderr).toContain('Nothing was sent. To upload: 1 file');
  expect(stderr).toContain('2 left out: not media\n');
  expect(exitCode).toBe(0);
});
