import {readFile, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

const photo = fixture('photo.png');

it('media serve --max-size, --quota, a second one on the directory, and a start after kill -9', async () => {
  const box = await sandbox();
  const parameters = ['--data-dir', 'kept', '--max-size', '13.5K', '--quota', '20K'];
  const {child, env} = await serve(box, ...parameters);
  const uploaded = await box.run(['upload', photo, fixture('photo.gif'), '--template', '{id}\\n'], {env});
  expect(uploaded.stdout).toMatch(/^m_\w+\nm_\w+\n$/);
  const large = await box.run(['upload', fixture('clip.mp4')], {env});
  expect(large.stderr).toMatch(/\(413\): The file has \d+ bytes, but this service accepts at most 13824\./);
  const full = await box.run(['upload', photo, '--no-once'], {env});
  expect(full.stderr).toMatch(
    /\(507\): This service stores at most 20480 bytes, and \d+ are used\.\n {2}Delete what it need not keep, or ask its operator for more room\.\n/,
  );

  const second = await box.run(['serve', '--port', '0', '--data-dir', 'kept']);
  expect(second.stderr).toMatch(
    new RegExp(
      `^media: ${join(box.directory, 'kept')} is in use by another media serve, process ${child.pid} on .+\\.\\n {2}Stop that one, or choose another directory with --data-dir\\.\\n$`,
    ),
  );
  expect(second).toMatchObject({stdout: '', exitCode: 1});

  child.kill('SIGKILL');
  await child;
  const [id = ''] = uploaded.stdout.split('\n');
  await writeFile(join(box.directory, 'kept/files', `${id.slice(0, -1)}${id.endsWith('1') ? 2 : 1}`), '');
  const next = await serve(box, '--data-dir', 'kept');
  await eventually(() => next.stderr().includes('token='));
  expect(next.stderr()).toContain(
    ` 1 upload without a record, moved to ${join(box.directory, 'kept/lost')}. Delete them, or`,
  );
});

it('a data directory that is moved away, or has another one in its place: 503 to a good key, said in the log, until it is back', async () => {
  const box = await sandbox();
  const {url, key, env, stderr} = await serve(box, '--data-dir', 'kept');
  const {stdout: path} = await box.run(['upload', photo, '--template', '{url}'], {env});
  const statuses = async () => {
    const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png'};
    const asked = ['/graphql?query={__typename}', new URL(path).pathname, '/healthz'];
    const sent = fetch(`${url}/v1/media/upload`, {method: 'POST', headers, body: await readFile(photo)});
    const all = await Promise.all([sent, ...asked.map(one => fetch(url + one, {headers}))]);
    return all.map(({status}) => status);
  };
  const [kept, moved] = ['kept', 'moved'].map(name => join(box.directory, name)) as [string, string];
  await rename(kept, moved);
  expect(await statuses()).toEqual([503, 503, 503, 503]);
  await eventually(() =>
    stderr().includes(`media: ${kept} is no longer there: it was moved, removed or unmounted.\n`),
  );
  const other = await serve(box, '--data-dir', 'kept');
  expect(await statuses()).toEqual([503, 503, 503, 503]);
  other.child.kill('SIGTERM');
  await other.child;
  await rm(kept, {recursive: true});
  await rename(moved, kept);
  expect(await statuses()).toEqual([200, 200, 200, 200]);
});

it('media serve --ephemeral and a TMPDIR that does not exist: a sentence, exit 1', async () => {
  const box = await sandbox();
  const env = {...box.env, TMPDIR: join(box.directory, 'none')};
  const {stderr, exitCode} = await box.run(['serve', '--port', '0', '--ephemeral'], {env});
  expect(stderr).toBe(
    `media: No directory can be made in ${env.TMPDIR}: ENOENT.\n  Set TMPDIR to a directory that can be written to.\n`,
  );
  expect(exitCode).toBe(1);
});

it.each([
  ['--max-size', '0'],
  ['--quota', '5 GB'],
])('media serve %s %j: a usage error', async (option, value) => {
  const {stderr, exitCode} = await (await sandbox()).run(['serve', option, value]);
  expect(stderr).toContain('Use a size in bytes, such as 500000, 20M or 2G.');
  expect(exitCode).toBe(2);
});
