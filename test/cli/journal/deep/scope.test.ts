import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {shardOf} from '../../../../src/engine/sources/find/shard.ts';
import {connectedSandbox, embeddedService} from '../../../support/embedded.ts';
import {fixture} from '../../../support/media.ts';

const photo = fixture('photo.png');
const upload = ['upload', photo, '--journal', 'j', '--json'];

describe('a journal and another service', () => {
  it('the same command with another base URL: refused, both named, nothing sent, the journal as it was', async () => {
    const {service, sandbox} = await connectedSandbox();
    const other = await embeddedService();
    expect((await sandbox.run(upload)).exitCode).toBe(0);
    const before = await readFile(join(sandbox.directory, 'j'), 'utf8');
    expect(before.split('\n')[0]).toBe(`{"journal":"media","version":2,"service":"${service.url}"}`);
    const env = {...sandbox.env, MEDIA_BASE_URL: other.service.url, MEDIA_API_KEY: other.key};
    const {stdout, stderr, exitCode} = await sandbox.run(upload, {env});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(JSON.parse(stderr).error).toEqual({
      code: 'journal_of_other_service',
      message: `The journal j belongs to ${service.url}, but this run uploads to ${other.service.url}.`,
      hint: 'Nothing was sent. Keep a journal for each service: use another file with --journal.',
    });
    expect(await other.service.records()).toEqual([]);
    expect(await readFile(join(sandbox.directory, 'j'), 'utf8')).toBe(before);
    // A slash at the end of the base URL makes no other service.
    const slash = {...sandbox.env, MEDIA_BASE_URL: `${service.url}/`};
    expect((await sandbox.run(upload, {env: slash})).exitCode).toBe(0);
    expect(await service.records()).toHaveLength(1);
  });

  it('first embedded, then the real service, then embedded with other data: only the first may go on', async () => {
    const {service, sandbox} = await connectedSandbox();
    const embedded = [...upload, '--base-url', 'embedded'];
    expect((await sandbox.run(embedded)).exitCode).toBe(0);
    expect(await sandbox.run(upload)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('belongs to the embedded service ('),
    });
    expect(await service.records()).toEqual([]);
    const elsewhere = {...sandbox.env, XDG_DATA_HOME: join(sandbox.directory, 'elsewhere')};
    expect((await sandbox.run(embedded, {env: elsewhere})).stderr).toContain('journal_of_other_service');
    // Started anew it listens on another port, and is the same service all the same.
    expect(
      (await sandbox.run([...embedded.slice(0, -3), '--ndjson', ...embedded.slice(-2)])).stdout,
    ).toContain('"status":"skipped"');
  });
});

describe('a journal and another shard', () => {
  it('written for one part: no other part goes on with it, nor does a run without --shard', async () => {
    const {service, sandbox} = await connectedSandbox();
    await copyFile(photo, join(sandbox.directory, 'photo.png'));
    const own = shardOf(Buffer.from('photo.png'), 2);
    const run = (...parameters: string[]) =>
      sandbox.run(['upload', 'photo.png', '--journal', 'j', '--json', ...parameters]);
    const {stdout: record} = await run('--shard', `${own}/2`);
    expect(record).toContain('"id"');
    for (const [parameters, name] of [
      [['--shard', '1/1'], 'shard 1/1'],
      [[], 'no shard'],
    ] as const) {
      for (const mode of [[], ['--dry-run']]) {
        const {stdout, stderr, exitCode} = await run(...parameters, ...mode);
        expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
        expect(JSON.parse(stderr).error.message).toBe(
          `The journal j was written for shard ${own}/2, but this run is for ${name}.`,
        );
      }
    }
    expect((await run('--shard', `${own}/2`, '--dry-run')).stdout).toBe(record);
    expect((await run('--shard', `${own}/2`)).stdout).toBe(record);
    // Joined from its parts, it goes on without one.
    expect((await sandbox.run(['journal', 'merge', '-o', 'all', 'j'])).exitCode).toBe(0);
    expect((await run('--journal', 'all')).stdout).toBe(record);
    expect(await service.records()).toHaveLength(1);
  });
});

describe('a journal and a later shard', () => {
  it('written without --shard: no part goes on with it', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout: record} = await sandbox.run(upload);
    const {stdout, stderr, exitCode} = await sandbox.run([...upload, '--shard', '1/1']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(JSON.parse(stderr).error.message).toBe(
      'The journal j was written for no shard, but this run is for shard 1/1.',
    );
    expect((await sandbox.run(upload)).stdout).toBe(record);
    expect(await service.records()).toHaveLength(1);
  });
});

it.each([
  ['the first version', '{"journal":"media","version":1}\n', 'version 1'],
  ['a later version', '{"journal":"media","version":3,"service":"x"}\n', 'version 3'],
])('%s: refused with a sentence, nothing sent, left as it was', async (_name, text, version) => {
  const {service, sandbox} = await connectedSandbox();
  await writeFile(join(sandbox.directory, 'j'), text);
  const {stdout, stderr, exitCode} = await sandbox.run(upload);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect(JSON.parse(stderr).error.message).toBe(
    `j is a journal of ${version}, but this version of media reads only version 2.`,
  );
  expect(await service.records()).toEqual([]);
  expect(await readFile(join(sandbox.directory, 'j'), 'utf8')).toBe(text);
});

it('parts of different services: neither merged nor checked together', async () => {
  const {service, sandbox} = await connectedSandbox();
  const other = await embeddedService();
  await sandbox.run(upload);
  const env = {...sandbox.env, MEDIA_BASE_URL: other.service.url, MEDIA_API_KEY: other.key};
  await sandbox.run(['upload', photo, '--journal', 'k'], {env});
  for (const command of [
    ['merge', '-o', 'all', 'j', 'k'],
    ['check', 'j', 'k', '--', photo],
  ]) {
    expect(await sandbox.run(['journal', ...command])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`j belongs to ${service.url}, and k to ${other.service.url}.`),
    });
  }
});
