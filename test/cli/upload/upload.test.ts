import {copyFile, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {deadUrl} from '../../engine/service/support.ts';
import {connectedSandbox, denyingWith, embeddedService} from '../../support/embedded.ts';
import type {EmbeddedService} from '../../support/embedded-service.ts';
import {fixture, sandbox} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');
const picture = fixture('photo.jpg');

/** What lies in the service's files; sorted, since uploads may run side by side. */
async function storedBytes(service: EmbeddedService): Promise<Buffer[]> {
  return bytesOf(...(await service.records()).map(({path}) => path));
}

async function bytesOf(...paths: string[]): Promise<Buffer[]> {
  return (await Promise.all(paths.map(path => readFile(path)))).sort(Buffer.compare);
}

/** The lines of `--ndjson`, in the order of these inputs. */
function linesOf(stdout: string, ...inputs: string[]) {
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  return lines.sort((a, b) => inputs.indexOf(a.file) - inputs.indexOf(b.file));
}

describe('media upload', () => {
  it('photo.png: its record as a table of fields, nothing on stderr, the same bytes stored', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', photo]);
    const [stored] = await service.records();
    expect(await storedBytes(service)).toEqual(await bytesOf(photo));
    expect(stored?.contentType).toBe('image/png');
    const {id, fileUrl} = stored?.record ?? {};
    expect(stdout.split('\n').map(line => line.replace(/ +/g, ' '))).toEqual([
      expect.stringMatching(/^┌─+┬─+┐$/),
      `│ id │ ${id} │`,
      '│ type │ IMAGE │',
      '│ width │ 640 │',
      '│ height │ 400 │',
      '│ imageType │ png │',
      `│ fileUrl │ ${fileUrl} │`,
      '│ size │ 13.3 KiB │',
      expect.stringMatching(/^└─+┴─+┘$/),
      '',
    ]);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });

  it('clip.mp4: stored as video/mp4, with its duration', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', clip, '--json']);
    const [stored] = await service.records();
    expect(JSON.parse(stdout)).toEqual(stored?.record);
    expect(stored).toMatchObject({
      contentType: 'video/mp4',
      record: {type: 'VIDEO', width: 320, height: 180},
    });
    expect(await storedBytes(service)).toEqual(await bytesOf(clip));
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('three files: all stored, a row each, a summary on stderr', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', '--no-progress', photo, clip, picture]);
    expect(await storedBytes(service)).toEqual(await bytesOf(photo, clip, picture));
    const rows = stdout.split('\n').filter(line => line.includes('uploaded'));
    expect(rows.map(row => row.split('│')[1]?.trim()).sort()).toEqual([photo, clip, picture].sort());
    expect(stderr).toBe('3 uploaded, 0 skipped, 0 failed, 0 unknown\n');
    expect(exitCode).toBe(0);
  });

  it('the same file named twice: uploaded once', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {exitCode} = await sandbox.run(['upload', photo, photo, '--template', '{id}\\n']);
    expect(await storedBytes(service)).toEqual(await bytesOf(photo));
    expect(exitCode).toBe(0);
  });

  it('- with --name cat.png: the extension of the name decides, the name is shown', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, exitCode} = await sandbox.run(['upload', '-', '--name', 'cat.png', '--ndjson'], {
      stdin: 'pipe',
      inputFile: photo,
    });
    expect(await storedBytes(service)).toEqual(await bytesOf(photo));
    expect(JSON.parse(stdout)).toMatchObject({file: 'cat.png', status: 'uploaded', contentType: 'image/png'});
    expect(exitCode).toBe(0);
  });

  it('- without a name: the bytes decide', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, exitCode} = await sandbox.run(['upload', '-', '--ndjson'], {
      stdin: 'pipe',
      inputFile: clip,
    });
    expect(await storedBytes(service)).toEqual(await bytesOf(clip));
    expect(JSON.parse(stdout)).toMatchObject({file: '-', contentType: 'video/mp4', size: 16464});
    expect(exitCode).toBe(0);
    expect((await readdir(sandbox.directory)).filter(name => name.startsWith('media-spool'))).toEqual([]);
  });

  it('- with nothing on standard input: refused before any request', async () => {
    const {url, requests} = await scriptedServer(connection => connection.answer(200, someRecord));
    const {run} = await sandboxFor(url);
    const {stdout, stderr, exitCode} = await run(['upload', '-'], {stdin: 'pipe', input: ''});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toBe('media: Standard input was empty: there is nothing to upload.\n');
    expect(requests).toEqual([]);
  });

  it.each([
    [['-', '-'], 'Standard input (-) was given twice'],
    [[photo, '--name', 'cat.png'], 'A name is for standard input'],
    [[], 'There is nothing to upload'],
    [[photo, '--json', '--format', 'url'], "Option '--format <format>' cannot be used with option '--json'."],
    [[photo, '--json', '--ndjson'], "Option '--json' cannot be used with option '--ndjson'."],
    [[photo, '--format', 'yaml'], 'Allowed choices are table, url, markdown, json, ndjson.'],
    [[photo, '--types', 'guess'], 'Allowed choices are extension, content, strict.'],
    [[photo, '--on-unknown', 'panic'], 'Allowed choices are hold, retry.'],
    [[photo, '--content-type', 'text/plain'], '"text/plain" is not the type of an image or a video'],
    [[photo, '--content-type', 'image/*'], 'is not the type of an image or a video'],
    [[photo, '--content-type', 'image/png\r\nX-Evil: 1'], 'is not the type of an image or a video'],
    [[photo, '--retries', '-1'], 'whole number'],
    [[photo, '--timeout', '60'], 'Use a duration such as 500ms, 30s, 10m or 2h.'],
    [[photo, '--timeout', '0s'], 'Use a duration such as 500ms, 30s, 10m or 2h.'],
    [[photo, '--deadline', '0.0m'], 'Use a duration such as 500ms, 30s, 10m or 2h.'],
    [[photo, '--deadline', '0s'], 'Use a duration'],
  ])('%j: a usage error, nothing sent', async (parameters, sentence) => {
    const {url, requests} = await scriptedServer(connection => connection.answer(200, someRecord));
    const {run} = await sandboxFor(url);
    const {stdout, stderr, exitCode} = await run(['upload', ...parameters]);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    expect(requests).toEqual([]);
  });

  it('--dry-run: everything is checked, nothing is sent, no service is needed', async () => {
    const {url, requests} = await scriptedServer(connection => connection.answer(200, someRecord));
    const {run} = await sandboxFor(url);
    const page = fixture('page-named.png');
    const {stdout, exitCode} = await run(['upload', '--dry-run', '--ndjson', photo, page]);
    const lines = linesOf(stdout, photo, page);
    expect(lines).toMatchObject([
      {file: photo, status: 'checked', contentType: 'image/png', size: 13582, attempts: 0},
      {file: page, status: 'failed', error: {code: 'not_media'}, attempts: 0},
    ]);
    expect(requests).toEqual([]);
    expect(exitCode).toBe(3);
    const nothingConfigured = await (await sandbox()).run(['upload', '--dry-run', photo]);
    expect(nothingConfigured).toMatchObject({stderr: '', exitCode: 0});
    expect(nothingConfigured.stdout).toContain('image/png');
  });

  it('--content-type image/x-mine: sent as it is, whatever the file says', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, someRecord);
    });
    const page = fixture('page-named.png');
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key-of-the-test-1234'});
    const {stderr, exitCode} = await box.run(['upload', page, '--content-type', 'Image/X-Mine; q=1']);
    expect(requests.map(({body}) => body)).toEqual(await bytesOf(page));
    expect(requests[0]?.head).toContain('content-type: image/x-mine; q=1');
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('global options before and after the name of the command: both hold', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox({MEDIA_API_KEY: key});
    const before = await box.run(['--base-url', service.url, '--quiet', 'upload', photo, picture]);
    const after = await box.run(['upload', photo, picture, '--quiet', '--base-url', service.url]);
    expect(before).toMatchObject({stderr: '', exitCode: 0});
    expect(after).toMatchObject({stderr: '', exitCode: 0});
    expect(await storedBytes(service)).toHaveLength(4);
  });

  it('-- -dash.png: a file whose name looks like an option', async () => {
    const {service, sandbox} = await connectedSandbox();
    await copyFile(photo, join(sandbox.directory, '-dash.png'));
    await copyFile(picture, join(sandbox.directory, '--json'));
    const {stdout, exitCode} = await sandbox.run([
      'upload',
      '--ndjson',
      '--content-type',
      'image/png',
      '--',
      '-dash.png',
      '--json',
    ]);
    const lines = linesOf(stdout, '--json', '-dash.png');
    expect(lines).toMatchObject([{file: '--json'}, {file: '-dash.png'}]);
    expect(await storedBytes(service)).toHaveLength(2);
    expect(exitCode).toBe(0);
  });
});

