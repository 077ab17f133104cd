import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect} from 'vitest';
import {urlOf} from '../../support/loopback.ts';
import {Sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {readingRequests} from '../../support/read-requests.ts';

export const rules = ['extension', 'content', 'strict'] as const;
export type Rule = (typeof rules)[number];

export function sum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A sandbox for a whole group of tests, and a service that notes under which type which bytes came. */
export async function groupSandbox() {
  const directory = await mkdtemp(join(tmpdir(), 'media-types-'));
  const stored = new Map<string, {contentType: string | undefined; sum: string}>();
  const server = createServer(
    readingRequests(async (request, response) => {
      const hash = createHash('sha256');
      for await (const bytes of request) hash.update(bytes as Buffer);
      const id = `m_${stored.size + 1}`;
      stored.set(id, {contentType: request.headers['content-type'], sum: hash.digest('hex')});
      response.end(JSON.stringify({id}));
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const box = new Sandbox(directory, {MEDIA_BASE_URL: urlOf(server), MEDIA_API_KEY: 'mk_1'});
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, {recursive: true, force: true});
  };
  return {stored, box, close};
}

/** Uploads the inputs in one run: what became of each, and under which type which bytes were stored. */
export async function uploadBatch(
  {stored, box}: Awaited<ReturnType<typeof groupSandbox>>,
  inputs: string[],
  rule: Rule,
) {
  const options = rule === 'extension' ? [] : ['--types', rule];
  const {stdout} = await box.run(['upload', '--ndjson', ...options, ...inputs], slowTest);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const uploaded = lines.filter(({status}) => status === 'uploaded');
  expect(stored.size).toBe(uploaded.length);
  return {
    of: (input: string) => {
      const line = lines.find(({file}) => file === input);
      return {line, stored: stored.get(line?.record?.id)};
    },
  };
}
