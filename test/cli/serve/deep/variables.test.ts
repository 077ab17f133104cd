import {readdir, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseAnswer, rawConnection} from '../../../embedded/support.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

const photo = fixture('photo.png');
const key = 'a-key-of-the-owner-1234';

/** A GET with a Host field of its own. */
async function get(url: string, host: string, path: string) {
  const {socket, ended} = await rawConnection({url});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return parseAnswer(await ended());
}

describe('media serve, started by variables alone', () => {
  it('listens for other machines with the key of a file; /healthz, /metrics and NDJSON', async () => {
    const box = await sandbox();
    await writeFile(join(box.directory, 'key'), `${key}\n`);
    Object.assign(box.env, {
      MEDIA_SERVE_HOST: '0.0.0.0',
      MEDIA_SERVE_KEY_FILE: 'key',
      MEDIA_SERVE_PUBLIC_URL: 'http://media.test:8080/',
      MEDIA_SERVE_ALLOW_HOST: 'media.test other.test:81',
      MEDIA_SERVE_DATA_DIR: 'kept',
    });
    const {url, stdout, stderr} = await serve(box, '--ndjson');
    expect(stdout()).toMatch(/^MEDIA_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n$/);
    const env = {...box.env, MEDIA_BASE_URL: url, MEDIA_API_KEY: key};
    const upload = await box.run(['upload', photo, '--json'], {env});
    expect(JSON.parse(upload.stdout).fileUrl).toMatch(/^http:\/\/media\.test:8080\/files\/m_/);

    for (const [host, status] of [
      ['media.test', 404],
      ['MEDIA.test:4711', 404],
      ['other.test:81', 404],
      ['other.test', 421],
      ['10.0.0.1', 421],
      ['media.test.evil.test', 421],
      ['localhost', 421],
    ] as const)
      expect({host, status: (await get(url, host, '/nothing'))?.status}).toEqual({host, status});
    const health = await get(url, '10.0.0.1', '/healthz');
    expect({status: health?.status, body: health?.body}).toEqual({status: 200, body: '{"status":"ok"}'});
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('media_request_duration_seconds_count{operation="upload",status="200"} 1\n');
    expect(metrics).toContain('media_body_bytes_total{operation="upload",status="200"} 13582\n');
    expect(metrics).toContain('media_records 1\n');
    expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m);

    await eventually(() => stderr().includes('/metrics'));
    const lines = stderr()
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines[0]).toEqual({
      signIn: {url: expect.stringMatching(/^http:\/\/media\.test:8080\/\?token=[\w-]{43}$/)},
    });
    expect(lines[1]).toEqual({
      request: {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        method: 'POST',
        path: '/v1/media/upload',
        status: 200,
        bytes: 13582,
        elapsedMs: expect.any(Number),
      },
    });
    expect(stderr()).not.toContain(key);
  });

  it.each([
    [
      {MEDIA_SERVE_HOST: '0.0.0.0'},
      'To listen on 0.0.0.0, beyond this machine, the service needs a key that you choose.',
    ],
    [{MEDIA_SERVE_KEY: 'short'}, 'The key of the service must have at least 16 characters, without spaces.'],
    [
      {MEDIA_SERVE_KEY: key, MEDIA_SERVE_KEY_FILE: 'key'},
      'MEDIA_SERVE_KEY and MEDIA_SERVE_KEY_FILE are both set.',
    ],
    [{MEDIA_SERVE_PORT: '70000'}, 'MEDIA_SERVE_PORT is "70000", which is not a port.'],
    [
      {MEDIA_SERVE_PUBLIC_URL: 'media.test'},
      'The public URL must be an http(s) URL without a user name, a query or a fragment.',
    ],
    [{MEDIA_SERVE_FAULT: 'upload:reset upload:x'}, 'The fault "upload:x" cannot be used'],
  ])('%j: a usage error with a hint', async (variables, sentence) => {
    const box = await sandbox({MEDIA_SERVE_PORT: '0', ...variables});
    const {stdout, stderr, exitCode} = await box.run(['serve']);
    expect(stderr).toContain(`media: ${sentence}`);
    expect(stderr).toMatch(/\n {2}\S.*\n$/);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('MEDIA_SERVE_KEY_FILE that does not exist: a sentence, exit 1', async () => {
    const box = await sandbox({MEDIA_SERVE_KEY_FILE: 'none'});
    const {stderr, exitCode} = await box.run(['serve']);
    expect(stderr).toMatch(/^media: The key in none cannot be read: ENOENT\.\n/);
    expect(exitCode).toBe(1);
  });
});

it('media serve --data-dir: a key of an earlier start works on if it was used, also if its use cannot be read, or was the last', async () => {
  const box = await sandbox();
  const statusWith = async (url: string, token: string) => {
    const headers = {Authorization: `Bearer ${token}`};
    return (await fetch(`${url}/graphql?query={__typename}`, {headers})).status;
  };
  const start = async () => {
    const {child, url, key: printed} = await serve(box, '--data-dir', 'kept');
    const stop = async () => {
      child.kill('SIGTERM');
      await child;
    };
    return {url, printed, stop};
  };
  const first = await start();
  expect(await statusWith(first.url, first.printed)).toBe(200);
  await first.stop();
  const second = await start();
  expect(second.printed).not.toBe(first.printed);
  expect(await statusWith(second.url, first.printed)).toBe(200);
  await second.stop();
  // As a power cut may leave it.
  const uses = join(box.directory, 'kept/key-uses');
  for (const name of await readdir(uses)) await truncate(join(uses, name));
  const third = await start();
  expect(await statusWith(third.url, first.printed)).toBe(200);
  await third.stop();
  const fourth = await start();
  const statuses = [];
  for (const {printed} of [first, second, third]) statuses.push(await statusWith(fourth.url, printed));
  expect(statuses).toEqual([200, 401, 200]);
  await fourth.stop();
});
