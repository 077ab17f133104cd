import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture, mediaCommand} from '../../../support/media.ts';
import {checkout, fates, fill, stored} from '../checkout.ts';

const photo = fixture('photo.png');

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

  test.each(['extension', 'content', 'strict'])('--types %s leaves out the same', async rule => {
    const {sandbox} = await connectedSandbox();
    await fill(sandbox, checkout);
    const {stderr} = await sandbox.run(['upload', '-r', 'work', '--types', rule]);
    expect(stderr).toContain('5 left out');
  });
});

describe('where nothing is left', () => {
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
