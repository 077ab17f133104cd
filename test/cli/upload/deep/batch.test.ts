import {copyFile, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture, mediaCommand, type Sandbox} from '../../../support/media.ts';
import {isUploadLook, scriptedServer, someRecord} from '../../../support/scripted-server.ts';

interface Line {
  file: string;
  status: string;
  record?: {id: string};
  error?: {code: string};
  fileBase64?: string;
}

function lines(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
}

/** A directory of so many small pictures, each different, named p000.png and on. */
async function pictures(sandbox: Sandbox, directory: string, count: number): Promise<string[]> {
  const png = await readFile(fixture('photo.png'));
  await mkdir(join(sandbox.directory, directory), {recursive: true});
  const names = Array.from({length: count}, (_, index) => `p${String(index).padStart(3, '0')}.png`);
  for (const [index, name] of names.entries()) {
    await writeFile(
      join(sandbox.directory, directory, name),
      Buffer.concat([png, Buffer.from(String(index))]),
    );
  }
  return names;
}

describe('media upload -r', () => {
  it('a tree: every file once, json in the order of the inputs', async () => {
    const {service, sandbox} = await connectedSandbox();
    const names = await pictures(sandbox, 'assets/deep/er', 40);
    const {stdout, stderr, exitCode} = await sandbox.run([
      'upload',
      '-r',
      'assets',
      '--template',
      '{file}\\n',
      '--no-progress',
    ]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe('40 uploaded, 0 skipped, 0 failed, 0 unknown\n');
    expect(stdout.split('\n').slice(0, -1)).toEqual(names.map(name => `assets/deep/er/${name}`));
    expect(await service.records()).toHaveLength(40);
  });

  it('a tree without -r: not_a_file, and a hint that names it', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 1);
    const {stderr, exitCode} = await sandbox.run(['upload', 'assets']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`media upload --base-url ${service.url} -r assets\n`);
    expect(await service.records()).toHaveLength(0);
  });

  it('an empty directory: nothing_matched, status 2; an empty list: a note, status 0', async () => {
    const {sandbox} = await connectedSandbox();
    await mkdir(join(sandbox.directory, 'empty'));
    const refused = await sandbox.run(['upload', '-r', 'empty', '--ndjson']);
    expect(refused.exitCode).toBe(2);
    expect(JSON.parse(refused.stderr).error.code).toBe('nothing_matched');
    await writeFile(join(sandbox.directory, 'list'), '\n\n');
    const stderr = 'The list names no file, so there is nothing to upload.\n';
    for (const format of [[], ['--json']])
      expect(await sandbox.run(['upload', '--files-from', 'list', ...format])).toMatchObject({
        ...{exitCode: 0, stdout: '', stderr},
      });
  });

  it('the same file by three names: sent once', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 2);
    const {exitCode} = await sandbox.run([
      'upload',
      '-r',
      'assets',
      'assets/p000.png',
      './assets/../assets/p001.png',
    ]);
    expect(exitCode).toBe(0);
    expect(await service.records()).toHaveLength(2);
  });

  it('a name that is not UTF-8: uploaded, with its bytes as fileBase64', async () => {
    const {service, sandbox} = await connectedSandbox();
    await mkdir(join(sandbox.directory, 'assets'));
    const bytes = Buffer.from('caf\xe9.png', 'latin1');
    await copyFile(
      fixture('photo.png'),
      Buffer.concat([Buffer.from(join(sandbox.directory, 'assets/')), bytes]),
    );
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'assets', '--ndjson', '--journal', 'j']);
    expect(exitCode).toBe(0);
    const [line] = lines(stdout);
    expect(Buffer.from(line?.fileBase64 ?? '', 'base64')).toEqual(
      Buffer.concat([Buffer.from('assets/'), bytes]),
    );
    expect(await service.records()).toHaveLength(1);
    const again = await sandbox.run(['upload', '-r', 'assets', '--ndjson', '--journal', 'j']);
    expect(lines(again.stdout).map(({status}) => status)).toEqual(['skipped']);
  });

  it('--exclude, a quoted pattern, lists of lines and of zero bytes', async () => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 12);
    await writeFile(join(sandbox.directory, 'list'), 'assets/p003.png\r\n\nassets/p004.png\n');
    await writeFile(join(sandbox.directory, 'list0'), 'assets/p005.png\0');
    const dry = async (...parameters: string[]) => {
      const {stdout, exitCode} = await sandbox.run([
        'upload',
        '--dry-run',
        '--ndjson',
        '-c',
        '1',
        ...parameters,
      ]);
      expect(exitCode).toBe(0);
      return lines(stdout).map(({file}) => file.replace('assets/', ''));
    };
    expect(await dry('-r', 'assets', '--exclude', 'p00*', '--exclude', 'p011*')).toEqual(['p010.png']);
    expect(await dry('assets/p01?.png')).toEqual(['p010.png', 'p011.png']);
    expect(await dry('--files-from', 'list', '--files-from', 'list0')).toEqual([
      'p003.png',
      'p004.png',
      'p005.png',
    ]);
  });

  it('64 file descriptors and 100 at a time, no retries: the limit is met, and all are uploaded', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 120);
    const command = `ulimit -n 64; exec "$0" "$@" -r assets -c 100 --retries 0 --journal j --verbose`;
    const options = {cwd: sandbox.directory, env: sandbox.env, extendEnv: false, reject: false} as const;
    const parameters = ['-c', command, ...mediaCommand, 'upload'];
    const {exitCode, stderr} = await execa('sh', parameters, options);
    expect(stderr).toContain('too many files are open. Next try when another file has ended.');
    expect(stderr).toContain('120 uploaded, 0 skipped, 0 failed, 0 unknown');
    expect(exitCode).toBe(0);
    expect(await service.records()).toHaveLength(120);
  });

  // Node 24 and later start WebAssembly there.
  it('a limit of address space: local_failure ends the run at once, in every command', async context => {
    const limited = (env: Record<string, string>, ...command: string[]) => {
      const words = ['-c', 'ulimit -v 8000000 && exec "$@"', 'sh', ...command];
      return execa('sh', words, {
        cwd: sandbox.directory,
        env,
        extendEnv: false,
        reject: false,
        stdin: 'ignore',
      });
    };
    const {service, sandbox} = await connectedSandbox();
    const probe = ['-e', 'try {new WebAssembly.Memory({initial: 1})} catch {process.exitCode = 9}'];
    const {exitCode: probed} = await limited(sandbox.env, process.execPath, ...probe);
    if (probed !== 9) notRun(context, 'WebAssembly starts here within 8 GB of address space');
    await pictures(sandbox, 'assets', 5);
    const media = (...words: string[]) => limited(sandbox.env, ...mediaCommand, ...words);
    const upload = ['upload', '-r', 'assets', '-c', '1', '--no-progress'];
    const error = {
      code: 'local_failure',
      message: 'The request failed in this process: there is too little address space for WebAssembly.',
      hint: 'It needs about 12 GB. Raise the limit with ulimit -v, or set: NODE_OPTIONS=--disable-wasm-trap-handler',
    };
    const {stdout, stderr, exitCode} = await media(...upload, '--ndjson', '--journal', 'j');
    expect(exitCode).toBe(1);
    const [first, ...others] = lines(stdout);
    expect(first).toMatchObject({status: 'failed', attempts: 1, error});
    expect(others.map(({error}) => error?.code)).toEqual(Array(4).fill('not_tried'));
    expect(stderr).not.toContain('may succeed');
    expect((await media(...upload)).stderr).toContain(`${error.message}\n  ${error.hint}`);
    for (const command of ['graphql', 'whoami', 'doctor']) {
      const result = await media(command, ...(command === 'graphql' ? ['{__typename}'] : []));
      expect({...result, output: result.stdout + result.stderr}).toMatchObject({
        exitCode: 1,
        output: expect.stringContaining(error.message),
      });
      expect(result.stdout + result.stderr).not.toContain('https:');
    }
    const env = {...sandbox.env, NODE_OPTIONS: '--disable-wasm-trap-handler'};
    expect(await service.records()).toEqual([]);
    expect(await limited(env, ...mediaCommand, ...upload, '--quiet')).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await service.records()).toHaveLength(5);
  });

  it('a rejected key: the batch halts after what was under way', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(401, '{"code":1,"message":"Unknown key."}');
    });
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 30);
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'assets', '-c', '2', '--ndjson'], {
      env: {...sandbox.env, MEDIA_BASE_URL: url},
    });
    expect(exitCode).toBe(4);
    const codes = lines(stdout).map(({error}) => error?.code);
    expect(codes.filter(code => code === 'unauthorized').length).toBeLessThanOrEqual(2);
    expect(codes.filter(code => code === 'not_tried').length).toBeGreaterThanOrEqual(28);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  it('a service that asks for time: one gate for all, then all are stored', async () => {
    let asked = 0;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      asked += 1;
      if (asked === 1) connection.answer(429, '', {'retry-after': '1'});
      else connection.answer(200, someRecord);
    });
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 6);
    const {stdout, exitCode} = await sandbox.run(['upload', '-r', 'assets', '-c', '3', '--ndjson'], {
      env: {...sandbox.env, MEDIA_BASE_URL: url},
    });
    expect(exitCode).toBe(0);
    expect(lines(stdout)).toHaveLength(6);
    expect(asked).toBe(7);
  });
});

