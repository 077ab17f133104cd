import {readFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {helpTopics} from '../../../src/cli/commands/help-topics.ts';
import {settingNames} from '../../../src/cli/settings/setting-table.ts';
import {type ErrorCode, exitStatusOf} from '../../../src/errors.ts';
import {fixture, sandbox} from '../../support/media.ts';

const commands = [
  [],
  ['login'],
  ['logout'],
  ['whoami'],
  ['upload'],
  ['graphql'],
  ['serve'],
  ['config'],
  ['config', 'list'],
  ['config', 'get'],
  ['config', 'set'],
  ['config', 'unset'],
  ['completion'],
];

/** The headings of a help text, without their colons. */
function headingsIn(text: string): string[] {
  return [...text.matchAll(/^([A-Z][\w ]*):$/gm)].map(([, heading = '']) => heading);
}

describe('help', () => {
  it('bare media: help on stdout, exit 0', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run([]);
    expect(stdout).toMatch(/^Usage: media <command> \[options\]\n/);
    for (const [name = 'help'] of commands) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    expect(stdout).toContain('\nExamples:\n');
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it.each(commands)(
    'media %s %s --help: usage, global options and examples on stdout, exit 0',
    async (...words) => {
      const {stdout, stderr, exitCode} = await (await sandbox()).run([...words, '--help']);
      expect(stdout.startsWith(`Usage: ${['media', ...words].join(' ')} `)).toBe(true);
      expect(stdout).toContain('\nExamples:\n  $ ');
      expect(stdout).toContain('--no-progress');
      expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    },
  );

  it('bare media: the options, and the commands, upload first', async () => {
    const {stdout} = await (await sandbox()).run([]);
    expect(headingsIn(stdout)).toEqual(['Options', 'Commands', 'Topics of media help', 'Examples']);
    expect(stdout).toContain('\nCommands:\n  upload [input...]  ');
  });

  it('upload --help: the options in groups, each in a line of 80 columns, then the names of those of every command', async () => {
    const {stdout} = await (await sandbox()).run(['upload', '--help']);
    expect(headingsIn(stdout)).toEqual([
      'Arguments',
      ...['Inputs', 'Output', 'Transfer', 'Memory', 'Examples'],
    ]);
    const group = (heading: string) => stdout.split(`\n${heading}:\n`)[1]?.split(/\n\n|\n(?=[A-Z])/)[0];
    expect(group('Inputs')).toMatch(/^ {2}-r, --recursive /);
    expect(group('Memory')).toMatch(/^ {2}--once /);
    expect(stdout).not.toContain('--help  ');
    expect(stdout).toContain('\n\nOptions of every command, see media --help: --profile --base-url --quiet ');
  });

  it('upload --help: the defaults that matter, and the values that may be chosen', async () => {
    const text = (await (await sandbox()).run(['upload', '--help'])).stdout.replace(/\s+/g, ' ');
    for (const fact of [
      'what decides the type (extension, content, strict)',
      'output format (table, url, markdown, json, ndjson)',
      'how many files at a time (default: auto)',
      'how often to retry a file (default: 5)',
      '(default: 1m, response 10m)',
    ])
      expect(text).toContain(fact);
  });

  it.each([[['config', 'set']], [['config']]])('%j --help: what each setting is for', async words => {
    const {stdout} = await (await sandbox()).run([...words, '--help']);
    const list = stdout.split('\nSettings:\n')[1]?.split('\n\n')[0] ?? '';
    expect([...list.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name)).toEqual([...settingNames]);
  });

  it('media help upload: the same as media upload --help', async () => {
    const box = await sandbox();
    const [help, option] = await Promise.all([box.run(['help', 'upload']), box.run(['upload', '--help'])]);
    expect(help.stdout).toBe(option.stdout);
    expect(help.exitCode).toBe(0);
  });

  it('media help exit-codes, and each other topic: a text of 80 columns, which media help and the manual page have too', async () => {
    const box = await sandbox();
    const {stdout: overview} = await box.run(['help']);
    const manual = (await readFile(fixture('../../man/media.1'), 'utf8')).replaceAll('\\-', '-');
    for (const topic of Object.keys(helpTopics)) {
      const {stdout, stderr, exitCode} = await box.run(['help', topic]);
      expect({topic, stderr, exitCode}).toEqual({topic, stderr: '', exitCode: 0});
      expect(overview).toMatch(new RegExp(`^ {2}${topic} {2,}\\S`, 'm'));
      const text = stdout.replace(/^Usage: [\s\S]*\nExamples:\n(?: {2}\$ .*\n)+\n/, '');
      const lines = text.split('\n');
      expect(lines.length).toBeGreaterThan(8);
      expect(lines.filter(line => line.length > 80)).toEqual([]);
      const [, term = ''] = /^ {2}(\S+)/m.exec(text) ?? [];
      expect(manual.replaceAll('\\', '')).toContain(`.B ${term}`);
    }
    expect((await box.run(['help', 'journal'])).stdout).toMatch(
      /^Usage: media journal [\s\S]*\n\nWith --journal FILE, /,
    );
  });

  it('media serve --help: limits and faults in groups, each with its variable and default; no --base-url', async () => {
    const box = await sandbox();
    const {stdout} = await box.run(['serve', '--help']);
    expect(headingsIn(stdout)).toEqual(
      expect.arrayContaining(['Address', 'Storage', 'Keys', 'Output', 'Examples']),
    );
    expect(stdout).toContain('\nFaults, to test how clients handle them (see docs/faults.md):\n');
    const text = stdout.replace(/\s+/g, ' ');
    expect(text).toContain('0 for any free port (MEDIA_SERVE_PORT; default: 4010)');
    expect(text).toContain('(MEDIA_SERVE_ALLOW_HOST; repeatable)');
    expect(text).toContain(' see media --help: --profile ');
    const refused = await box.run(['serve', '--base-url', 'https://api.example.com']);
    expect(refused).toMatchObject({exitCode: 2, stdout: ''});
    expect(refused.stderr).toMatch(
      /^media: media serve takes no --base-url\.\n {2}It is the service itself: use --host /,
    );
  });

  it('media help, and media help config set: the same as with --help', async () => {
    const box = await sandbox();
    const runs = [['help'], ['--help'], ['help', 'config', 'set'], ['config', 'set', '--help']];
    const [all, allOption, one, oneOption] = await Promise.all(runs.map(words => box.run(words)));
    expect([all?.stdout, all?.exitCode]).toEqual([allOption?.stdout, 0]);
    expect([one?.stdout, one?.exitCode]).toEqual([oneOption?.stdout, 0]);
  });

  it('media help upload journal, a word that names no subcommand: usage error', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['help', 'upload', 'journal']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    expect(stderr).toMatch(/^media: There is no command "upload journal"\.\n/);
  });

  it.each([['x'], ['--json']])('media help errors %s: usage error that says what it takes', async word => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['help', 'errors', word]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    expect(stderr).toContain('media help errors takes neither arguments nor --json.');
    expect(stderr).toContain('To read it, run: media help errors');
  });

  it('media help --json: every command, option, status and code as one line of JSON; of one command, and none', async () => {
    const box = await sandbox();
    const lines = [
      ['help', '--json'],
      ['help', 'config', 'set', '--json'],
      ['help', '--json', 'uplaod'],
    ];
    const [whole, one, none] = await Promise.all(lines.map(words => box.run(words)));
    const help = JSON.parse(whole?.stdout ?? '');
    expect(whole).toMatchObject({stderr: '', exitCode: 0, stdout: expect.stringMatching(/^\{.*\}\n$/)});
    const command = (name: string) => help.commands.find((each: {name: string}) => each.name === name);
    const option = (of: string, name: string) =>
      command(of).options.find(({names}: {names: string[]}) => names.includes(name));
    expect(option('upload', '--retries')).toEqual({
      names: ['--retries'],
      description: 'how often to retry a file',
      group: 'Transfer',
      ...{type: 'integer', placeholder: 'n', takes: 'a whole number from 0 to 100', default: '5'},
    });
    expect(option('upload', '--format')).toMatchObject({
      choices: ['table', 'url', 'markdown', 'json', 'ndjson'],
      default: 'table',
      conflicts: ['--json', '--ndjson', '--template'],
    });
    expect(option('upload', '--timeout')).toMatchObject({type: 'duration'});
    expect(option('upload', '--once')).toMatchObject({type: 'flag', setting: 'once'});
    expect(option('serve', '--fault')).toMatchObject({repeatable: true, variable: 'MEDIA_SERVE_FAULT'});
    expect(command('rewrite').arguments).toMatchObject([{name: 'input', required: true, variadic: true}]);
    expect(help.options[1]).toMatchObject({names: ['--base-url'], variable: 'MEDIA_BASE_URL'});
    expect(help.errorCodes.map(({code}: {code: string}) => code)).toEqual(Object.keys(exitStatusOf));
    for (const {code, exitStatus, meaning, hint} of help.errorCodes)
      expect({code, exitStatus, known: Boolean(meaning && hint)}).toEqual({
        ...{code, known: true},
        exitStatus: exitStatusOf[code as ErrorCode],
      });
    const retry = help.errorCodes.filter((row: {retry: boolean}) => row.retry);
    const codes = retry.map(({code}: {code: string}) => code);
    expect(codes).toEqual(expect.arrayContaining(['outage', 'connection_lost', 'rate_limited', 'not_tried']));
    for (const code of ['outcome_unknown', 'rejected', 'record_mismatch', 'unauthorized'])
      expect(codes).not.toContain(code);
    expect(help.settings.map(({name}: {name: string}) => name)).toEqual([...settingNames]);
    expect(help.exitStatuses[5]).toMatchObject({status: '5', meaning: expect.stringContaining('unknown')});
    expect(JSON.parse(one?.stdout ?? '')).toEqual(
      command('config').commands.find(({name}: {name: string}) => name === 'set'),
    );
    expect(none).toMatchObject({exitCode: 2, stdout: ''});
    expect(JSON.parse(none?.stderr ?? '').error.hint).toBe('Did you mean upload?');
  });

  it('media help --man: the manual page as it is installed', async () => {
    const {stdout, exitCode} = await (await sandbox()).run(['help', '--man']);
    expect(stdout).toBe(await readFile(fixture('../../man/media.1'), 'utf8'));
    expect(exitCode).toBe(0);
  });

  it('bare media config: its help on stdout, exit 0', async () => {
    const {stdout, exitCode} = await (await sandbox()).run(['config']);
    expect(stdout).toMatch(/^Usage: media config /);
    expect(exitCode).toBe(0);
  });

  it('--version, before and after a command: the version of package.json', async () => {
    const {version} = JSON.parse(await readFile(fixture('../../package.json'), 'utf8'));
    const box = await sandbox();
    const runs = await Promise.all([box.run(['--version']), box.run(['upload', '--version'])]);
    for (const {stdout, stderr, exitCode} of runs) {
      expect({stdout, stderr, exitCode}).toEqual({stdout: `${version}\n`, stderr: '', exitCode: 0});
    }
  });
});
