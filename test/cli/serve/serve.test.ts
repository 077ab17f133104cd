import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {freePort} from '../../support/free-ports.ts';
import {fixture, mediaCommand, sandbox} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';
import {serve} from '../../support/served.ts';

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

  it.skipIf(process.platform !== 'linux')(
    'onto a full disk: ends at once, since nobody knows the key',
    async () => {
      const box = await sandbox();
      const words = [...mediaCommand, 'serve', '--port', '0', '--ephemeral'];
      const run = execa('sh', ['-c', 'exec "$@" >/dev/full', 'sh', ...words], {
        ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, timeout: patienceMs},
      });
      const {exitCode, stderr} = await run;
      expect(stderr).toMatch(/^media: The output could not be written: the disk is full\.$/m);
      expect(stderr).not.toContain('Serving');
      expect(exitCode).toBe(1);
      expect(await readdir(box.directory)).toEqual([]);
    },
  );

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

  it('a default profile of this service that cannot be written: serves on, and ends as it is told', async () => {
    const box = await sandbox();
    const port = await freePort();
    await box.run(['config', 'set', 'base-url', `http://127.0.0.1:${port}`]);
    await mkdir(join(box.directory, 'config/config.json.draft'));
    const {child, url, stderr} = await serve(box, '--port', String(port));
    await eventually(() => stderr().includes('?token='));
    expect((await fetch(url)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM'});
    expect(stderr()).not.toContain('could not be written');
  });

  it('--profile of another service: the profile stays as it is', async () => {
    const box = await sandbox();
    const set = ['config', 'set', 'base-url', 'https://api.example.com', '--profile', 'prod'];
    expect(await box.run(set)).toMatchObject({exitCode: 0});
    const {stderr} = await serve(box, '--profile', 'prod');
    await eventually(() =>
      stderr().includes('\nProfile prod belongs to https://api.example.com and was not changed.\n'),
    );
    const settings = await box.run(['config', 'list', '--profile', 'prod']);
    expect(settings.stdout).toContain('base-url=https://api.example.com (from profile prod)\n');
    expect(settings.stdout).not.toContain('profile-url');
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

  it.runIf(process.platform === 'linux')(
    'photos, whose headers say all there is to say: no process is started to look at them, but for a clip',
    async () => {
      const box = await sandbox();
      const {child, env} = await serve(box, '--ephemeral');
      const processes = async () => {
        const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
        const ids = children.split(' ').filter(id => id !== '');
        const lines = await Promise.all(ids.map(id => readFile(`/proc/${id}/cmdline`, 'utf8')));
        return lines.filter(line => line.includes('__child')).length;
      };
      const photos = ['photo.png', 'photo.jpg', 'photo.gif', 'photo.webp', 'photo.bmp'].map(fixture);
      const {stdout} = await box.run(['upload', ...photos, '--json'], {env});
      expect(stdout.match(/"width":/g)).toHaveLength(photos.length);
      // It makes the thumbnails.
      expect(await processes()).toBe(1);
      await box.run(['upload', fixture('clip.mp4')], {env});
      // Another one reads the clip, and one makes its stream.
      expect(await processes()).toBe(3);
    },
  );

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '--ephemeral, %s: ends by that signal and leaves nothing',
    async signal => {
      const box = await sandbox();
      const {child, env} = await serve(box, '--ephemeral', '--quiet');
      expect(await box.run(['upload', photo], {env})).toMatchObject({exitCode: 0});
      expect((await readdir(box.directory)).filter(name => name.startsWith('media-serve-'))).toHaveLength(1);
      child.kill(signal);
      expect(await child).toMatchObject({signal, stderr: ''});
      expect(await readdir(box.directory)).toEqual([]);
    },
  );

  it.skipIf(process.platform === 'win32')(
    '--ephemeral where nothing can be written: the variable that names another directory, exit 1',
    async () => {
      const {directory, env} = await sandbox();
      const command = ['-c', 'ulimit -f 0; exec "$0" "$@" serve --port 0 --ephemeral', ...mediaCommand];
      const options = {cwd: directory, env, extendEnv: false, reject: false} as const;
      const {stdout, stderr, exitCode} = await execa('sh', command, options);
      expect(stderr).toMatch(
        / cannot keep its data in .*: EFBIG\.\n {2}Choose another .* TMPDIR if --ephemeral\)\.$/,
      );
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    },
  );

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

  it('an address that no machine has, a port for faults that is in use: a sentence, exit 1', async () => {
    const box = await sandbox();
    const env = {MEDIA_SERVE_KEY: 'a-key-for-tests-0001'};
    const elsewhere = await box.run(['serve', '--ephemeral', '--host', '192.0.2.1'], {env});
    expect(elsewhere.stderr).toBe(
      'media: The embedded service cannot listen on 192.0.2.1: EADDRNOTAVAIL.\n  Choose an address of this machine with --host, such as 127.0.0.1, or 0.0.0.0 for all of them.\n',
    );
    const {port} = new URL((await serve(box)).url);
    const taken = await box.run(['serve', '--ephemeral', '--port', '0', '--fault-port', port]);
    expect(taken.stderr).toContain(`Port ${port} is in use.\n  Choose another with --fault-port,`);
    expect([elsewhere.exitCode, taken.exitCode]).toEqual([1, 1]);
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

  it('damaged keys in the data directory: a sentence, exit 1', async () => {
    const box = await sandbox();
    await mkdir(join(box.directory, 'kept'));
    await writeFile(join(box.directory, 'kept/keys.json'), '{');
    const {stderr, exitCode} = await box.run(['serve', '--port', '0', '--data-dir', 'kept']);
    expect(stderr).toMatch(/^media: .*keys\.json is damaged/);
    expect(exitCode).toBe(1);
  });
});