describe('media upload --journal', () => {
  it('run again: nothing is sent, and all records are printed', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 10);
    const first = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--json']);
    const second = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--json']);
    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(second.stdout).toBe(first.stdout);
    expect(await service.records()).toHaveLength(10);
  });

  it('a changed file is uploaded again, a fresh copy under another root with new times is not', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 3);
    await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--json']);
    await mkdir(join(sandbox.directory, 'checkout'));
    for (const name of await readdir(join(sandbox.directory, 'assets'))) {
      const bytes = await readFile(join(sandbox.directory, 'assets', name));
      await writeFile(join(sandbox.directory, 'checkout', name), bytes);
    }
    await writeFile(join(sandbox.directory, 'checkout/p001.png'), await readFile(fixture('photo.png')));
    const {stdout} = await sandbox.run(['upload', '-r', 'checkout', '--journal', 'j', '--ndjson', '-c', '1']);
    expect(lines(stdout).map(({status}) => status)).toEqual(['skipped', 'uploaded', 'skipped']);
    expect(await service.records()).toHaveLength(4);
  });

  it('killed after the last byte: unknown and exit 5 until it is resolved', async () => {
    const {url} = await scriptedServer(async connection => {
      if (isUploadLook(await connection.request())) connection.answer(400);
      else process.kill(client.pid ?? 0, 'SIGKILL');
    });
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 1);
    const env = {...sandbox.env, MEDIA_BASE_URL: url};
    const client = sandbox.start(['upload', '-r', 'assets', '--journal', 'j'], {env});
    expect((await client).signal).toBe('SIGKILL');
    const again = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--ndjson'], {env});
    expect(again.exitCode).toBe(5);
    expect(lines(again.stdout)[0]).toMatchObject({status: 'unknown', error: {code: 'outcome_unknown'}});
    const [, ...advised] =
      /media (journal resolve j \S+ --uploaded) ID/.exec(again.stderr)?.[1]?.split(' ') ?? [];
    expect((await sandbox.run(['journal', ...advised, 'm_seen'])).exitCode).toBe(0);
    const last = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--json'], {env});
    expect([last.exitCode, last.stdout]).toEqual([0, '{"id":"m_seen"}\n']);
  });

  it('killed at any moment and run again: every file is stored once and listed once', async () => {
    const {service, sandbox} = await connectedSandbox();
    const names = await pictures(sandbox, 'assets', 60);
    for (const stored of [1, 15, 30, 45]) {
      const client = sandbox.start(['upload', '-r', 'assets', '--journal', 'j', '-c', '4']);
      await eventually(async () => (await service.records()).length >= stored);
      client.kill('SIGKILL');
      await client;
    }
    // The embedded service honours Idempotency-Key, which is what makes sending an unknown again safe.
    const {stdout, exitCode} = await sandbox.run([
      ...['upload', '-r', 'assets', '--journal', 'j', '--ndjson', '--on-unknown', 'retry'],
    ]);
    expect(exitCode).toBe(0);
    const files = lines(stdout).map(({file}) => file.replace('assets/', ''));
    expect(files.sort()).toEqual(names);
    const stored = (await service.records()).map(({sha256}) => sha256);
    expect(stored).toHaveLength(60);
    expect(new Set(stored).size).toBe(60);
    const ids = new Set((await service.records()).map(({record}) => record.id));
    expect(lines(stdout).every(({record}) => ids.has(record?.id ?? ''))).toBe(true);
    const check = await sandbox.run(['journal', 'check', 'j', '--', 'assets']);
    expect(check.exitCode).toBe(0);
  });

  it('another run holds the journal: journal_in_use, at once', async () => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 1);
    let second: Awaited<ReturnType<Sandbox['run']>> | undefined;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      second = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j', '--ndjson'], {env});
      connection.answer(200, someRecord);
    });
    const env = {...sandbox.env, MEDIA_BASE_URL: url};
    const first = await sandbox.run(['upload', '-r', 'assets', '--journal', 'j'], {env});
    expect(first.exitCode).toBe(0);
    expect(second?.exitCode).toBe(1);
    expect(JSON.parse(second?.stderr ?? '').error.code).toBe('journal_in_use');
  });
});

