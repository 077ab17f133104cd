import {copyFile, mkdir, readFile, rename, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../../../src/host.ts';
import {MediaClient} from '../../../../src/library/media-client.ts';
import {sourceOf} from '../../../../src/library/sources.ts';
import {uploadAll} from '../../../../src/library/upload-all.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {inputOf, upload as leave, openJournal} from '../../../support/journal.ts';
import {fixture, type Sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord, uploadsIn} from '../../../support/scripted-server.ts';

/** A picture told from others by the text behind its bytes, of a time long ago. */
async function picture(sandbox: Sandbox, name: string, text: string): Promise<void> {
  const path = join(sandbox.directory, name);
  await mkdir(join(path, '..'), {recursive: true});
  await writeFile(path, Buffer.concat([await readFile(fixture('photo.png')), Buffer.from(text)]));
  await utimes(path, 1_000_000_000, 1_000_000_000);
}

function statuses(stdout: string): string[] {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map(line => JSON.parse(line).status as string).sort();
}

describe('one journal, and its files under other names', () => {
  it('few/*.jpg, then -r few, a list, renamed, copied, another spelling: sent once, and check agrees each time', async () => {
    const {service, sandbox} = await connectedSandbox();
    for (const name of ['a', 'b', 'c']) await picture(sandbox, `few/${name}.png`, name);
    const run = async (...inputs: string[]) => {
      const {stdout, exitCode} = await sandbox.run(['upload', ...inputs, '--journal', 'j', '--ndjson']);
      expect(exitCode).toBe(0);
      return statuses(stdout);
    };
    const skipped = ['skipped', 'skipped', 'skipped'];
    expect(await run('few/*.png')).toEqual(['uploaded', 'uploaded', 'uploaded']);
    expect(await run('-r', 'few')).toEqual(skipped);
    await writeFile(join(sandbox.directory, 'list'), 'few/a.png\nfew/../few/b.png\n./few/c.png\n');
    expect(await run('--files-from', 'list')).toEqual(skipped);
    await rename(join(sandbox.directory, 'few/a.png'), join(sandbox.directory, 'few/renamed.png'));
    await rename(join(sandbox.directory, 'few'), join(sandbox.directory, 'moved'));
    // Of one name, composed and decomposed.
    await copyFile(join(sandbox.directory, 'moved/b.png'), join(sandbox.directory, 'moved/caf\u00e9.png'));
    await copyFile(join(sandbox.directory, 'moved/b.png'), join(sandbox.directory, 'moved/cafe\u0301.png'));
    expect(await run('-r', 'moved')).toEqual([...skipped, 'skipped', 'skipped']);
    expect(await service.records()).toHaveLength(3);
    expect((await sandbox.run(['journal', 'check', 'j', '--', 'moved'])).stderr).toBe(
      '5 inputs, each recorded exactly once.\n',
    );
  });

  it('another --content-type than before: sent as that', async () => {
    const {service, sandbox} = await connectedSandbox();
    const run = async (type: string) => {
      const command = ['upload', fixture('photo.png'), '--journal', 'j', '--ndjson', '--content-type', type];
      return statuses((await sandbox.run(command)).stdout);
    };
    expect(await run('image/png')).toEqual(['uploaded']);
    expect(await run('image/gif')).toEqual(['uploaded']);
    expect(await run('image/gif')).toEqual(['skipped']);
    const types = (await service.records()).map(({contentType}) => contentType);
    expect(types.sort()).toEqual(['image/gif', 'image/png']);
  });

  it('other bytes with the same size and mtime: uploaded, not skipped', async () => {
    const {service, sandbox} = await connectedSandbox();
    await picture(sandbox, 'a.png', 'before');
    const run = async () =>
      statuses((await sandbox.run(['upload', 'a.png', '--journal', 'j', '--ndjson'])).stdout);
    expect(await run()).toEqual(['uploaded']);
    await picture(sandbox, 'a.png', 'behind');
    expect((await sandbox.run(['journal', 'check', 'j', '--', 'a.png'])).exitCode).toBe(1);
    expect(await run()).toEqual(['uploaded']);
    expect(await run()).toEqual(['skipped']);
    expect(await service.records()).toHaveLength(2);
  });

  it('two equal files at once, the first stored without a response: both unknown, sent once', async () => {
    const {sandbox} = await connectedSandbox();
    await picture(sandbox, 'a.png', 'same');
    await picture(sandbox, 'b.png', 'same');
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(502, 'gone');
    });
    const env = {...sandbox.env, MEDIA_BASE_URL: url};
    const {stdout, exitCode} = await sandbox.run(['upload', 'a.png', 'b.png', '--journal', 'j', '--ndjson'], {
      env,
    });
    expect({statuses: statuses(stdout), exitCode}).toEqual({statuses: ['unknown', 'unknown'], exitCode: 5});
    expect(uploadsIn(requests)).toHaveLength(1);
  });
});

