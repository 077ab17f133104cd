import {appendFile, copyFile, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, mediaInShell, needNode, type Sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

describe('a journal that is removed while a file is with the service', () => {
  it('one file: its record printed, told that the journal does not have it, exit status 1', async context => {
    needNode(context);
    const {sandbox} = await connectedSandbox();
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      await rm(join(sandbox.directory, 'j'), {force: true});
      connection.answer(200, someRecord);
    });
    const env = {...sandbox.env, MEDIA_BASE_URL: url};
    const {stdout, stderr, exitCode} = await sandbox.run(
      ['upload', fixture('photo.png'), '--journal', 'j', '--json'],
      {env},
    );
    expect({stdout, exitCode}).toEqual({stdout: `${someRecord}\n`, exitCode: 1});
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'journal_failed',
      message: expect.stringMatching(
        /photo\.png is stored, but the journal does not record it: The journal j was removed while it was in use\.$/,
      ),
    });
  });

  it('two files, one after the other: the second is not sent, and the summary counts the first', async () => {
    const {sandbox} = await connectedSandbox();
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      await rm(join(sandbox.directory, 'j'), {force: true});
      connection.answer(200, someRecord);
    });
    const env = {...sandbox.env, MEDIA_BASE_URL: url};
    const inputs = [fixture('photo.png'), fixture('photo.jpg')];
    const {stderr, exitCode} = await sandbox.run(['upload', ...inputs, '--journal', 'j', '-c', '1'], {env});
    expect(exitCode).toBe(3);
    expect(stderr).toContain('1 uploaded, 0 skipped, 1 failed, 0 unknown, 1 not in the journal\n');
    expect(stderr).toContain('is stored, but the journal does not record it');
    expect(requests).toHaveLength(1);
  });
});

it('a journal whose last lines may be lost: every record printed, told, and exit status 1', async context => {
  needNode(context);
  const {service, sandbox} = await connectedSandbox();
  const upload = ['upload', fixture('photo.png'), '--journal', 'j', '--json', '--no-progress'];
  const {stdout: record} = await sandbox.run(upload);
  const preloaded = fileURLToPath(new URL('../../../support/lost-sync.cjs', import.meta.url));
  const env = {...sandbox.env, NODE_OPTIONS: `--require=${preloaded}`};
  const {stdout, stderr, exitCode} = await sandbox.start(upload, {env});
  expect({stdout, exitCode}).toEqual({stdout: record, exitCode: 1});
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'journal_failed',
    message: 'The journal j could not be written: EIO.',
  });
  expect(await service.records()).toHaveLength(1);
});

it('a disk that was full when a result was to be recorded: told, recorded at the end of the run, and skipped by the next', async context => {
  needNode(context);
  const {service, sandbox} = await connectedSandbox();
  const upload = ['upload', fixture('photo.png'), '--journal', 'j', '--json', '--no-progress'];
  const preloaded = fileURLToPath(new URL('../../../support/full-disk.cjs', import.meta.url));
  const env = {...sandbox.env, NODE_OPTIONS: `--require=${preloaded}`};
  const {stdout: record, stderr, exitCode} = await sandbox.start(upload, {env});
  expect({exitCode, code: JSON.parse(stderr).error.code}).toEqual({exitCode: 1, code: 'journal_failed'});
  expect(await sandbox.run(upload)).toMatchObject({stdout: record, exitCode: 0});
  expect(await service.records()).toHaveLength(1);
});

it('a failure that is recorded after a record, of the same upload: it stays stored', async () => {
  const {service, sandbox} = await connectedSandbox();
  const upload = ['upload', fixture('photo.png'), '--journal', 'j', '--json'];
  const {stdout: record} = await sandbox.run(upload);
  const journal = join(sandbox.directory, 'j');
  const [, , commit = ''] = (await readFile(journal, 'utf8')).split('\n');
  const {event, idempotencyKey, by} = JSON.parse(commit);
  expect(event).toBe('commit');
  const error = {code: 'service_failed', message: 'the service failed'};
  await appendFile(journal, `${JSON.stringify({event: 'failed', idempotencyKey, by, error})}\n`);
  expect(await sandbox.run(upload)).toMatchObject({stdout: record, exitCode: 0});
  expect(await service.records()).toHaveLength(1);
});

describe('one file for two purposes: a usage error, nothing sent, nothing written', () => {
  it('standard output onto the journal', async () => {
    const {service, sandbox} = await connectedSandbox();
    await copyFile(fixture('photo.png'), join(sandbox.directory, 'photo.png'));
    expect((await sandbox.run(['upload', 'photo.png', '--journal', 'j'])).exitCode).toBe(0);
    await rm(join(sandbox.directory, 'photo.png'));
    await copyFile(fixture('photo.jpg'), join(sandbox.directory, 'photo.jpg'));
    const before = await readFile(join(sandbox.directory, 'j'), 'utf8');
    const {stderr, exitCode} = await inShell(sandbox, 'upload photo.jpg --journal ./j --ndjson >> j');
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr).error.message).toBe('--journal and standard output are the same file, ./j.');
    expect(await readFile(join(sandbox.directory, 'j'), 'utf8')).toBe(before);
    expect(await service.records()).toHaveLength(1);
  });

  it('the list of inputs as the journal', async () => {
    const {service, sandbox} = await connectedSandbox();
    const list = join(sandbox.directory, 'list');
    await writeFile(list, `${fixture('photo.png')}\n`);
    const {stderr, exitCode} = await sandbox.run(['upload', '--files-from', 'list', '--journal', 'list']);
    expect({stderr, exitCode}).toEqual({
      stderr: expect.stringContaining('--files-from and --journal are the same file, list.'),
      exitCode: 2,
    });
    const piped = await inShell(sandbox, 'upload --files-from - --journal ./list < list');
    expect({stderr: piped.stderr, exitCode: piped.exitCode}).toEqual({
      stderr: expect.stringContaining('--files-from - and --journal are the same file.'),
      exitCode: 2,
    });
    expect((await stat(list)).size).toBe(fixture('photo.png').length + 1);
    expect(await service.records()).toEqual([]);
  });

  it('standard output onto the list', async () => {
    const {service, sandbox} = await connectedSandbox();
    const list = join(sandbox.directory, 'list');
    await writeFile(list, `${fixture('photo.png')}\n`);
    const {stderr, exitCode} = await inShell(sandbox, 'upload --files-from list --json >> ./list');
    expect(JSON.parse(stderr).error.message).toBe(
      '--files-from and standard output are the same file, list.',
    );
    expect(exitCode).toBe(2);
    expect(await readFile(list, 'utf8')).toBe(`${fixture('photo.png')}\n`);
    expect(await service.records()).toEqual([]);
  });

  it('standard output onto standard input, a list', async () => {
    const {service, sandbox} = await connectedSandbox();
    const list = join(sandbox.directory, 'list');
    await writeFile(list, `${fixture('photo.png')}\n`);
    const {stderr, exitCode} = await inShell(sandbox, 'upload --files-from - --json < list >> list');
    expect(JSON.parse(stderr).error.message).toBe('--files-from - and standard output are the same file.');
    expect(exitCode).toBe(2);
    expect(await readFile(list, 'utf8')).toBe(`${fixture('photo.png')}\n`);
    expect(await service.records()).toEqual([]);
  });
});

/** Runs the program with these words in a shell. */
function inShell({directory, env}: Sandbox, words: string) {
  const command = `${mediaInShell} ${words}`;
  return execa('sh', ['-c', command], {cwd: directory, env, extendEnv: false, reject: false});
}
