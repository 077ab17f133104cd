import {mkdir, writeFile} from 'node:fs/promises';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {deadUrl} from '../../../engine/service/support.ts';
import {freePort} from '../../../support/free-ports.ts';
import {listen, urlOf} from '../../../support/loopback.ts';
import {readingRequests} from '../../../support/read-requests.ts';

interface Line {
  file: string;
  status: string;
  attempts: number;
  error?: {code: string; message: string; status?: number; hint?: string};
}

const workers = 8;

/** What a gateway that reads each request whole before it passes it on does with one; returns the status. */
type Behaviour = (request: {isProbe: boolean; body: string}) => number;

/** A gateway, and how often it has taken each content. */
async function gateway(behaviour: Behaviour) {
  const stored = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request.setEncoding('latin1')) body += chunk;
    const status = behaviour({isProbe: request.method === 'GET', body});
    if (status === 200) stored.set(body, (stored.get(body) ?? 0) + 1);
    response.writeHead(status).end(status === 200 ? `{"id":"m_${stored.size}"}` : '<html>');
  };
  // A probe that announces a body never sends it.
  const server = createServer(readingRequests(answer));
  await listen(server);
  return {url: urlOf(server), stored};
}

/** A sandbox with so many small files in `files`, no two alike. */
async function withFiles(url: string, count: number) {
  const box = await sandboxFor(url);
  await mkdir(join(box.directory, 'files'));
  const contents = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const content = `${'\x89PNG\r\n\x1a\n'.padEnd(56)}\n${index}`;
    contents.set(`files/${index}.png`, content);
    await writeFile(join(box.directory, `files/${index}.png`), content, 'latin1');
  }
  const upload = async (...parameters: string[]) => {
    const {stdout, stderr, exitCode} = await box.run(['upload', '-r', 'files', '--ndjson', ...parameters]);
    const lines: Line[] = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const counts: Record<string, number> = {};
    for (const {status, error} of lines) {
      const kind = status === 'failed' ? `failed ${error?.code}` : status;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return {lines, counts, stderr, exitCode};
  };
  return {box, contents, upload};
}

test('a gateway whose service is away for a probe: as many unknown as workers, none failed, all others stored once', async () => {
  let requests = 0;
  let probes = 0;
  const {url, stored} = await gateway(({isProbe}) => {
    if (isProbe) probes += 1;
    else requests += 1;
    if (isProbe) return probes < 2 ? 502 : 404;
    return requests > 20 && probes < 2 ? 502 : 200;
  });
  const {contents, upload} = await withFiles(url, 100);
  const {lines, counts, exitCode} = await upload('-c', String(workers));
  const {unknown = 0} = counts;
  expect(counts).toEqual({uploaded: 100 - unknown, unknown});
  expect(unknown).toBeGreaterThan(0);
  expect(unknown).toBeLessThanOrEqual(workers);
  expect(exitCode).toBe(5);
  for (const {file, status} of lines)
    expect(stored.get(contents.get(file) ?? '') ?? 0).toBe(status === 'uploaded' ? 1 : 0);
});

test('a service that listens again once the outage is noticed: none has failed, each file is stored once', async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"id":"m_1"}'));
  });
  const port = await freePort();
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const {box} = await withFiles(`http://127.0.0.1:${port}`, 40);
  const upload = box.start(['upload', '-r', 'files', '--verbose', '--template', '{id}\\n']);
  let told = '';
  upload.stderr.on('data', chunk => {
    told += chunk;
    if (told.includes('The service is unavailable') && !server.listening) server.listen(port, '127.0.0.1');
  });
  const {stderr, exitCode} = await upload;
  expect(stderr).toContain('The service is unavailable: waiting for it.\n');
  expect(stderr).toContain('The service is back.\n');
  expect(stderr).toContain('40 uploaded, 0 skipped, 0 failed, 0 unknown\n');
  expect(exitCode).toBe(0);
});

test('nothing listens for longer than --retry-max-wait: all fail for that one reason, exit 6', async () => {
  const url = await deadUrl();
  const {upload} = await withFiles(url, 40);
  const {lines, counts, stderr, exitCode} = await upload('--retry-max-wait', '4s', '-c', '4');
  const {host} = new URL(url);
  expect(counts).toEqual({'failed outage': 4, 'failed not_tried': 36});
  expect(lines.find(({error}) => error?.code === 'outage')?.error).toEqual({
    code: 'outage',
    message: expect.stringMatching(
      new RegExp(
        `^${host} was unavailable for [\\d.]+ s\\. Nothing is listening at ${host}: the connection was refused\\.`,
      ),
    ),
    hint: 'Try again when it is back, or wait longer for it with --retry-max-wait.',
  });
  expect(stderr).toMatch(/^media: 4 files: .* was unavailable for /m);
  expect(exitCode).toBe(6);
});

test('a file that is always refused with 502, --on-unknown retry: the others are uploaded, and it keeps to --retries', async () => {
  let tries = 0;
  const {url, stored} = await gateway(({isProbe, body}) => {
    if (isProbe) return 405;
    if (!body.endsWith('\n0')) return 200;
    tries += 1;
    return 502;
  });
  const {upload} = await withFiles(url, 20);
  const {counts, lines, exitCode} = await upload('-c', '4', '--on-unknown', 'retry', '--retries', '1');
  expect(counts).toEqual({uploaded: 19, unknown: 1});
  expect(lines.find(({status}) => status === 'unknown')?.error?.hint).toBe(
    'Check whether the service has the file. To send it again, upload only that file.',
  );
  expect([...stored.values()]).toEqual(Array.from({length: 19}, () => 1));
  // Once more where nothing else was under way, so that it could have been an outage.
  expect([2, 3]).toContain(tries);
  expect(exitCode).toBe(5);
});

test('--retries 0 while the service is away: no file is tried again', async () => {
  let away = true;
  let refused = 0;
  const {url} = await gateway(({isProbe}) => {
    if (isProbe) away = false;
    else if (away) refused += 1;
    return away ? 502 : 200;
  });
  const {upload} = await withFiles(url, 20);
  const {counts, exitCode} = await upload('--retries', '0', '-c', '4');
  expect(counts).toEqual({uploaded: 20 - refused, unknown: refused});
  expect(exitCode).toBe(5);
});

test('--deadline while the service is away: what waits fails for the outage, exit 6', async () => {
  // Long enough for a busy machine to try four files.
  const {upload} = await withFiles(await deadUrl(), 40);
  const {lines, counts, exitCode} = await upload('--deadline', '6s', '-c', '4');
  expect(counts).toEqual({'failed outage': 4, 'failed not_tried': 36});
  expect(lines.find(({error}) => error?.code === 'outage')?.error).toMatchObject({
    message: expect.stringContaining('The deadline of this run has passed.'),
    hint: 'Allow more time with --deadline.',
  });
  expect(exitCode).toBe(6);
});
