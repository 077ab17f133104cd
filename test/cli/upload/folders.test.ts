import {execFileSync} from 'node:child_process';
import {chmod, copyFile, mkdir, readFile, symlink, truncate, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {connectedSandbox} from '../../support/embedded.ts';
import {notRun} from '../../support/installed.ts';
import {fixture, mediaCommand, type Sandbox} from '../../support/media.ts';

const photo = fixture('photo.png');

/** Puts files below the sandbox: a photo of its own where nothing else is said, so that stored bytes tell which was sent. */
async function fill(sandbox: Sandbox, files: Record<string, string | Buffer | undefined>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(sandbox.directory, name);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, content ?? (await pictureOf(name)));
  }
}

async function pictureOf(name: string): Promise<Buffer> {
  return Buffer.concat([await readFile(photo), Buffer.from(`made for ${name}`)]);
}

type Service = Awaited<ReturnType<typeof connectedSandbox>>['service'];

/** What the service stored, each file by the name that its picture was made for. */
async function stored(service: Service): Promise<string[]> {
  const names = [];
  for (const {path} of await service.records()) {
    const bytes = (await readFile(path)).toString('latin1');
    names.push(/made for (.*)$/s.exec(bytes)?.[1] ?? 'something else');
  }
  return names.sort();
}

/** The lines of NDJSON, each as the file and what became of it. */
function fates(stdout: string): string[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
    .map(({file, status, error}) => `${file}: ${status}${error === undefined ? '' : ` ${error.code}`}`)
    .sort();
}

/** A checkout with pictures in it, as they are: two to be sent, five names to be left out. */
const checkout = {
  'work/.git/objects/ab/photo.png': undefined,
  'work/.DS_Store': 'Bud1',
  'work/._cat.png': '<!doctype html><title>no picture</title>',
  'work/README.md': '# About\n',
  'work/cat.png': undefined,
  'work/src/main.ts': 'export const answer: number = 42;\n',
  'work/deep/down/dog': undefined,
};

test('a journal with its lock and a results file in the folder, by any name and with --all: left out', async () => {
  const {sandbox: box, service} = await connectedSandbox();
  const path = (name: string) => join(box.directory, 'in', name);
  await mkdir(path('deep'), {recursive: true});
  await copyFile(fixture('photo.png'), path('photo.png'));
  // What a run that was killed while it took the lock has left.
  await writeFile(path('deep/journal.png.lock.0'), '{}');
  for (const status of ['uploaded', 'skipped']) {
    const upload = [
      'upload',
      '-r',
      'in',
      '--all',
      '--journal',
      'in/deep/journal.png',
      '--ndjson',
      '--no-progress',
    ];
    const {stderr, exitCode} = await execa(
      'sh',
      ['-c', 'exec "$@" > in/results.jpg', 'sh', ...mediaCommand, ...upload],
      {cwd: box.directory, env: box.env, extendEnv: false, reject: false},
    );
    expect({stderr, exitCode}).toEqual({
      stderr: expect.stringMatching(/^.* 0 failed, 0 unknown, [23] left out: not media$/),
      exitCode: 0,
    });
    const lines = (await readFile(path('results.jpg'), 'utf8')).trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line))).toMatchObject([{file: 'in/photo.png', status}]);
  }
  expect(await service.records()).toHaveLength(1);
  const check = ['journal', 'check', 'in/deep/journal.png', '--all', '--exclude', 'results.jpg', '--', 'in'];
  expect((await box.run(check)).stderr).toContain('1 input, each recorded exactly once.\n');
});

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

  test('of names that are not UTF-8: NDJSON carries their bytes', async context => {
    if (process.platform !== 'linux') notRun(context, 'only on Linux may names have any bytes');
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const name = Buffer.from('work/caf\xe9-\xff.png', 'latin1');
    await writeFile(Buffer.concat([Buffer.from(`${sandbox.directory}/`), name]), await readFile(photo));
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'work', '--ndjson']);
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const bytes = lines.map(({fileBase64}) => fileBase64).filter(text => text !== undefined);
    expect(bytes.map(text => Buffer.from(text, 'base64'))).toEqual([name]);
    expect(exitCode).toBe(0);
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

  test.each<[string, string[]]>([
    ['a table', []],
    ['json in the order of the inputs', ['--json']],
    ['ids', ['--template', '{id}\\n', '--concurrency', '1']],
  ])('%s holds what was sent, and what is left out makes no hole in it', async (_, options) => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'work', ...options]);
    expect(exitCode).toBe(0);
    for (const {record} of await service.records()) expect(stdout).toContain(String(record.id));
    expect(stdout).not.toMatch(/README|DS_Store|main\.ts/);
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

  test.each(['extension', 'content', 'strict'])('--types %s leaves out the same', async rule => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stderr} = await sandbox.run(['upload', '-r', 'work', '--types', rule]);
    expect(stderr).toContain('5 left out');
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

  test('the shards count what they leave out once, and one without a picture is no error', async () => {
    const {service, sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const runs = await Promise.all(
      [1, 2, 3, 4].map(shard => sandbox.run(['upload', '-r', 'work', '--shard', `${shard}/4`])),
    );
    expect(runs.map(({exitCode}) => exitCode)).toEqual([0, 0, 0, 0]);
    const counts = runs.map(({stderr}) => Number(/(\d+) left out/.exec(stderr)?.[1] ?? 0));
    expect(counts.reduce((sum, count) => sum + count)).toBe(5);
    expect(await stored(service)).toEqual(['work/cat.png', 'work/deep/down/dog']);
  });

  test('a run that ends early reports no README as not tried', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {...checkout, 'work/a.jpg': '', 'work/zebra': undefined});
    const parameters = ['upload', '-r', 'work', '--ndjson', '-c', '1'];
    const env = {...sandbox.env, MEDIA_API_KEY: 'mk_a-key-that-nobody-made'};
    const {stdout, exitCode} = await sandbox.run(parameters, {env});
    expect(fates(stdout)).toEqual([
      'work/a.jpg: failed empty_file',
      'work/cat.png: failed unauthorized',
      'work/deep/down/dog: failed not_tried',
      'work/zebra: failed not_tried',
    ]);
    expect(exitCode).toBe(4);
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

describe('media journal check', () => {
  test('misses nothing that upload leaves out, and with --all what that takes', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    await sandbox.run(['upload', '-r', 'work', '--journal', 'sent']);
    const checked = await sandbox.run(['journal', 'check', 'sent', '--', 'work']);
    expect([checked.stdout, checked.exitCode]).toEqual(['', 0]);
    expect(checked.stderr).toMatch(/^2 inputs/);
    const named = await sandbox.run(['journal', 'check', 'sent', '--', 'work', 'work/README.md']);
    expect(named.stdout).toMatch(/^refused +work\/README.md/);
    expect(named.exitCode).toBe(1);
    const all = await sandbox.run(['journal', 'check', '--all', 'sent', '--', 'work']);
    expect(all.stdout.match(/^(?:missing|refused)/gm)).toHaveLength(5);
    expect(all.exitCode).toBe(1);
  });

  test('of a folder without a picture: nothing_matched, exit 2', async () => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, {'work/a.png': undefined, 'docs/README.md': '# About'});
    await sandbox.run(['upload', '-r', 'work', '--journal', 'sent']);
    const {stdout, stderr, exitCode} = await sandbox.run([
      'journal',
      'check',
      '--json',
      'sent',
      '--',
      'docs',
    ]);
    expect([stdout, JSON.parse(stderr).error.code, exitCode]).toEqual(['', 'nothing_matched', 2]);
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
