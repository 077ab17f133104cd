import {spawnSync} from 'node:child_process';
import {mkdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {cannotContain, startContained} from '../../../support/containers.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms, notRun} from '../../../support/installed.ts';
import {type Sandbox, sandbox} from '../../../support/media.ts';

/** A `media serve` in a container of its own name, whose process ids say nothing outside, and what it has printed. */
function contained(box: Sandbox, hostName: string, directory: string) {
  const parameters = ['serve', '--port', '0', '--data-dir', directory];
  const run = startContained(box, parameters, {ownIds: true, hostName}, {timeout: 0, buffer: true});
  let text = '';
  for (const stream of [run.child.stdout, run.child.stderr])
    stream?.on('data', chunk => {
      text += chunk;
    });
  return {...run, text: () => text, serving: () => eventually(() => text.includes('Press Ctrl-C to stop.'))};
}

const waiting = 'by a media serve that cannot be seen from here';

it.for([
  ['a data directory', 'kept'],
  ['a data directory with a longer path than a socket may have', `${'x'.repeat(100)}/${'y'.repeat(100)}`],
] as const)(
  '%s used in one container, then in another: refused, and taken over at once after kill -9',
  async ([, directory], context) => {
    const reason = cannotContain();
    if (reason !== undefined) notRun(context, reason);
    const box = await sandbox();
    const first = contained(box, 'one', directory);
    await first.serving();
    const second = contained(box, 'two', directory);
    expect((await second.child).exitCode).toBe(1);
    expect(second.text()).toMatch(/ is in use by another media serve, process \d+ on one\.$/m);
    await first.signal('SIGKILL');
    await first.child;
    const third = contained(box, 'two', directory);
    await third.serving();
    expect(third.text()).not.toContain(waiting);
    await third.signal('SIGTERM');
    await third.child;
    const fourth = contained(box, 'one', directory);
    await fourth.serving();
    expect(fourth.text()).not.toContain(waiting);
  },
);

it('a data directory in which no socket can be made: the next container waits for a sign of life', async context => {
  const reason = cannotContain();
  if (reason !== undefined) notRun(context, reason);
  const box = await sandbox();
  await mkdir(join(box.directory, 'kept/service.sock/in-its-place'), {recursive: true});
  const first = contained(box, 'one', 'kept');
  await first.serving();
  expect(JSON.parse(await readFile(join(box.directory, 'kept/service.lock'), 'utf8'))).toMatchObject({
    pid: 1,
  });
  await first.signal('SIGKILL');
  await first.child;
  const second = contained(box, 'two', 'kept');
  await eventually(() => second.text().includes(`${waiting}, process 1 on one. Waiting up to 90 s`));
  await second.signal('SIGTERM');
  await second.child;
  expect(second.text()).not.toContain('Press Ctrl-C to stop.');
});

it('a data directory that becomes read-only: /healthz says so, and SIGTERM ends the service by it', async context => {
  needPrograms(context, ['mount', 'nsenter']);
  const reason = cannotContain();
  if (reason !== undefined) notRun(context, reason);
  const box = await sandbox();
  const kept = join(box.directory, 'kept');
  await mkdir(kept);
  const parameters = ['serve', '--port', '0', '--data-dir', kept];
  const bound = {ownIds: false, bind: [kept, kept]} as const;
  const {child, signal} = startContained(box, parameters, bound, {timeout: 0, buffer: true});
  let text = '';
  child.stdout?.on('data', chunk => {
    text += chunk;
  });
  const url = await eventually(() => /^MEDIA_BASE_URL=(.+)\n/.exec(text)?.[1]);
  const health = async () => (await fetch(`${url}/healthz`)).status;
  expect(await health()).toBe(200);
  const root = process.geteuid?.() === 0 ? [] : ['-U', '--preserve-credentials'];
  const inside = ['-t', String(child.pid), '-m', ...root, 'mount', '-o', 'remount,ro,bind', kept];
  expect(spawnSync('nsenter', inside).status).toBe(0);
  expect(await health()).toBe(503);
  await signal('SIGTERM');
  expect(await child).toMatchObject({signal: 'SIGTERM', stderr: expect.not.stringContaining('bug')});
});