it('bytes in memory of one name and length: each content is sent, and once', async () => {
  const {service, key, sandbox} = await connectedSandbox();
  const client = new MediaClient({baseUrl: service.url, apiKey: key});
  const png = await readFile(fixture('photo.png'));
  const sources = ['one', 'two', 'one'].map(text =>
    sourceOf('same.png', Buffer.concat([png, Buffer.from(text)])),
  );
  const seen: string[] = [];
  for (let call = 0; call < 2; call += 1)
    for await (const {status} of uploadAll(sources, {
      client,
      journal: join(sandbox.directory, 'j'),
      concurrency: 1,
    }))
      seen.push(status);
  await client.close();
  expect(seen).toEqual(['uploaded', 'uploaded', 'skipped', 'skipped', 'skipped', 'skipped']);
  expect(await service.records()).toHaveLength(2);
});

it('a record 500 levels deep: printed, journalled, and printed again', async () => {
  const {sandbox} = await connectedSandbox();
  await picture(sandbox, 'a.png', 'deep');
  const record = someRecord.replace('{', `{"deep":${'['.repeat(499)}${']'.repeat(499)},`);
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, record);
  });
  const env = {...sandbox.env, MEDIA_BASE_URL: url};
  for (let run = 0; run < 2; run += 1) {
    const {stdout, exitCode} = await sandbox.run(['upload', 'a.png', '--journal', 'j', '--json'], {env});
    expect({stdout, exitCode}).toEqual({stdout: `${record}\n`, exitCode: 0});
  }
  expect(requests).toHaveLength(1);
});

it('a dry run with the journal: says what was uploaded before, what is unknown and what would be sent; writes nothing', async () => {
  const {service, sandbox} = await connectedSandbox();
  for (const name of ['a', 'b']) await picture(sandbox, `in/${name}.png`, name);
  const upload = (...parameters: string[]) =>
    sandbox.run(['upload', '-r', 'in', '--journal', 'j', ...parameters]);
  expect((await upload('--dry-run')).stderr).toContain('2 will be uploaded, 0 failed\n');
  await expect(readFile(join(sandbox.directory, 'j'))).rejects.toThrow('ENOENT');
  await upload();
  await rename(join(sandbox.directory, 'in/a.png'), join(sandbox.directory, 'in/renamed.png'));
  await picture(sandbox, 'in/c.png', 'c');
  const [path, drawing] = [join(sandbox.directory, 'j'), '<svg xmlns="http://www.w3.org/2000/svg"/>'];
  await writeFile(join(sandbox.directory, 'in/d.svg'), drawing);
  const journal = await openJournal(path, systemHost(), {scope: {service: service.url}});
  await leave(journal, inputOf('d.svg', drawing), 'commit').finally(() => journal.close());
  const before = await readFile(join(sandbox.directory, 'j'), 'utf8');
  const {stdout, stderr, exitCode} = await upload('--dry-run', '--ndjson', '-v');
  expect(statuses(stdout)).toEqual(['checked', 'skipped', 'skipped', 'unknown']);
  expect(stderr).toContain('1 will be uploaded, 2 uploaded before, 1 unknown, 0 failed\n');
  expect(exitCode).toBe(5);
  const other = await sandbox.run(['upload', 'in/c.png', '--journal', 'j', '--dry-run'], {
    env: {...sandbox.env, MEDIA_BASE_URL: 'http://127.0.0.1:9'},
  });
  expect(other).toMatchObject({exitCode: 1, stderr: expect.stringContaining('belongs to')});
  expect(await readFile(join(sandbox.directory, 'j'), 'utf8')).toBe(before);
  expect(await service.records()).toHaveLength(2);
});