describe('media upload --base-url embedded', () => {
  it.each([
    ['--base-url embedded', ['--base-url', 'embedded'], {}],
    ['MEDIA_BASE_URL=embedded', [], {MEDIA_BASE_URL: 'embedded'}],
  ])('%s: stored under the user’s data directory, with nothing set up', async (_name, parameters, env) => {
    const box = await sandbox(env as Record<string, string>);
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--format', 'url', ...parameters]);
    const files = join(box.directory, 'data/media/embedded/files');
    const [id = ''] = await readdir(files);
    expect(await readFile(join(files, id))).toEqual(await readFile(photo));
    expect(stdout).toBe(`http://127.0.0.1:4010/files/${id}\n`);
    expect(stderr).toBe("Stored by the embedded service; the record's URLs work while media serve runs.\n");
    expect(exitCode).toBe(0);
  });

  it('with a stored login and MEDIA_API_KEY: neither is needed nor used', async () => {
    const box = await sandbox({MEDIA_API_KEY: 'key-of-another-service'});
    const {exitCode} = await box.run(['upload', photo, '--base-url', 'embedded', '--template', '{id}\\n']);
    expect(exitCode).toBe(0);
  });
});

describe('what media upload needs', () => {
  it('nothing configured: exit 4, names media login and --base-url embedded', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['upload', photo]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 4});
    expect(stderr).toBe(
      'media: Nothing is configured yet: profile default has no base URL and no API key.\n' +
        '  Try it on this machine with --base-url embedded, or store a key: media login --key-stdin --base-url URL\n',
    );
  });

  it('nothing configured, --profile staging: the login that is named is for that profile', async () => {
    const {stderr, exitCode} = await (await sandbox()).run(['upload', photo, '--profile', 'staging']);
    expect(stderr).toContain('or create it: media login --key-stdin --profile staging --base-url URL\n');
    expect(exitCode).toBe(4);
  });

  it('MEDIA_API_KEY alone: exit 4, the base URL is missing', async () => {
    const {stderr, exitCode} = await (await sandbox({MEDIA_API_KEY: 'key-123456'})).run(['upload', photo]);
    expect(stderr).toContain('There is an API key but no base URL to send it to.');
    expect(exitCode).toBe(4);
  });

  it('--base-url alone: exit 4, the key is missing, no connection is made', async () => {
    const {url, server} = await scriptedServer(connection => connection.answer(200, someRecord));
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const {stderr, exitCode} = await (await sandbox()).run(['upload', photo, '--base-url', url]);
    expect(stderr).toContain(`There is no API key for ${url}.`);
    expect(exitCode).toBe(4);
    expect(connections).toBe(0);
  });
});

