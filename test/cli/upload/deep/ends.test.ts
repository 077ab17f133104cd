import {once} from 'node:events';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import type {ExitStatus} from '../../../../src/cli/session/invocation.ts';
import {run, systemHost} from '../../../../src/main.ts';
import {sandboxFor} from '../../../engine/service/program.ts';
import {eventually} from '../../../support/eventually.ts';
import {ManualClock, settled} from '../../../support/manual-clock.ts';
import {fixture, needNode, type Sandbox, sandbox} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');

/** A service that answers each upload with a record of about so many bytes. */
function longRecords(bytes: number) {
  const record = `{"id":"m_1","type":"IMAGE","padding":"${'x'.repeat(bytes)}"}`;
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, record);
  });
}

/** The names of so many copies of the photo in the sandbox. */
async function copies(box: Sandbox, count: number): Promise<string[]> {
  const bytes = await readFile(photo);
  const names = Array.from({length: count}, (_, index) => `${index}.png`);
  await Promise.all(names.map(name => writeFile(join(box.directory, name), bytes)));
  return names;
}

describe('standard output that nobody reads', () => {
  const incomplete = /"code":"output_failed","message":"The output is incomplete: nothing reads it\."/;

  /** An upload whose output fills the pipe. */
  async function unread(...options: string[]) {
    const {url, requests} = await longRecords(200_000);
    const box = await sandboxFor(url);
    const parameters = ['upload', ...(await copies(box, 6)), '-c', '1', '--json', ...options];
    const upload = box.start(parameters, {buffer: false});
    upload.stdout?.pause();
    return {upload, requests, stderr: text(upload.stderr as Readable)};
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: ends by it, and says that the output is incomplete',
    async signal => {
      const {upload, requests, stderr} = await unread();
      // The first record has filled the pipe by the time that the second has come.
      await eventually(() => requests.length > 1);
      upload.kill(signal);
      expect(await once(upload, 'exit')).toEqual([null, signal]);
      expect(await stderr).toMatch(incomplete);
    },
  );

  test('--deadline: ends, and says that the output is incomplete', async () => {
    const {upload, requests, stderr} = await unread('--deadline', '4s');
    const [exitCode] = await once(upload, 'exit');
    expect([1, 3]).toContain(exitCode);
    if (requests.length > 2) expect(await stderr).toMatch(incomplete);
  });
});

test('standard error whose reader has gone: the upload goes on, and its results come', async () => {
  const {url} = await longRecords(10);
  const box = await sandboxFor(url);
  const upload = box.start(['upload', ...(await copies(box, 3)), '-c', '1', '--json', '--verbose']);
  upload.stderr?.destroy();
  const {stdout, exitCode} = await upload;
  expect({lines: stdout.match(/m_1/g)?.length, exitCode}).toEqual({lines: 3, exitCode: 0});
});

describe('standard error that is read late', () => {
  test('more of it than a pipe holds: all of it comes, and the exit status stays', async () => {
    const box = await sandbox();
    const names = Array.from(
      {length: 3000},
      (_, index) => `a-rather-long-file-name-that-is-missing-${index}.png`,
    );
    await writeFile(join(box.directory, 'list'), names.join('\n'));
    const upload = box.start(['upload', '--files-from', 'list', '--ndjson', '-v', '--no-once', '--dry-run'], {
      buffer: false,
    });
    upload.stderr?.pause();
    const ended = once(upload, 'exit');
    let results = '';
    upload.stdout?.on('data', lines => {
      results += lines;
    });
    // By its last result, the run has reported every failure.
    await eventually(() => results.match(/"file_missing"/g)?.length === 3000);
    const failures = (await text(upload.stderr as Readable)).match(/ does not exist\./g);
    expect([failures?.length, await ended]).toEqual([3000, [1, null]]);
  });

  /** A run with one failure, whose standard error is read when the test reads it. */
  function unread() {
    const clock = new ManualClock();
    const waiting: (() => void)[] = [];
    const stderr = new Writable({write: (_chunk, _encoding, done) => void waiting.push(done)});
    let status: ExitStatus | undefined;
    void run(['nonsense'], {...systemHost(), clock, stderr}).then(ended => {
      status = ended;
    });
    return {clock, waiting, status: () => status};
  }

  test('the run ends when it has been read', async () => {
    const {waiting, status} = unread();
    await eventually(() => waiting.length > 0);
    await settled();
    expect(status()).toBeUndefined();
    await eventually(() => {
      waiting.shift()?.();
      return status() !== undefined;
    });
    expect(status()).toBe(2);
  });

  test('never: the run ends after 10 s all the same', async () => {
    const {clock, waiting, status} = unread();
    await eventually(() => waiting.length > 0);
    await clock.advance(9_999);
    expect(status()).toBeUndefined();
    await clock.advance(1);
    await settled();
    expect(status()).toBe(2);
  });
});

describe('a key-command that waits', () => {
  async function waiting(...options: string[]) {
    const box = await sandbox();
    await mkdir(join(box.directory, 'config'), {mode: 0o700});
    const profile = {'base-url': 'http://127.0.0.1:9', 'key-command': 'touch started; exec sleep 1000'};
    const path = join(box.directory, 'config/config.json');
    await writeFile(path, JSON.stringify({profiles: {default: profile}}), {mode: 0o600});
    const upload = box.start(['upload', photo, ...options]);
    return {upload, started: join(box.directory, 'config/started')};
  }

  test('SIGUSR2: tells the progress, and waits on', async () => {
    const {upload, started} = await waiting();
    await eventually(() => readFile(started).catch(() => undefined));
    const told = once(upload.stderr, 'data');
    upload.kill('SIGUSR2');
    await Promise.race([told, once(upload, 'exit')]);
    upload.kill('SIGTERM');
    const {stderr, signal} = await upload;
    expect(stderr).toMatch(/^0 uploaded, 0 skipped, 0 failed, 0 unknown\n/);
    expect(signal).toBe('SIGTERM');
  });

  test('--deadline: ends as deadline_exceeded', async () => {
    const {upload} = await waiting('--deadline', '500ms');
    const {exitCode, stderr} = await upload;
    expect(stderr).toContain('The deadline of this run has passed.');
    expect(exitCode).toBe(1);
  });
});

test('--on-unknown hold beside a service that honours keys: not sent again', async () => {
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(500, '{}');
  });
  const box = await sandbox();
  await mkdir(join(box.directory, 'config'), {mode: 0o700});
  const profile = {'base-url': url, 'idempotency-keys': 'honoured'};
  const path = join(box.directory, 'config/config.json');
  await writeFile(path, JSON.stringify({profiles: {default: profile}}), {mode: 0o600});
  const env = {...box.env, MEDIA_API_KEY: 'mk_1'};
  const held = await box.run(['upload', photo, '--on-unknown', 'hold', '--retries', '1'], {env});
  expect(held.exitCode).toBe(5);
  expect(requests).toHaveLength(1);
  await box.run(['upload', photo, '--retries', '1'], {env});
  expect(requests).toHaveLength(3);
});

test('a table of 60 records of 1 MB each: the rows are kept, not the records', slowTest, async context => {
  needNode(context);
  const {url} = await longRecords(1_000_000);
  const box = await sandboxFor(url, {NODE_OPTIONS: '--max-old-space-size=44'});
  const {stdout, stderr, exitCode} = await box.run(
    ['upload', ...(await copies(box, 60)), '-c', '4', '--verbose'],
    slowTest,
  );
  expect({exitCode, rows: stdout.match(/uploaded/g)?.length}, stderr.slice(-300)).toEqual({
    exitCode: 0,
    rows: 60,
  });
});
