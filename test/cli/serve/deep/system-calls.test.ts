import {spawnSync} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms, notRun, pathOf} from '../../../support/installed.ts';
import {fixture, mediaCommand, sandbox} from '../../../support/media.ts';

const calls =
  'openat,mkdir,mkdirat,link,linkat,rename,renameat,renameat2,unlink,unlinkat,fsync,fdatasync,write,writev,sendto';

/** Expects these system calls, each after the one before. */
function expectInOrder(trace: readonly string[], patterns: readonly (string | RegExp)[]): void {
  let at = -1;
  for (const pattern of patterns) {
    const next = trace.findIndex(
      (line, index) =>
        index > at && (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line)),
    );
    expect({pattern, isThereInOrder: next > at}).toEqual({pattern, isThereInOrder: true});
    at = next;
  }
}

it('an upload and its deletion, by system calls: durable before the response, the record before its file, all private', async context => {
  needPrograms(context, ['strace']);
  const strace = pathOf('strace') ?? '';
  if (spawnSync(strace, ['-qq', '-o', '/dev/null', 'true']).status !== 0)
    notRun(context, 'strace may not trace processes here');
  const box = await sandbox();
  const kept = join(box.directory, 'kept');
  const file = join(box.directory, 'trace');
  const options = ['-f', '-y', '-qq', '-s', '200', '-e', `trace=${calls}`, '-o', file];
  const command = [...mediaCommand, 'serve', '--port', '0', '--data-dir', 'kept'];
  const child = execa(strace, [...options, ...command], {
    ...{cwd: box.directory, env: {...box.env, UV_USE_IO_URING: '0'}, extendEnv: false},
    ...{reject: false, stdin: 'ignore'},
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      text += chunk;
    });
  const pid = Number(await eventually(() => /kill -USR2 (\d+)/.exec(text)?.[1]));
  const [, url, key] = (await eventually(() => /MEDIA_BASE_URL=(.*)\nMEDIA_API_KEY=(.*)\n/.exec(text))) ?? [];
  const headers = {Authorization: `Bearer ${key}`};
  const sent = await fetch(`${url}/v1/media/upload`, {
    method: 'POST',
    headers: {...headers, 'Content-Type': 'image/png', 'Idempotency-Key': '"one"'},
    body: await readFile(fixture('photo.png')),
  });
  const {id} = (await sent.json()) as {id: string};
  const deletion = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {...headers, 'Content-Type': 'application/json'},
    body: JSON.stringify({query: `mutation {deleteMedia(id: "${id}")}`}),
  });
  expect(await deletion.json()).toEqual({data: {deleteMedia: id}});
  process.kill(pid, 'SIGTERM');
  await child;

  const whole = (await readFile(file, 'utf8')).split('\n');
  // What follows the response to the upload belongs to the deletion.
  const trace = whole.slice(0, whole.findIndex(line => line.includes('"HTTP/1.1 200 OK')) + 1);
  const sourceOf = (target: string) =>
    trace
      .map(line => /rename\w*\(.*?"([^"]+)".*"([^"]+)"/.exec(line))
      .find(found => found?.[2] === target)?.[1] ?? `nothing renamed to ${target}`;
  const stored = join(kept, 'files', id);
  const record = join(kept, 'records', `${id}.json`);
  const synced = (path: string) => new RegExp(`f(?:data)?sync\\(\\d+<${path}>`);
  const body = sourceOf(stored);
  const draft = sourceOf(record);
  const committed = `"${record}"`;
  expectInOrder(trace, [synced(body), `"${stored}"`, synced(join(kept, 'files')), committed]);
  expectInOrder(trace, [synced(draft), committed, synced(join(kept, 'records')), '"HTTP/1.1 200 OK']);
  // Without its entry or with an empty one, the same request would store the file again, or get a 500.
  const entries = join(kept, 'idempotency');
  const [, entry = ''] = /\blink\w*\(.*?"([^"]+)".*"[^"]+\/idempotency\//.exec(trace.join('\n')) ?? [];
  expectInOrder(trace, [synced(entry), `"${entries}/`, synced(entries), committed]);
  // The record says that there is one.
  const thumbnail = join(kept, 'thumbnails', `${id}.webp`);
  const thumbnailDraft = synced(sourceOf(thumbnail));
  expectInOrder(trace, [thumbnailDraft, `"${thumbnail}"`, synced(join(kept, 'thumbnails')), committed]);
  const removed = (path: string) => new RegExp(`unlink\\w*\\(.*"${path}"`);
  expectInOrder(whole, [removed(record), synced(join(kept, 'records')), removed(stored)]);

  const made = whole.filter(line => line.includes(kept) && /O_CREAT|mkdir/.test(line));
  expect(made.length).toBeGreaterThan(10);
  expect(made.filter(line => !/(?:O_CREAT.*, 0600|mkdir\w*\(.*, 0700)[)\s]/.test(line))).toEqual([]);
});
