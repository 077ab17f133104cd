import {spawn} from 'node:child_process';
import {appendFile, copyFile, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {afterTest, expect, waitingTest as test} from '../../../support/after-test.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaCommand} from '../../../support/media.ts';
import {Watching} from '../../../support/watching.ts';
import {machine} from '../machine.ts';

test('many files at once, killed on the way and started again: each stored once and deleted, none lost', async () => {
  const {box, path, service, key} = await machine();
  const settings = {'base-url': service.url, key, 'key-origin': service.url, 'idempotency-keys': 'honoured'};
  await mkdir(path('config'), {mode: 0o700});
  await writeFile(path('config/config.json'), JSON.stringify({profiles: {default: settings}}), {mode: 0o600});
  delete box.env['MEDIA_BASE_URL'];
  delete box.env['MEDIA_API_KEY'];
  const pixel = await readFile(fixture('photo.png'));
  const count = 200;
  const killed = new Watching(box, ['in', '--delete', '--ndjson']);
  await killed.line({event: 'watching'});
  await Promise.all(
    Array.from({length: count}, (_, at) =>
      writeFile(path(`in/sub/${at}.png`), Buffer.concat([pixel, Buffer.from(String(at))])),
    ),
  );
  await eventually(() => killed.lines().length > count / 10);
  killed.child.kill('SIGKILL');
  await killed.child;
  const again = new Watching(box, ['in', '--delete', '--ndjson']);
  await eventually(async () => (await readdir(path('in/sub'))).length === 0, {pauseMs: 100});
  const records = await service.records();
  expect(records).toHaveLength(count);
  expect(new Set(records.map(({sha256}) => sha256)).size).toBe(count);
  expect(again.stderr).toBe('');
});

test('a reader of the output that does not read: SIGTERM ends the watch all the same', async () => {
  const {box, path, service} = await machine();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    await writeFile(
      path(`in/${name}.png`),
      `${await readFile(fixture('photo.png'), 'latin1')}${name}`,
      'latin1',
    );
  const wide = ['--template', `{file}${'x'.repeat(100_000)}\\n`, '--settle', '20ms'];
  const [program, ...words] = mediaCommand;
  const watch = spawn(program, [...words, 'watch', 'in', ...wide], {cwd: box.directory, env: box.env});
  afterTest(() => void watch.kill('SIGKILL'));
  await eventually(async () => (await service.records()).length === 6);
  watch.kill('SIGTERM');
  expect(await eventually(() => watch.signalCode ?? watch.exitCode ?? undefined)).toBe('SIGTERM');
});

test('a file that grows after its upload: uploaded again; a key that is revoked meanwhile: the file waits', async () => {
  const {box, path, service} = await machine();
  box.env['MEDIA_API_KEY'] = await service.createKey({label: 'watch'});
  const watching = new Watching(box, ['in', '--template', '{name} {status} {url}\\n']);
  await eventually(() => watching.stderr.includes('Watching in.'));
  await copyFile(fixture('photo.png'), path('in/a.png'));
  await eventually(() => watching.stdout.includes('a.png uploaded http'));
  await appendFile(path('in/a.png'), 'more');
  await eventually(() => watching.stdout.match(/^a\.png uploaded http/gm)?.length === 2);
  await service.revokeKeys('watch');
  await copyFile(fixture('photo.gif'), path('in/b.gif'));
  await eventually(() => /The API key is unknown.* 1 file waits/.test(watching.stderr));
  expect(await readdir(path('in'))).toContain('b.gif');
  watching.child.kill('SIGINT');
  expect((await watching.child).signal).toBe('SIGINT');
});
