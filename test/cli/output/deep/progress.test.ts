import {copyFile, mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {describe, expect, it} from 'vitest';
import {cellsOf} from '../../../../src/cli/output/cells.ts';
import {mebibyte, sinkServer, unbufferable, writeSparsePng} from '../../../engine/service/support.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, type Sandbox, sandbox, temporaryDirectory} from '../../../support/media.ts';
import {type Script, scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {onTerminal} from '../../../support/terminal.ts';

const photo = fixture('photo.png');
const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

async function serving(script: Script): Promise<Sandbox> {
  const {url} = await scriptedServer(script);
  return sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
}

async function photos(box: Sandbox, count: number): Promise<string[]> {
  await mkdir(join(box.directory, 'photos'), {recursive: true});
  const names = Array.from({length: count}, (_, index) => `photos/p${index}.png`);
  for (const name of names) await copyFile(photo, join(box.directory, name));
  return names;
}

describe('standard output is a pipe whose reader writes to the same terminal', () => {
  it.each([
    ['--template | cat', ['--template', '{id}\\n'], 'exec "$@" | cat'],
    ['--ndjson | sed', ['--ndjson'], `"$@" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'`],
  ])('%s: every id stays on the screen, nothing is drawn', async (_name, options, shell) => {
    const {sandbox: box, service} = await connectedSandbox();
    await photos(box, 57);
    const terminal = onTerminal(box, ['upload', '-r', 'photos', ...options], {shell});
    expect(await terminal.end).toMatchObject({exitCode: 0});
    const records = await service.records();
    expect(records).toHaveLength(57);
    for (const {record} of records) expect(terminal.output()).toContain(`${record.id}\r\n`);
    expect(terminal.output()).not.toContain('\u001b');
    expect(terminal.output()).toContain('57 uploaded, 0 skipped, 0 failed, 0 unknown\r\n');
  });

  it('a file instead: drawn', async () => {
    const {sandbox: box} = await connectedSandbox();
    const names = await photos(box, 30);
    const terminal = onTerminal(box, ['upload', ...names, '--template', '{id}\\n'], {
      shell: 'exec "$@" > ids',
    });
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).toMatch(spinner);
  });
});

describe('a run of more than ten seconds', () => {
  /** Runs an upload whose answers come only once stderr shows the text; resolves to what stderr shows then. */
  async function untilShown(parameters: string[], shown: string): Promise<string> {
    let release = () => {};
    const released = new Promise<void>(resolve => {
      release = resolve;
    });
    const box = await serving(async connection => {
      await connection.request();
      await released;
      connection.answer(200, someRecord);
    });
    const run = box.start(['upload', ...parameters]);
    let stderr = '';
    run.stderr?.on('data', chunk => {
      stderr += chunk;
      if (stderr.includes(shown)) release();
    });
    expect(await run).toMatchObject({exitCode: 0});
    return stderr;
  }

  it('off a terminal: a line of progress for several files, and for one that a program asked for', async () => {
    const clip = fixture('clip.mp4');
    const [text, json, ndjson] = await Promise.all([
      untilShown([photo, clip, '--template', '{id}\\n'], ' of 2 files'),
      untilShown([photo, clip, '--json'], ' of 2 files'),
      untilShown([photo, '--ndjson'], '; 0 files'),
    ]);
    for (const several of [text, json])
      expect(several).toMatch(/^0 uploaded, 0 skipped, 0 failed, 0 unknown; 0 of 2 files, [\d.]+ KiB of /);
    expect(ndjson).toMatch(/^0 uploaded, 0 skipped, 0 failed, 0 unknown; 0 files, 13\.3 KiB, .*\n$/);
  });
});

describe('SIGUSR2', () => {
  /** Sends SIGUSR2 once the second of three files has come, and lets it be answered once stderr has told of it. */
  async function asked(options: string[]): Promise<string> {
    let count = 0;
    const box = await serving(async connection => {
      await connection.request();
      count += 1;
      if (count === 2) {
        run.kill('SIGUSR2');
        await told;
      }
      connection.answer(200, someRecord);
    });
    await photos(box, 3);
    const run = box.start(['upload', '-r', 'photos', '-c', '1', ...options]);
    const told = new Promise<void>(resolve => {
      let said = '';
      run.stderr?.on('data', chunk => {
        said += chunk;
        if (said.includes(' of 3 files')) resolve();
      });
    });
    const {stderr, exitCode} = await run;
    expect(exitCode).toBe(0);
    return stderr;
  }

  it.each([[], ['--json'], ['--ndjson']])(
    '%s: a status line on stderr, and the run goes on',
    async (...options) => {
      expect(await asked(options)).toMatch(
        /^1 uploaded, 0 skipped, 0 failed, 0 unknown; 1 of 3 files, [\d.]+ KiB of 39\.8 KiB, .*\/s(, .* left)?\n(.*\n)*3 uploaded/m,
      );
    },
  );
});

describe('the progress on a narrow terminal', () => {
  it('30 columns: the name and the percentage stay, no line is longer', async () => {
    const columns = 30;
    const sink = await sinkServer({pauseAfter: 20 * mebibyte});
    const directory = await temporaryDirectory();
    await writeSparsePng(directory, 'holiday.png', unbufferable);
    await writeSparsePng(directory, '夏の写真🏖.png', unbufferable);
    const box = await sandbox({MEDIA_BASE_URL: sink.url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
    const parameters = ['upload', join(directory, 'holiday.png'), '--template', '{id}\\n'];
    const one = onTerminal(box, parameters, {columns, shell: 'exec "$@" > ids'});
    await sink.paused;
    await one.shows(/[⠋⠙⠹] [^\r\n]*y\.png {2}\d\d%/);
    const several = onTerminal(box, [...parameters, join(directory, '夏の写真🏖.png'), '-c', '2'], {
      columns,
      shell: 'exec "$@" > ids',
    });
    await several.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \d\d% /);
    await several.shows(/真🏖\.png {2}\d\d%/);
    sink.resume();
    expect([await one.end, await several.end]).toMatchObject([{exitCode: 0}, {exitCode: 0}]);
    for (const {output} of [one, several]) {
      // The summary is no part of what is drawn over and over.
      const lines = output()
        .replaceAll('\u001b[1G', '\n')
        .split(/\r?\n/)
        .map(line => stripVTControlCharacters(line))
        .filter(line => !line.startsWith('2 uploaded, '));
      expect(Math.max(...lines.map(cellsOf))).toBeLessThanOrEqual(columns);
    }
  });
});

describe('while a file waits for its next attempt', () => {
  it('the seconds count down, its name beside them', async () => {
    let count = 0;
    const box = await serving(async connection => {
      await connection.request();
      count += 1;
      if (count === 1) connection.answer(429, '', {'retry-after': '3'});
      else connection.answer(200, someRecord);
    });
    const terminal = onTerminal(box, ['upload', photo, '--template', '{id}\\n'], {shell: 'exec "$@" > ids'});
    for (const seconds of [3, 2, 1]) await terminal.shows(`o.png  next try in ${seconds} s: `);
    expect(await terminal.end).toMatchObject({exitCode: 0});
  });
});

describe('Ctrl-C while several files are sent', () => {
  async function stopped(options: string[]): Promise<string> {
    let asked = 0;
    let release = () => {};
    const box = await serving(async connection => {
      await connection.request();
      asked += 1;
      await new Promise<void>(resolve => {
        release = resolve;
      });
      connection.answer(200, someRecord);
    });
    await photos(box, 5);
    const terminal = onTerminal(box, ['upload', '-r', 'photos', '-c', '1', ...options]);
    await eventually(() => asked === 1);
    terminal.write('\u0003');
    await terminal.shows(
      'Stopping: waiting for responses to finished uploads. Press Ctrl-C again to quit now.',
    );
    release();
    expect(await terminal.end).toMatchObject({signal: 2});
    return stripVTControlCharacters(terminal.output());
  }

  it('without a journal: names --journal', async () => {
    const output = await stopped([]);
    expect(output).toContain('With --once, --manifest or --journal, the same command continues such a run.');
    expect(output).toMatch(/1 uploaded, 0 skipped, 0 failed, 0 unknown\r\n$/);
  });

  it('files that may be stored: each is named, with the command that sends them again', async () => {
    let asked = 0;
    const box = await serving(async connection => {
      await connection.request();
      asked += 1;
    });
    const names = await photos(box, 5);
    const run = box.start(['upload', '-r', 'photos', '-c', '5']);
    await eventually(() => asked === 5);
    run.kill('SIGINT');
    const {stderr, signal} = await run;
    expect(signal).toBe('SIGINT');
    expect(stderr?.match(/^ {2}photos.*$/gm)?.sort()).toEqual(names.map(name => `  ${name}`));
    const [, named] =
      /^To send the 5 unknown files again:\n {2}media upload --concurrency 5 (.*)\n/m.exec(stderr ?? '') ??
      [];
    expect(named?.split(' ').sort()).toEqual(names);
  });

  it('with a journal: the command that goes on', async () => {
    expect(await stopped(['--journal', 'j'])).toContain(
      'To continue where this run stopped:\r\n  media upload -r photos -c 1 --journal j\r\n',
    );
  });
});

describe('an empty shard', () => {
  it('one note, status 0; --quiet: nothing', async () => {
    const {sandbox: box, service} = await connectedSandbox();
    await photos(box, 1);
    const runs = await Promise.all(
      ['1/2', '2/2'].map(shard =>
        box.run(['upload', '-r', 'photos', '--shard', shard, '--template', '{id}\\n']),
      ),
    );
    const note = 'This shard contains none of the inputs, so there is nothing to upload.\n';
    expect(runs.map(({exitCode}) => exitCode)).toEqual([0, 0]);
    expect(runs.filter(({stderr}) => stderr === note)).toHaveLength(1);
    const empty = runs[0]?.stderr === note ? '1/2' : '2/2';
    for (const [option, stderr] of [
      ['--json', note],
      ['--quiet', ''],
    ] as const)
      expect(await box.run(['upload', '-r', 'photos', '--shard', empty, option])).toMatchObject({
        ...{exitCode: 0, stdout: '', stderr},
      });
    expect(await service.records()).toHaveLength(1);
  });
});
