import {readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../../../src/host.ts';
import {eventually} from '../../../support/eventually.ts';
import {inputOf, upload as leave, openJournal} from '../../../support/journal.ts';
import {checkout, isFaultApplied, writePng} from '../checkout.ts';

describe('media upload --manifest', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: written with what succeeded, and the journal is gone',
    async signal => {
      const {sandbox, service, upload, manifest, stored, beside} = await checkout({
        faults: {list: ['upload:nth=2-,silence']},
      });
      const running = sandbox.start(['upload', '--manifest', 'media.json', '-r', 'assets', '-c', '1']);
      await eventually(() => isFaultApplied(service));
      running.kill(signal);
      expect((await running).signal).toBe(signal);
      const {files, unknown = {}} = await manifest();
      expect([Object.keys(files), Object.keys(unknown)]).toEqual([
        ['assets/icon.png'],
        ['assets/img/logo.png'],
      ]);
      expect(await beside()).toEqual(['media.json']);
      service.faults?.replace([]);
      expect((await upload('assets/icon.png')).exitCode).toBe(0);
      expect(await stored()).toBe(1);
    },
  );

  it('after a deadline, and where some files are refused: written with what succeeded', async () => {
    const {service, path, upload, manifest, beside} = await checkout({
      faults: {list: ['upload:nth=2,status=415']},
    });
    expect((await upload('-r', 'assets', '-c', '1')).exitCode).toBe(3);
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    service.faults?.replace(['upload:nth=2-,silence']);
    for (const name of ['one', 'two']) await writePng(path(`assets/${name}.png`), name);
    const {stdout, exitCode} = await upload('-r', 'assets', '-c', '1', '--deadline', '1s', '--ndjson');
    const lines = stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as {file: string; status: string});
    const filesThat = (...statuses: string[]) =>
      lines
        .filter(({status}) => statuses.includes(status))
        .map(({file}) => file)
        .sort();
    const {files, unknown = {}} = await manifest();
    expect(exitCode).toBeGreaterThan(0);
    expect(Object.keys(files)).toEqual(
      [...new Set(['assets/icon.png', ...filesThat('uploaded', 'skipped')])].sort(),
    );
    expect(Object.keys(unknown)).toEqual(filesThat('unknown'));
    expect(await beside()).toEqual(['media.json']);
  });

  it('a manifest that overrules the profile; that somebody changes during the run: joined', async () => {
    const {sandbox, service, path, text, manifest, stored} = await checkout({
      faults: {list: ['upload:nth=2-,silence']},
    });
    await sandbox.run(['config', 'set', 'once', 'true']);
    const running = sandbox.start([
      'upload',
      '--manifest',
      'media.json',
      '-r',
      'assets',
      '--timeout',
      '2s',
      '--retries',
      '0',
      '-c',
      '1',
    ]);
    await eventually(async () => (await stored()) === 1);
    const theirs = `{"version": 1, "service": "${service.url}", "files": {}, "note": "ours"}\n`;
    await writeFile(path('media.json'), theirs);
    await running;
    expect(await text()).toContain('"note": "ours"');
    expect(Object.keys((await manifest()).files)).toEqual(['assets/icon.png']);
    expect(await readdir(path('.'))).not.toContain('.local');
  });
});

describe('media upload --check', () => {
  it('without a manifest, each file is missing; with one that names an unknown file, that is said', async () => {
    const {upload, service, beside} = await checkout({
      faults: {list: ['upload:nth=1,after=store,reset']},
    });
    expect((await upload('-r', 'assets', '--check')).stderr).toContain(
      'media.json is out of date: 2 of 2 files',
    );
    expect(await beside()).toEqual([]);
    await upload('-r', 'assets', '--retries', '0', '-c', '1');
    service.faults?.replace([]);
    expect(await upload('-r', 'assets', '--check')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('assets/icon.png is unknown: it was sent, and may be stored.'),
    });
  });
});

describe('media upload --check, of content that the manifest has under its key', () => {
  it.each([
    ['but as another type', ['--content-type', 'image/webp'], 'is not as in media.json.'],
    ['and as unknown', [], 'is unknown: it was sent, and may be stored.'],
  ])('%s: out of date', async (_what, options, why) => {
    const {upload, path, manifest} = await checkout();
    await upload('assets/icon.png');
    const {files, ...top} = await manifest();
    const {url: _url, record: _record, ...unknown} = files['assets/icon.png'] ?? {};
    if (options.length === 0)
      await writeFile(path('media.json'), JSON.stringify({...top, files, unknown: {'b.png': unknown}}));
    expect(await upload('assets/icon.png', '--check', ...options)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`assets/icon.png ${why}`),
    });
  });

  it('only in the journal of a run that was cut off: not in the manifest', async () => {
    const {service, upload, path} = await checkout();
    const content = await readFile(path('assets/icon.png'), 'latin1');
    const stats = await stat(path('assets/icon.png'), {bigint: true});
    const {clock, ...host} = systemHost();
    // What a file is known by without its content is recorded only if it has not changed for two seconds.
    const later = {...host, clock: {...clock, now: () => clock.now() + 10_000}};
    const journal = await openJournal(path('media.json.journal'), later, {scope: {service: service.url}});
    const input = {...inputOf('assets/icon.png', content), size: Number(stats.size), stat: stats};
    await leave(journal, input, 'done').finally(() => journal.close());
    expect(await upload('assets/icon.png', '--check')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('assets/icon.png is not in media.json.'),
    });
  });
});

describe('media upload --prune', () => {
  it('removes what a run that was killed has stored, if it is gone since', async () => {
    const {sandbox, service, path, upload, manifest} = await checkout({
      faults: {list: ['upload:nth=2-,silence']},
    });
    const running = sandbox.start(['upload', '--manifest', 'media.json', '-r', 'assets', '-c', '1']);
    await eventually(() => isFaultApplied(service));
    running.kill('SIGKILL');
    await running;
    service.faults?.replace([]);
    await rm(path('assets/icon.png'));
    await upload('-r', 'assets', '--prune');
    expect(Object.keys((await manifest()).files)).toEqual(['assets/img/logo.png']);
  });
});
