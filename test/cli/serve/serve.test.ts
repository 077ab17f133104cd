import {readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {fixture, sandbox} from '../../support/media.ts';
import {serve} from '../../support/served.ts';
import {testEphemeral} from './ephemeral.ts';

const photo = fixture('photo.png');

describe('media serve', () => {
  it('its two lines on stdout: enough to upload with', async () => {
    const box = await sandbox();
    const {child, url, env, stdout, stderr} = await serve(box, '--data-dir', 'kept');
    expect(url).not.toBe('');
    const before = stdout();
    const upload = await box.run(['upload', photo, '--json'], {env});
    expect(upload).toMatchObject({stderr: '', exitCode: 0});
    const {id, fileUrl} = JSON.parse(upload.stdout);
    expect(Buffer.from(await (await fetch(fileUrl)).arrayBuffer())).toEqual(await readFile(photo));
    expect(await readFile(join(box.directory, 'kept/files', id))).toEqual(await readFile(photo));
    await eventually(() => stderr().includes('/files/'));
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM', stdout: before});
    const lines = stderr().trimEnd().split('\n');
    expect(lines).toEqual([
      `Serving ${url} from ${join(box.directory, 'kept')}. Press Ctrl-C to stop.`,
      expect.stringMatching(
        new RegExp(
          `^To manage API keys and see uploads, open ${url}/\\?token=[\\w-]{43} \\(this link works once; for another: kill -USR2 ${child.pid}\\)\\.$`,
        ),
      ),
      expect.stringMatching(/^POST \/v1\/media\/upload 200 13582 B \d+ ms$/),
      expect.stringMatching(new RegExp(`^GET /files/${id} 200 13582 B \\d+ ms$`)),
    ]);
  });

  it('--profile local: the profile gets its address and its page; SIGUSR2: another link', async () => {
    const box = await sandbox();
    const {child, url, stderr} = await serve(box, '--profile', 'local');
    await eventually(() => stderr().includes('media login --profile local\n'));
    const settings = await box.run(['config', 'list', '--profile', 'local']);
    expect(settings.stdout).toContain(
      `base-url=${url} (from profile local)\nprofile-url=${url}/profile (from profile local)\n`,
    );
    const links = () => [...stderr().matchAll(/http:\S+\?token=\S+/g)].map(([link]) => link);
    child.kill('SIGUSR2');
    await eventually(() => links().length > 1);
    const statuses: number[] = [];
    for (const link of [...links(), ...links()])
      statuses.push((await fetch(link, {headers: {Accept: 'text/html'}})).status);
    expect(statuses).toEqual([200, 200, 403, 403]);
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM'});
    expect(links().length).toBe(2);
  });

  it('a second start: what was stored is kept, the earlier key is revoked, another key is not', async () => {
    const box = await sandbox();
    const first = await serve(box);
    const upload = await box.run(['upload', photo, '--template', '{id}\\n'], {env: first.env});
    first.child.kill('SIGINT');
    expect(await first.child).toMatchObject({signal: 'SIGINT'});
    const second = await serve(box);
    const oldKey = await box.run(['whoami', '--json'], {env: {...second.env, MEDIA_API_KEY: first.key}});
    expect(oldKey.exitCode).toBe(4);
    expect(JSON.parse(oldKey.stdout).status).toBe('rejected');
    expect(second.key).not.toBe(first.key);
    const list = await box.run(['graphql', '{mediaList{nodes{id}} viewer{name}}'], {env: second.env});
    expect(JSON.parse(list.stdout)).toEqual({
      data: {mediaList: {nodes: [{id: upload.stdout.trim()}]}, viewer: {name: 'serve'}},
    });
    expect(await readdir(join(box.directory, 'data/media/embedded/files'))).toEqual([upload.stdout.trim()]);
  });

  testEphemeral('SIGTERM');

  it('a port that is in use: a sentence, exit 1, the running service keeps its key', async () => {
    const box = await sandbox();
    const {url, env} = await serve(box);
    const {port} = new URL(url);
    const {stdout, stderr, exitCode} = await box.run(['serve', '--port', port, '--data-dir', 'other']);
    expect(stderr).toBe(
      `media: Port ${port} is in use.\n  Choose another with --port, or any free one with --port 0.\n`,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await box.run(['whoami'], {env})).toMatchObject({exitCode: 0});
  });

  it.each([
    [
      ['--ephemeral', '--data-dir', 'x'],
      "Option '--data-dir <directory>' cannot be used with option '--ephemeral'.",
    ],
    [['--port', '65536'], 'Use a whole number from 0 to 65535.'],
    [['--port', 'any'], 'Use a whole number from 0 to 65535.'],
    [['extra'], 'Too many arguments'],
  ])('%j: a usage error', async (parameters, sentence) => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['serve', ...parameters]);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('a file in place of the data directory: a sentence, exit 1', async () => {
    const box = await sandbox();
    await writeFile(join(box.directory, 'taken'), '');
    const {stderr, exitCode} = await box.run(['serve', '--port', '0', '--data-dir', 'taken']);
    expect(stderr).toMatch(
      /^media: The embedded service cannot keep its data in .*taken: it is not a directory\.\n {2}Choose another directory with XDG_DATA_HOME/,
    );
    expect(exitCode).toBe(1);
  });
});
