import {appendFile, chmod, copyFile, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../../src/host.ts';
import {openJournal} from '../../support/journal.ts';
import {inHandsOfOthers, journals, machine, refusedOfJournal, refusedOfOnce} from './hands-of-others.ts';

describe('media upload --once', () => {
  it('what this machine has uploaded is skipped, under any name; its journal is private, and can be listed', async () => {
    const {sandbox, upload, stored} = await machine();
    expect(await sandbox.run(['journal', 'list'])).toMatchObject({exitCode: 0, stdout: ''});
    expect((await upload('--once', 'a.png')).statuses).toEqual(['uploaded']);
    await copyFile(join(sandbox.directory, 'a.png'), join(sandbox.directory, 'copy.png'));
    expect((await upload('--once', 'a.png', 'copy.png')).statuses).toEqual(['skipped', 'skipped']);
    expect((await upload('a.png')).statuses).toEqual(['uploaded']);
    expect(await stored()).toBe(2);
    const [name = ''] = await readdir(journals(sandbox));
    expect((await stat(journals(sandbox))).mode & 0o777).toBe(0o700);
    expect((await stat(join(journals(sandbox), name))).mode & 0o777).toBe(0o600);
    expect((await sandbox.run(['journal', 'list'])).stdout).toMatch(
      /^uploaded {2}a\.png {2}\S+\nuploaded {2}copy\.png {2}\S+\n$/,
    );
  });

  it('once in the profile: the default, which --no-once overrules', async () => {
    const {sandbox, service, key, upload, stored} = await machine();
    const config = {
      profiles: {default: {'base-url': service.url, key, 'key-origin': service.url, once: 'true'}},
    };
    await writeFile(join(sandbox.directory, 'config.json'), JSON.stringify(config), {mode: 0o600});
    sandbox.env['MEDIA_CONFIG_DIR'] = sandbox.directory;
    delete sandbox.env['MEDIA_BASE_URL'];
    delete sandbox.env['MEDIA_API_KEY'];
    expect((await upload('--dry-run', 'a.png')).statuses).toEqual(['checked']);
    expect((await upload('a.png')).statuses).toEqual(['uploaded']);
    expect((await upload('a.png')).statuses).toEqual(['skipped']);
    expect((await upload('--dry-run', 'a.png')).statuses).toEqual(['skipped']);
    expect((await upload('--dry-run', '--no-once', 'a.png')).statuses).toEqual(['checked']);
    expect((await upload('--no-once', 'a.png')).statuses).toEqual(['uploaded']);
    expect(await stored()).toBe(2);
    expect((await sandbox.run(['config', 'get', 'once'])).stdout).toBe('true\n');
    expect((await sandbox.run(['config', 'set', 'once', 'maybe'])).exitCode).toBe(2);
  });

  it('two profiles of one service, by option or variable: each has a journal of its own', async () => {
    const {sandbox, service, key, upload, stored} = await machine();
    const profile = {'base-url': service.url, key, 'key-origin': service.url};
    const config = JSON.stringify({profiles: {one: profile, two: profile}});
    await writeFile(join(sandbox.directory, 'config.json'), config, {mode: 0o600});
    sandbox.env['MEDIA_CONFIG_DIR'] = sandbox.directory;
    delete sandbox.env['MEDIA_BASE_URL'];
    delete sandbox.env['MEDIA_API_KEY'];
    for (const status of ['uploaded', 'skipped']) {
      for (const name of ['one', 'two'])
        expect((await upload('--once', 'a.png', '--profile', name)).statuses).toEqual([status]);
    }
    for (const mode of [['--dry-run'], []]) {
      sandbox.env['MEDIA_PROFILE'] = 'two';
      expect((await upload('--once', 'a.png', ...mode)).statuses).toEqual(['skipped']);
    }
    expect(await stored()).toBe(2);
  });

  it('with --shard: one journal for all parts, and for a run of them all', async () => {
    const {upload, stored} = await machine();
    const parts = async (...more: string[]) => {
      const results = [];
      for (const part of ['1/2', '2/2'])
        results.push(await upload('--once', 'a.png', '--shard', part, ...more));
      expect(results.map(({exitCode}) => exitCode)).toEqual([0, 0]);
      return results.flatMap(({statuses}) => statuses);
    };
    expect(await parts()).toEqual(['uploaded']);
    expect(await parts('--dry-run')).toEqual(['skipped']);
    expect((await upload('--once', 'a.png')).statuses).toEqual(['skipped']);
    expect(await parts()).toEqual(['skipped']);
    expect(await stored()).toBe(1);
  });

  it('of the embedded service: a dry run knows what it has', async () => {
    const {upload} = await machine();
    const embedded = ['--once', '--base-url', 'embedded', 'a.png'];
    expect((await upload('--dry-run', ...embedded)).statuses).toEqual(['checked']);
    expect((await upload(...embedded)).statuses).toEqual(['uploaded']);
    expect((await upload('--dry-run', ...embedded)).statuses).toEqual(['skipped']);
  });

  it('the key of another account of the same service: refused; a new key of the same account is not; from the environment too', async () => {
    const {sandbox, service, upload, stored} = await machine();
    sandbox.env['MEDIA_CONFIG_DIR'] = sandbox.directory;
    delete sandbox.env['MEDIA_BASE_URL'];
    delete sandbox.env['MEDIA_API_KEY'];
    const login = async (label: string) => {
      const input = await service.createKey({label});
      const command = ['login', '--base-url', service.url, '--key-stdin'];
      expect((await sandbox.run(command, {stdin: 'pipe', input})).exitCode).toBe(0);
    };
    await login('anna');
    expect((await upload('--once', 'a.png')).statuses).toEqual(['uploaded']);
    await login('anna');
    expect((await upload('--once', 'a.png')).statuses).toEqual(['skipped']);
    await login('ben');
    for (const more of [[], ['--dry-run']]) {
      const {statuses, stderr, exitCode} = await upload('--once', 'a.png', ...more);
      expect({statuses, exitCode}).toEqual({statuses: [], exitCode: 1});
      expect(JSON.parse(stderr).error).toMatchObject({
        code: 'journal_of_other_service',
        message: expect.stringMatching(
          /belongs to account \w+ of http:.*, but the key of this run belongs to account \w+\.$/,
        ),
      });
    }
    expect((await upload('--no-once', 'a.png')).statuses).toEqual(['uploaded']);
    expect(await stored()).toBe(2);
    await login('anna');
    const bens = await service.createKey({label: 'ben'});
    for (const [key, status] of [
      [bens, undefined],
      [await service.createKey({label: 'anna'}), 'skipped'],
    ] as const) {
      sandbox.env['MEDIA_API_KEY'] = key;
      for (const more of [[], ['--dry-run']]) {
        const {statuses, stderr} = await upload('--once', 'a.png', ...more);
        expect(statuses).toEqual(status === undefined ? [] : [status]);
        if (status === undefined)
          expect(JSON.parse(stderr).error).toMatchObject({code: 'journal_of_other_service'});
      }
    }
    expect(await stored()).toBe(2);
    delete sandbox.env['MEDIA_API_KEY'];
    // Nobody knows whose key a command prints, so the service is asked.
    await sandbox.run(['config', 'set', 'key-command', `echo ${bens}`]);
    const {statuses, stderr} = await upload('--once', 'a.png');
    expect(statuses).toEqual([]);
    expect(JSON.parse(stderr).error).toMatchObject({code: 'journal_of_other_service'});
    await sandbox.run(['logout']);
    expect(await readFile(join(sandbox.directory, 'config.json'), 'utf8')).not.toContain('account');
  });

  it('held by another run: waited for, and then done', async () => {
    const {sandbox, service, upload} = await machine();
    await upload('--once', 'a.png');
    const [name = ''] = await readdir(journals(sandbox));
    const journal = await openJournal(join(journals(sandbox), name), systemHost(), {
      scope: {service: service.url},
    });
    const waiting = upload('--once', 'a.png');
    let isDone = false;
    void waiting.then(() => {
      isDone = true;
    });
    // It has looked at the lock by then, for which it makes a file beside it.
    while ((await readdir(journals(sandbox))).length < 3);
    expect(isDone).toBe(false);
    // The lock beside it is not a journal.
    expect(await sandbox.run(['journal', 'list'])).toMatchObject({exitCode: 0, stderr: ''});
    await journal.close();
    expect((await waiting).statuses).toEqual(['skipped']);
  });

  it('damaged: said with its line, and not that it cannot be written', async () => {
    const {sandbox, upload} = await machine();
    await upload('--once', 'a.png');
    const [name = ''] = await readdir(journals(sandbox));
    await appendFile(join(journals(sandbox), name), 'notes\n{"event":"alive","by":"w"}\n');
    const {stderr, exitCode} = await upload('--once', 'a.png');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'journal_unusable',
      message: expect.stringMatching(/ is damaged: line \d+ is not a journal line\.$/),
    });
  });

  it('with --journal: a usage error', async () => {
    const {upload} = await machine();
    expect(await upload('--once', '--journal', 'j', 'a.png')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--once and --journal were given together.'),
    });
  });
});

describe('a journal that anybody may change', () => {
  const hands = inHandsOfOthers['that anybody may change'];
  refusedOfOnce(hands, [['its file']]);
  refusedOfJournal(hands);
});

it("a journal that this user's own group may change: used", async () => {
  const {sandbox, upload} = await machine();
  await upload('--once', 'a.png');
  const [name = ''] = await readdir(journals(sandbox));
  for (const part of ['..', '', name]) await chmod(join(journals(sandbox), part), 0o770);
  expect((await upload('--once', 'a.png')).statuses).toEqual(['skipped']);
});