describe('media upload --shard', () => {
  it('1/4 to 4/4 together send every file once; the journals prove it', async () => {
    const {service, sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 40);
    const journals = ['1', '2', '3', '4'].map(part => `j${part}`);
    for (const [index, journal] of journals.entries()) {
      const {exitCode} = await sandbox.run([
        'upload',
        '-r',
        'assets',
        '--shard',
        `${index + 1}/4`,
        '--journal',
        journal,
      ]);
      expect(exitCode).toBe(0);
    }
    expect(await service.records()).toHaveLength(40);
    const merged = await sandbox.run(['journal', 'merge', '-o', 'all', ...journals]);
    expect(merged.exitCode).toBe(0);
    const check = await sandbox.run(['journal', 'check', 'all', '--', 'assets']);
    expect(check.exitCode).toBe(0);
  });

  it('auto in a Slurm array: the part that its variables say', async () => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 20);
    const slurm = {
      SLURM_ARRAY_TASK_ID: '1',
      SLURM_ARRAY_TASK_MIN: '0',
      SLURM_ARRAY_TASK_MAX: '3',
      SLURM_ARRAY_TASK_COUNT: '4',
      MEDIA_SHARD_COUNT: '4',
    };
    const auto = await sandbox.run(
      ['upload', '-r', 'assets', '--dry-run', '--ndjson', '-c', '1', '--shard', 'auto'],
      {
        env: {...sandbox.env, ...slurm},
      },
    );
    const named = await sandbox.run([
      'upload',
      '-r',
      'assets',
      '--dry-run',
      '--ndjson',
      '-c',
      '1',
      '--shard',
      '2/4',
    ]);
    const files = (stdout: string) => lines(stdout).map(({file}) => file);
    expect(files(auto.stdout)).toEqual(files(named.stdout));
    expect(files(auto.stdout).length).toBeGreaterThan(0);
  });

  it.each(['0/4', '5/4', 'x', '1/0'])('%s: usage, status 2', async shard => {
    const {sandbox} = await connectedSandbox();
    await pictures(sandbox, 'assets', 1);
    expect((await sandbox.run(['upload', '-r', 'assets', '--shard', shard])).exitCode).toBe(2);
  });
});