describe('the exit status of media upload', () => {
  it('a file that does not exist: 1; beside one that does: 3', async () => {
    const {service, sandbox} = await connectedSandbox();
    const alone = await sandbox.run(['upload', 'gone.png']);
    expect(alone).toMatchObject({stdout: '', stderr: 'media: gone.png does not exist.\n', exitCode: 1});
    const beside = await sandbox.run(['upload', 'gone.png', photo]);
    expect(beside.stdout).toContain('file_missing');
    expect(beside.stderr).toBe(
      ['media: gone.png does not exist.', '1 uploaded, 0 skipped, 1 failed, 0 unknown\n'].join('\n'),
    );
    expect(beside.exitCode).toBe(3);
    expect(await storedBytes(service)).toEqual(await bytesOf(photo));
  });

  it('an empty file: 1, before any request', async () => {
    const {url, requests} = await scriptedServer(connection => connection.answer(200, someRecord));
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key-of-the-test-1234'});
    await writeFile(join(box.directory, 'empty.png'), '');
    const {stderr, exitCode} = await box.run(['upload', 'empty.png']);
    expect(stderr).toBe('media: empty.png is empty: there is nothing to upload.\n');
    expect(exitCode).toBe(1);
    expect(requests).toEqual([]);
  });

  it('an unknown key (401): 4, nothing is stored', async () => {
    const {service} = await embeddedService();
    const box = await sandbox({MEDIA_BASE_URL: service.url, MEDIA_API_KEY: 'mk_nobody-knows-this-key'});
    const {stdout, exitCode} = await box.run(['upload', photo, picture, '--ndjson']);
    const lines = linesOf(stdout, photo, picture);
    expect(lines[0]).toMatchObject({status: 'failed', error: {code: 'unauthorized', status: 401}});
    expect(['unauthorized', 'not_tried']).toContain(lines[1].error.code);
    expect(await service.records()).toEqual([]);
    expect(exitCode).toBe(4);
  });

  it.each([403, 404] as const)('a key without the permission to upload (%i): 4', async deniedStatus => {
    const {service} = await embeddedService(denyingWith(deniedStatus));
    const key = await service.createKey({permissions: ['graphql']});
    const box = await sandbox({MEDIA_BASE_URL: service.url, MEDIA_API_KEY: key});
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toContain(`returned ${deniedStatus}`);
    expect(exitCode).toBe(4);
    expect(await service.records()).toEqual([]);
  });

  it('a port where nobody listens: 6', async () => {
    const {run} = await sandboxFor(await deadUrl());
    const {stderr, exitCode} = await run(['upload', photo, '--retries', '0']);
    expect(stderr).toContain('the connection was refused');
    expect(exitCode).toBe(6);
  });

  it('a connection that breaks after the last byte: 5', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.reset();
    });
    const {run} = await sandboxFor(url);
    const {stdout, stderr, exitCode} = await run(['upload', photo, '--ndjson']);
    expect(linesOf(stdout, photo)).toMatchObject([
      {status: 'unknown', error: {code: 'outcome_unknown'}, attempts: 1},
    ]);
    expect(stderr).toMatch(/^media: .*may or may not be stored/);
    expect(exitCode).toBe(5);
  });
});

/** A sandbox that is set up for a server of ours. */
async function sandboxFor(url: string) {
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
  return {directory: box.directory, run: box.run.bind(box)};
}
