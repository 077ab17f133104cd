import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';
import {answers, counting, inShell} from '../in-shell.ts';

const photo = fixture('photo.png');
const jpg = fixture('photo.jpg');
const gif = fixture('photo.gif');

describe('standard output that', () => {
  test.each([[[]], [['--json']], [['--ndjson']]])(
    'nobody reads (| head -0) with %j: all uploaded, 0',
    async format => {
      const {machine, requests} = await counting();
      const script = '{ "$@"; echo "status $?" >&2; } | head -0';
      const {stdout, stderr} = await inShell(script, machine, [
        'upload',
        photo,
        jpg,
        gif,
        '--quiet',
        ...format,
      ]);
      expect({stdout, stderr}).toEqual({stdout: '', stderr: 'status 0\n'});
      expect(requests).toHaveLength(3);
    },
  );

  test.each([
    [['journal', 'list', 'batch.journal']],
    [['upload', '--help']],
    [['config', 'list']],
    [['completion', 'bash']],
    [['upload', 'photo.gif', '--dry-run', '--ndjson', '--no-progress']],
  ])('nobody reads (| head -0) of %j: 0, and nothing on standard error', async parameters => {
    const {machine} = await counting();
    await copyFile(gif, join(machine.directory, 'photo.gif'));
    await machine.run(['upload', 'photo.gif', '--journal', 'batch.journal']);
    const {stderr} = await inShell('{ "$@"; echo "status $?" >&2; } | head -0', machine, parameters);
    expect(stderr).toBe('status 0\n');
  });

  test.each<[string, number, string[]]>([
    ['one upload of two is refused', 3, ['upload', photo, 'missing.png', '--ndjson']],
    ['nothing is sent', 1, ['upload', photo, '--dry-run']],
    ['a setting is printed', 1, ['config', 'list']],
    ['help is printed', 1, ['upload', '--help']],
    ['a journal is listed', 1, ['journal', 'list', 'batch.journal']],
  ])('takes nothing, and %s: no word of uploads that succeeded', async (_what, status, parameters) => {
    const {machine} = await counting();
    const journal = await machine.run(['upload', jpg, '--journal', 'batch.journal']);
    expect(journal.exitCode).toBe(0);
    const {stdout, stderr} = await inShell('"$@" >/dev/full; echo "status $?"', machine, parameters);
    expect(stdout).toBe(`status ${status}\n`);
    expect(stderr).toContain('The output could not be written: the disk is full.');
    expect(stderr).not.toMatch(/uploads themselves|Do not run/);
  });

  test('takes nothing, and an upload is refused with 401: 4', async () => {
    const {url} = await scriptedServer(...answers(200, 401));
    const script = '"$@" >/dev/full; echo "status $?"';
    const {stdout} = await inShell(script, await sandboxFor(url), [
      'upload',
      '-c',
      '1',
      photo,
      jpg,
      '--json',
    ]);
    expect(stdout).toBe('status 4\n');
  });

  test.each(['2>&-', '>&- 2>&- <&-'])('is closed (%s): uploaded, 0', async redirection => {
    const {machine, requests} = await counting();
    const script = `exec 3>&1; "$@" ${redirection}; echo "status $?" >&3`;
    const {stdout} = await inShell(script, machine, ['upload', photo, '--template', '{id}\\n']);
    expect(stdout.replace('m_1\n', '')).toBe('status 0\n');
    expect(requests).toHaveLength(1);
  });

  test('nobody reads, and one upload is refused: 3', async () => {
    const {url} = await scriptedServer(...answers(200, 415, 200));
    const script = '{ "$@"; echo "status $?" >&2; } | head -0';
    const parameters = ['upload', photo, jpg, gif, '-c', '1', '--json', '--no-progress'];
    const {stderr} = await inShell(script, await sandboxFor(url), parameters);
    expect(stderr).toMatch(/^\{"error":\{.*"code":"rejected".*\}\}\n2 uploaded.*\nstatus 3\n$/);
  });

  test.for([[], ['--json']])(
    'takes nothing (/dev/full) with %j: all uploaded, output_failed, 1',
    async (format, context) => {
      if (process.platform !== 'linux') notRun(context, '/dev/full');
      const {machine, requests} = await counting();
      const script = '"$@" >/dev/full; echo "status $?"';
      const {stdout, stderr} = await inShell(script, machine, ['upload', photo, jpg, '--quiet', ...format]);
      expect(stdout).toBe('status 1\n');
      expect(stderr).toContain('The output could not be written: the disk is full.');
      expect(stderr).toContain('The uploads themselves succeeded');
      if (format.length > 0) expect(JSON.parse(stderr)).toMatchObject({error: {code: 'output_failed'}});
      expect(requests).toHaveLength(2);
    },
  );

  test.for<[options: string[], hint: string]>([
    [[], 'With --journal FILE, a journal records what was stored.'],
    [['--journal', 'j'], ''],
  ])(
    'takes nothing (/dev/full), one of two refused, with %j: 3, and the journal is named: %s',
    async ([options, hint], context) => {
      if (process.platform !== 'linux') notRun(context, '/dev/full');
      const {url} = await scriptedServer(...answers(200, 415));
      const script = '"$@" >/dev/full; echo "status $?"';
      const parameters = ['upload', photo, jpg, '-c', '1', '--quiet', ...options];
      const {stdout, stderr} = await inShell(script, await sandboxFor(url), parameters);
      expect(stdout).toBe('status 3\n');
      const [, advice] = /could not be written: the disk is full\.\n(?: {2}(.*)\n)?/.exec(stderr) ?? [];
      expect(advice ?? '').toBe(hint);
      expect(stderr).not.toContain('The uploads themselves succeeded');
    },
  );

  test('is closed (>&-): uploaded, 0', async () => {
    const {machine, requests} = await counting();
    const script = 'exec 3>&1; "$@" >&-; echo "status $?" >&3';
    const {stdout} = await inShell(script, machine, ['upload', photo, '--template', '{id}\\n']);
    expect(stdout.replace('m_1\n', '')).toBe('status 0\n');
    expect(requests).toHaveLength(1);
  });

  test('standard input that is closed (<&-) and named: empty_file, 1', async () => {
    const {machine, requests} = await counting();
    const {stdout, stderr} = await inShell('"$@" <&-; echo "status $?"', machine, ['upload', '-']);
    expect({stdout, requests}).toEqual({stdout: 'status 1\n', requests: []});
    expect(stderr).toContain('Standard input was empty');
  });
});
