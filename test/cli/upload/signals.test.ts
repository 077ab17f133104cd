import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {systemHost} from '../../../src/host.ts';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {sandboxFor} from '../../engine/service/program.ts';
import {eventually} from '../../support/eventually.ts';
import {fixture} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {leavesPipesBlocking} from './blocking-pipes.ts';
import {stopsAnUpload, unanswered} from './stopped-uploads.ts';

const photo = fixture('photo.png');

/** Waits until no signal waits for the process, so that the next one is not merged with it. */
async function untilNonePending(pid: number | undefined): Promise<void> {
  await eventually(() => /^ShdPnd:\s*0+$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), {pauseMs: 0});
}

describe('SIGINT', () => stopsAnUpload('SIGINT'));

test('SIGTERM to the program and at once to its group, as GNU timeout sends it: one signal, the record is printed', async () => {
  const {upload, connection} = await unanswered(['--json', '--no-progress']);
  for (let count = 0; count < 5; count += 1) {
    upload.kill('SIGTERM');
    await untilNonePending(upload.pid);
  }
  connection.answer(200, someRecord);
  const {stdout, signal} = await upload;
  expect({stdout, signal}).toEqual({stdout: `${someRecord}\n`, signal: 'SIGTERM'});
});

test('SIGTERM while a retry is waited for: ends by it', async () => {
  let answers = 0;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(429, '', {'retry-after': '200'});
    answers += 1;
  });
  const upload = (await sandboxFor(url)).start(['upload', photo, '--verbose']);
  let told = '';
  upload.stderr?.on('data', text => {
    told += text;
  });
  await eventually(() => told.includes('Next try in 200000 ms.'));
  upload.kill('SIGTERM');
  const {signal, stderr} = await upload;
  expect({signal, answers}).toEqual({signal: 'SIGTERM', answers: 1});
  expect(stderr).toContain('received too many requests (429)');
});

test('SIGTERM while a journal is waited for, which another machine may use: ends by it, and leaves the lock', async () => {
  const {url, requests} = await scriptedServer(async connection => void (await connection.request()));
  const box = await sandboxFor(url);
  const lock = JSON.stringify({...holderHere(systemHost()), hostName: 'elsewhere'});
  await writeFile(join(box.directory, 'j.lock'), lock);
  const upload = box.start(['upload', photo, '--journal', 'j']);
  let told = '';
  upload.stderr?.on('data', text => {
    told += text;
  });
  await eventually(() => told.includes('Waiting: the journal j is held by process'));
  upload.kill('SIGTERM');
  expect((await upload).signal).toBe('SIGTERM');
  // Nothing hangs that had to be abandoned.
  expect(told).not.toContain('The run was stopped by SIGTERM.');
  expect(readFileSync(join(box.directory, 'j.lock'), 'utf8')).toBe(lock);
  expect(requests).toEqual([]);
});

describe('the pipes that the next program of a shell has too, after a signal', () => {
  describe('SIGINT', () => leavesPipesBlocking('SIGINT'));
});
