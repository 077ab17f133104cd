import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, type Sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

/** Pictures by their paths, each told from others by the text behind its bytes. */
async function pictures(sandbox: Sandbox, files: Record<string, string>): Promise<void> {
  const png = await readFile(fixture('photo.png'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(sandbox.directory, name, '..'), {recursive: true});
    await writeFile(join(sandbox.directory, name), Buffer.concat([png, Buffer.from(text)]));
  }
}

function statuses(stdout: string): Record<string, string> {
  const lines = stdout
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line));
  return Object.fromEntries(lines.map(({file, status}) => [file, status]));
}

describe('two roots with files of the same relative path, in flight at once', () => {
  it('of the same content: sent once, the other takes its record, and the journal stands', async () => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, {'a/x.png': 'same', 'b/x.png': 'same', 'b/z.png': 'z'});
    const bodies: string[] = [];
    let onZ = () => {};
    // z.png comes after both: when it is sent, the second x.png has been taken up too.
    const zArrived = new Promise<void>(resolve => {
      onZ = resolve;
    });
    const {url} = await scriptedServer(async connection => {
      const text = (await connection.request()).body.toString('latin1').slice(-4);
      bodies.push(text);
      if (text === 'same') await zArrived;
      else onZ();
      connection.answer(200, someRecord.replace('m_1', `m_${bodies.length}`));
    });
    const {stdout, exitCode} = await sandbox.run(
      ['upload', '-r', 'a', 'b', '-c', '8', '--journal', 'j', '--ndjson'],
      {env: {...sandbox.env, MEDIA_BASE_URL: url}},
    );
    expect(exitCode).toBe(0);
    const {'a/x.png': one, 'b/x.png': other, 'b/z.png': z} = statuses(stdout);
    // Whichever of the two is hashed first.
    expect([[one, other].sort(), z]).toEqual([['skipped', 'uploaded'], 'uploaded']);
    expect(bodies.filter(text => text === 'same')).toHaveLength(1);
    const check = await sandbox.run(['journal', 'check', 'j', '--', 'a', 'b']);
    expect({stderr: check.stderr, exitCode: check.exitCode}).toEqual({
      stderr: '3 inputs, each recorded exactly once.\n',
      exitCode: 0,
    });
  });

  it('of different content: both are sent, and both are known to the next run', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, {'a/x.png': 'one', 'b/x.png': 'two'});
    const run = () => sandbox.run(['upload', '-r', 'a', 'b', '--journal', 'j', '--json']);
    const first = await run();
    const second = await run();
    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(second.stdout).toBe(first.stdout);
    expect(await service.records()).toHaveLength(2);
    expect((await sandbox.run(['journal', 'check', 'j', '--', 'a', 'b'])).exitCode).toBe(0);
  });

  it('of the same content, refused: each is tried', async () => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, {'a/x.png': 'same', 'b/x.png': 'same'});
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(415, '{"code":1,"message":"no"}');
    });
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'a', 'b', '--journal', 'j', '--ndjson'], {
      env: {...sandbox.env, MEDIA_BASE_URL: url},
    });
    expect(exitCode).toBe(1);
    expect(statuses(stdout)).toEqual({'a/x.png': 'failed', 'b/x.png': 'failed'});
    expect(requests).toHaveLength(2);
  });
});

it('stored without a response, sent again and refused, sent once more: one key, and stored once', async () => {
  const {sandbox} = await connectedSandbox();
  await pictures(sandbox, {'a/x.png': 'x'});
  const answers = [502, 415, 200];
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    const status = answers.shift() ?? 500;
    connection.answer(status, status === 200 ? someRecord : '{"code":1,"message":"no"}');
  });
  const run = () =>
    sandbox.run(
      ['upload', 'a/x.png', '--journal', 'j', '--ndjson', '--on-unknown', 'retry', '--retries', '0'],
      {
        env: {...sandbox.env, MEDIA_BASE_URL: url},
      },
    );
  const seen = [];
  const errors = [];
  for (let count = 0; count < 3; count += 1) {
    const {stdout, exitCode} = await run();
    seen.push([statuses(stdout)['a/x.png'], exitCode]);
    errors.push(JSON.parse(stdout).error);
  }
  expect(errors[1].message).toMatch(/^a\/x\.png was sent completely before .* The last attempt: .*415/);
  expect(errors[1].hint).not.toContain('--on-unknown');
  // The refusal of the second says nothing of the first.
  expect(seen).toEqual([
    ['unknown', 5],
    ['unknown', 5],
    ['uploaded', 0],
  ]);
  const keys = requests.map(({head}) => head.find(line => line.toLowerCase().startsWith('idempotency-key')));
  expect(new Set(keys).size).toBe(1);
});

describe('a journal whose record of a stored file was spoilt', () => {
  const spoilt = async (record: string) => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, {'a/x.png': 'x', 'a/y.png': 'y'});
    await sandbox.run(['upload', '-r', 'a', '-c', '1', '--journal', 'j']);
    const journal = join(sandbox.directory, 'j');
    const lines = (await readFile(journal, 'utf8')).split('\n');
    const line = lines.findIndex(text => text.includes('"event":"done"'));
    lines[line] = `${lines[line]?.replace(/"record":.*/, `"record":${record}}`)}`;
    await writeFile(journal, lines.join('\n'));
    const run = await sandbox.run(['upload', '-r', 'a', '--journal', 'j', '--ndjson']);
    expect(await service.records()).toHaveLength(2);
    return {...run, line: line + 1};
  };

  it.each([
    ['without an ID', '{"size":1}'],
    ['nested too deeply', `{"id":"m","x":${'['.repeat(600)}${']'.repeat(600)}}`],
  ])('%s: journal_unusable with its line, and nothing is sent', async (_name, record) => {
    const {stdout, stderr, exitCode, line} = await spoilt(record);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'journal_unusable',
      message: `The journal j is damaged: line ${line} is not a journal line.`,
    });
  });
});
