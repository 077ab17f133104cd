import {copyFile, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import type {UploadFlags} from '../../../../src/cli/commands/upload/flags.ts';
import {retryAdvice} from '../../../../src/cli/commands/upload/retry-advice.ts';
import type {Invocation} from '../../../../src/cli/session/invocation.ts';
import type {Outcome} from '../../../../src/engine/transfer/outcome.ts';
import {type ErrorCode, MediaError} from '../../../../src/errors.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {fixture, mediaInShell, type Sandbox, sandbox} from '../../../support/media.ts';
import {outcomeOf} from '../../../support/outcomes.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');
const page = fixture('page-named.png');

/** Pictures of different content under these names, in the sandbox. */
async function pictures(box: Sandbox, names: readonly (string | Buffer)[]): Promise<void> {
  const png = await readFile(photo);
  for (const [index, name] of names.entries()) {
    const path = Buffer.concat([Buffer.from(`${box.directory}/`), Buffer.from(name)]);
    await writeFile(path, Buffer.concat([png, Buffer.from(String(index))]));
  }
}

const numbered = (count: number, prefix = 'p') =>
  Array.from({length: count}, (_, index) => `${prefix}${String(index).padStart(3, '0')}.png`);

/** A sandbox whose service answers each upload by its number, from 0. */
async function answering(answer: (connection: ScriptedConnection, count: number) => void) {
  let count = 0;
  const {url} = await scriptedServer(async connection => {
    const {head} = await connection.request();
    if (head.length === 0) return;
    answer(connection, count);
    count += 1;
  });
  return {
    box: await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'}),
    url,
    count: () => count,
  };
}

function busy(connection: ScriptedConnection): void {
  connection.answer(503, '{"code":1,"message":"Busy."}');
}

/** The command that the run gave for another try. */
function commandIn(stderr: string): string {
  return /To retry .* that may succeed later:\n {2}(.*)\n/.exec(stderr)?.[1] ?? '';
}

/** Types a command as it was printed; \`media\` is the real program. */
function type(box: Sandbox, command: string, env = box.env) {
  const script = `media() { ${mediaInShell} "$@"; }\n${command}`;
  return execa('bash', ['-c', script], {
    cwd: box.directory,
    env,
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
  });
}

describe('the failures of several inputs, on stderr', () => {
  it('two reasons and a single file: once, last, equal ones together, then the summary', async () => {
    const {sandbox: box, service} = await connectedSandbox();
    await pictures(box, ['there.png']);
    const {stderr, exitCode} = await box.run([
      'upload',
      ...numbered(12, 'gone'),
      page,
      'there.png',
      '--template',
      '{id}\\n',
      '-c',
      '1',
    ]);
    expect(exitCode).toBe(3);
    expect(stderr.split('\n')).toEqual([
      'media: 12 files do not exist.',
      '  gone000.png, gone001.png, gone002.png and 9 more',
      expect.stringMatching(/^media: .*page-named\.png is not recognised as an image or a video: /),
      expect.stringContaining('--content-type'),
      '1 uploaded, 0 skipped, 13 failed, 0 unknown',
      '',
    ]);
    expect(await service.records()).toHaveLength(1);
  });

  it('before a list turns out not to be one: told all the same', async () => {
    const {sandbox: box} = await connectedSandbox();
    await writeFile(join(box.directory, 'list'), `${'gone.png\n'.repeat(8_000)}a\0b`);
    const {stderr, exitCode} = await box.run(['upload', 'gone.png', '--files-from', 'list']);
    expect(stderr).toMatch(/^media: gone\.png does not exist\.\nmedia: list is not a list of names: /m);
    expect(exitCode).toBe(2);
  });

  /** A run whose list of names goes on after the first file was stored. */
  async function withOpenList(...options: string[]) {
    const {sandbox: box, service} = await connectedSandbox();
    await pictures(box, ['a.png']);
    const run = box.start(['upload', '--files-from', '-', ...options], {stdin: 'pipe'});
    run.stdin?.write('a.png\n');
    await eventually(async () => (await service.records()).length === 1);
    return {run};
  }

  it('after files that were stored: their records are printed, exit 3', async () => {
    const {run} = await withOpenList('--template', '{file}\\n');
    run.stdin?.end('b.png\0c\n');
    const {stdout, stderr, exitCode} = await run;
    expect(stdout).toBe('a.png\n');
    expect(stderr).toMatch(
      /^media: Standard input is not a list of names: .*\n {2}Write .*\n1 uploaded, 0 skipped, 0 failed, 0 unknown\n$/,
    );
    expect(exitCode).toBe(3);
  });

  it('a signal while the list is open: the records of what was stored are printed', async () => {
    const {run} = await withOpenList('--template', '{file}\\n');
    run.kill('SIGINT');
    const {stdout, stderr, signal} = await run;
    expect(stdout).toBe('a.png\n');
    expect(stderr).toContain('1 uploaded, 0 skipped, 0 failed, 0 unknown\n');
    expect(signal).toBe('SIGINT');
  });

  it('refused by the service with one sentence: together, whatever the attempt', async () => {
    const {box, url} = await answering(busy);
    await pictures(box, ['a.png', 'b.png']);
    const {stderr, exitCode} = await box.run(['upload', 'a.png', 'b.png', '--retries', '1', '-c', '1']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `media: 2 files: ${new URL(url).host} is unavailable (503): Busy.\n  a.png, b.png\n`,
    );
  });

  it('1 and 2, in the port of the address of the sentence: named all the same', async () => {
    const {box} = await answering((connection, count) =>
      connection.answer(415, JSON.stringify({code: 1, message: `No 1 or 2, ${count}.`})),
    );
    await copyFile(photo, join(box.directory, '1'));
    await copyFile(photo, join(box.directory, '2'));
    const options = ['--content-type', 'image/png', '-c', '1'];
    const {stderr} = await box.run(['upload', '1', '2', 'gone', ...options]);
    const lines = stderr.split('\n').filter(line => line.startsWith('media: '));
    expect(lines).toEqual([
      expect.stringMatching(/^media: 1: 127\.0\.0\.1:\d+ refused the request \(415\): No 1 or 2, 0\.$/),
      expect.stringMatching(/^media: 2: 127\.0\.0\.1:\d+ refused the request \(415\): No 1 or 2, 1\.$/),
      'media: gone does not exist.',
    ]);
  });

  it('25 reasons: the first 20, and how many more; all with --verbose and as JSON lines', async () => {
    const {box} = await answering((connection, count) =>
      connection.answer(415, JSON.stringify({code: 1, message: `No ${count}.`})),
    );
    const names = numbered(25);
    await pictures(box, names);
    const told = async (...options: string[]) =>
      (await box.run(['upload', ...names, '-c', '1', ...options])).stderr;
    const words = await told();
    expect(words.match(/^media: /gm)).toHaveLength(20);
    expect(words).toContain('\n... and 5 more files for other reasons; --verbose shows every failure.\n');
    expect((await told('--verbose')).match(/^media: /gm)).toHaveLength(25);
    expect((await told('--json')).match(/"rejected"/g)).toHaveLength(25);
  });

  it('400 files in CI, half of them refused: no more than 20 lines, failures and totals alone on stdout', async () => {
    const {box} = await answering((connection, count) =>
      count % 2 === 0
        ? connection.answer(200, someRecord)
        : connection.answer(415, '{"code":1,"message":"No."}'),
    );
    await mkdir(join(box.directory, 'assets'));
    await pictures(box, numbered(400, 'assets/p'));
    box.env['CI'] = 'true';
    // Without the line that says every 10 s how far the run is.
    const {stdout, stderr, exitCode} = await box.run(['upload', '-r', 'assets', '--no-progress']);
    expect(exitCode).toBe(3);
    expect(stderr.split('\n').length).toBeLessThan(20);
    expect(stderr).toMatch(/^media: 200 files: .* refused the request \(415\): No\.\n {2}assets\//);
    expect(stderr).toMatch(/\n200 uploaded, 0 skipped, 200 failed, 0 unknown\n$/);
    expect(stdout.match(/│ failed +│ [\d.]+ KiB +│ rejected +│/g)).toHaveLength(200);
    expect(stdout).not.toMatch(/\.png +│ uploaded/);
    expect(stdout).toMatch(/│ uploaded │ 200 +│ 2\.6 MiB │\n/);
    expect(stdout).toMatch(/│ failed +│ 200 +│ 2\.6 MiB │\n/);
    const verbose = await box.run(['upload', '-r', 'assets', '--verbose']);
    expect(verbose.stdout).toMatch(/\.png +│ uploaded .*│ m_1/);
  });

  it.each([['--verbose'], ['--json']])('%s: each at once', async option => {
    let release = () => {};
    const told = new Promise<void>(resolve => {
      release = resolve;
    });
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      await told;
      connection.answer(200, someRecord);
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
    const run = box.start(['upload', photo, 'gone.png', '-c', '2', option]);
    let stderr = '';
    run.stderr?.on('data', chunk => {
      stderr += chunk;
      if (stderr.includes('gone.png does not exist.')) release();
    });
    expect((await run).exitCode).toBe(3);
    expect(stderr.match(/gone\.png does not exist\./g)).toHaveLength(1);
  });

  it('links to nothing, a name with a line feed, a name that begins with a dash: each named as it is', async () => {
    const {sandbox: box} = await connectedSandbox();
    const at = (name: string) => join(box.directory, name);
    await symlink('nowhere.png', at('dangling.png'));
    await symlink('nowhere.png', at('dangling2.png'));
    await writeFile(at('page\n.png'), '<html>');
    await copyFile(photo, at('-dash.png'));
    const one = await box.run(['upload', 'dangling.png']);
    expect(one.stderr).toBe('media: dangling.png links to a file that does not exist.\n');
    const {stderr} = await box.run(['upload', 'dangling.png', 'dangling2.png', 'page\n.png', 'gone\n.png']);
    expect(stderr).toContain(
      'media: Each of 2 files links to a file that does not exist.\n  dangling.png, dangling2.png\n',
    );
    expect(stderr).toContain(
      'media: page\\n.png is not recognised as an image or a video: the extension .png ',
    );
    expect(stderr).toContain('media: gone\\n.png does not exist.\n');
    const dashed = await box.run(['upload', '-dash.png', 'dangling.png']);
    expect(dashed).toMatchObject({
      exitCode: 2,
      stderr: "media: Unknown option '-dash.png'.\n  To name the file: media upload ./-dash.png\n",
    });
  });

  it('--quiet: the groups alone', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {stderr} = await box.run([
      'upload',
      photo,
      'gone1.png',
      'gone2.png',
      ...['-c', '1'],
      '--quiet',
      '--template',
      '{id}\\n',
    ]);
    expect(stderr).toBe('media: 2 files do not exist.\n  gone1.png, gone2.png\n');
  });

  it('a message of the service that ends in full stops: one', async () => {
    const {box} = await answering(connection =>
      connection.answer(415, '{"code":1,"message":"No such type."}'),
    );
    const {stderr} = await box.run(['upload', photo]);
    expect(stderr).toContain(': No such type.\n');
    for (const status of [401, 500]) {
      const {box: other, url} = await answering(connection =>
        connection.answer(status, '{"code":1,"message":"Not this one."}'),
      );
      const doctor = await other.run(['doctor']);
      const login = await other.run(['login', '--base-url', url, '--key-stdin'], {
        stdin: 'pipe',
        input: 'mk_some-key-for-tests',
        env: {...other.env, MEDIA_API_KEY: ''},
      });
      expect(login.stderr).toContain('Not this one.\n');
      for (const text of [doctor.stdout, doctor.stderr, login.stderr]) expect(text).not.toContain('..');
    }
  });
});

describe('files of unknown outcome', () => {
  /** A service that takes all uploads, and loses its connections once there are this many. */
  async function losing(files: number, lose: (connections: readonly ScriptedConnection[]) => void) {
    const arrived: ScriptedConnection[] = [];
    return scriptedServer(async connection => {
      if ((await connection.request()).contentLength < 1000)
        return connection.answer(415, '{"message":"No."}');
      arrived.push(connection);
      if (arrived.length === files) lose(arrived);
    });
  }
  const names = [...numbered(24), "it's here.png", '-v.png'];
  const tooLong = Array.from(names, (_, index) => `${'x'.repeat(150)}${index}.png`);

  it.each([
    ['a few', names],
    ['more than a line holds', tooLong],
  ])(
    'without a memory, %s: each is named, and one command sends these again and nothing else',
    async (_which, unknown) => {
      const {url} = await losing(unknown.length, arrived => {
        for (const connection of arrived) connection.reset();
      });
      const {sandbox: box, service} = await connectedSandbox();
      await pictures(box, unknown);
      const input = ['gone.png', ...unknown].join('\n');
      const {stderr, exitCode} = await box.run(
        ['upload', '--files-from', '-', '-c', '26', '--base-url', url],
        {stdin: 'pipe', input},
      );
      expect(exitCode).toBe(5);
      const [, list] =
        /^media: 26 files: The connection to .* broke\..*\n((?: {2}.*\n)*)/m.exec(stderr) ?? [];
      expect(list?.split('\n').slice(0, 26).sort()).toEqual(unknown.map(name => `  ${name}`).sort());
      expect(stderr.match(/Check whether the service has/g)).toHaveLength(1);
      const [, command = ''] = /^To send the 26 unknown files again:\n((?: {2}.*\n)+)/m.exec(stderr) ?? [];
      const again = await type(box, command.replace(url, service.url));
      expect({exitCode: again.exitCode, stderr: again.stderr}).toMatchObject({exitCode: 0});
      expect(await service.records()).toHaveLength(26);
    },
  );

  it('with a journal: each is named, and one command settles all', async () => {
    const {url} = await losing(26, () => client.kill('SIGKILL'));
    const {sandbox: box, service} = await connectedSandbox();
    await pictures(box, names);
    const upload = ['upload', '*.png', '--journal', 'j', '-c', '26', '--base-url'];
    const client = box.start([...upload, url]);
    await client;
    const {stderr, exitCode} = await box.run([...upload, url]);
    expect(exitCode).toBe(5);
    const [, list] = /^media: Each of 26 files was sent .*\n((?: {2}.*\n)*)/m.exec(stderr) ?? [];
    expect(list?.split('\n').slice(0, 26).sort()).toEqual(names.map(name => `  ${name}`).sort());
    const [, command = ''] =
      /^To have the next run send the 26 unknown files again:\n {2}(.*)\n/m.exec(stderr) ?? [];
    expect(command).toBe('media journal resolve j --all --resend');
    expect((await type(box, command)).exitCode).toBe(0);
    expect(await service.records()).toHaveLength(0);
  });
});

describe('what failed, uploaded again by the command that is printed', () => {
  it.each([
    ['a few names', ["it's here.png", '-r.png', '100%.png', '$HOME.png']],
    ['30 names', numbered(30)],
    ['blanks, quotes and backslashes', ['back\\slash "and" \'quotes\' 100%.png']],
    ['what is not printed as it is', ['two\nlines.png', 'a\u200e.png', 'b##[x].png', '\u202ec\t.png']],
  ])('%s: they are sent and nothing else, with the options of the run', async (_name, names) => {
    const failing = await answering(busy);
    const {sandbox: box, service} = await connectedSandbox();
    await pictures(box, ['there.png', ...names]);
    const options = ['--profile', 'work', '--retries=0', '-c4', '--content-type', 'image/x-mine; q=1'];
    const list = Buffer.concat(names.flatMap(name => [Buffer.from(name), Buffer.of(0)]));
    const first = await box.run(
      ['--base-url', failing.url, 'upload', 'gone.png', '--files-from', '-', ...options],
      {
        stdin: 'pipe',
        input: list,
      },
    );
    const command = commandIn(first.stderr);
    expect(command).toContain(`--base-url ${failing.url}`);
    expect(command).toContain('--profile work');
    expect(command).toContain("--retries 0 --concurrency 4 --content-type 'image/x-mine; q=1'");
    const again = await type(box, command.replace(failing.url, service.url));
    expect({exitCode: again.exitCode, stderr: again.stderr}).toMatchObject({exitCode: 0});
    const records = await service.records();
    expect(records.map(({contentType}) => contentType)).toEqual(
      names.map(() => expect.stringContaining('image/x-mine')),
    );
    const stored = await Promise.all(
      records.map(async ({path}) => (await readFile(path)).toString('latin1')),
    );
    const expected = await Promise.all(
      names.map(name =>
        readFile(Buffer.concat([Buffer.from(`${box.directory}/`), Buffer.from(name)]), 'latin1'),
      ),
    );
    expect(stored.sort()).toEqual(expected.sort());
    expect((await readdir(box.directory)).filter(name => name.startsWith('media-'))).toEqual([]);
  });

  it('what selected them: not in the command, which names them', async () => {
    const {box} = await answering((connection, count) =>
      count === 0 ? connection.answer(200, someRecord) : busy(connection),
    );
    await mkdir(join(box.directory, 'work'));
    await pictures(box, ['work/a.png', 'work/b.png', 'work/c.png']);
    const selection = ['-r', '--all', '--exclude', '*.gif', '--shard', '1/1'];
    const typed = ['upload', ...selection, 'work', '-c', '1', '--retries', '0'];
    const {stderr} = await box.run(typed);
    expect(commandIn(stderr)).toBe('media upload --concurrency 1 --retries 0 work/b.png work/c.png');
  });

  it('nothing succeeded: the same command', async () => {
    const {box, url} = await answering(busy);
    await mkdir(join(box.directory, 'my assets'));
    await pictures(box, ['my assets/a.png', 'my assets/b.png']);
    const typed = ['upload', '-r', 'my assets', '--retries', '0', '--base-url', url];
    const {stderr} = await box.run(typed);
    expect(commandIn(stderr)).toBe(`media upload -r 'my assets' --retries 0 --base-url ${url}`);
  });

  it('with a journal: the same command, which sends what is missing', async () => {
    const {box, count: arrived} = await answering((connection, count) =>
      count === 1 ? busy(connection) : connection.answer(200, someRecord),
    );
    await pictures(box, ['a.png', 'b.png']);
    const typed = ['upload', 'a.png', 'b.png', '--journal', 'j', '-c', '1', '--retries', '0'];
    const first = await box.run(typed);
    expect(commandIn(first.stderr)).toBe(`media ${typed.join(' ')}`);
    expect((await type(box, commandIn(first.stderr))).exitCode).toBe(0);
    expect(arrived()).toBe(3);
  });

  it.each([
    ['more than a line holds', numbered(60, 'a-long-name-of-a-photo-of-last-summer-')],
    ['a name that is not UTF-8', ['there.png', Buffer.from('caf\xe9.png', 'latin1')]],
  ])('%s: said so, and no file is left behind', async (_name, names) => {
    const {box} = await answering((connection, count) =>
      count === 0 ? connection.answer(200, someRecord) : busy(connection),
    );
    await pictures(box, names);
    const input = Buffer.concat(names.flatMap(name => [Buffer.from(name), Buffer.of(0)]));
    const {stderr} = await box.run(['upload', '--files-from', '-', '-c', '1', '--retries', '0'], {
      stdin: 'pipe',
      input,
    });
    expect(commandIn(stderr)).toBe('');
    expect(stderr).toMatch(/One command cannot name the (file|59 files) that may succeed later\.\n/);
    expect(stderr).toContain(
      '\nList them for --files-from. Only a run that had --journal FILE from its start',
    );
    expect((await readdir(box.directory)).filter(name => !name.endsWith('.png'))).toEqual([]);
  });

  it.each([
    [
      "there.png $'\\xff.png' --journal j",
      'To retry the file that may succeed later, run the same command again.',
    ],
    [
      "there.png gone.png --template $'{id} \\xff'",
      'One command cannot name the file that may succeed later.',
    ],
  ])('%s, which is not UTF-8: no command, since it would mean something else', async (words, advice) => {
    const {box} = await answering(busy);
    await pictures(box, ['there.png']);
    const {stderr} = await type(box, `media upload ${words} --retries 0`);
    expect(stderr).toContain(`${advice}\n`);
    expect(stderr).not.toContain('  media upload');
  });

  it.each([
    ['missing files and what is no media', ['there.png', 'gone.png', page]],
    ['what failed stood on standard input', ['there.png', '-']],
    ['nothing was sent', ['there.png', 'gone.png', '--dry-run']],
  ])('%s: no command', async (_name, parameters) => {
    const {sandbox: box} = await connectedSandbox();
    await pictures(box, ['there.png']);
    const {stderr} = await box.run(['upload', ...parameters], {stdin: 'pipe', input: ''});
    expect(stderr).toMatch(/[12] failed(, 0 unknown)?\n$/);
    expect(stderr).not.toContain('To retry');
  });
});

describe('the advice on what may succeed later', () => {
  const busyError = new MediaError('service_unavailable', 'Busy.');
  const notTried = (code: ErrorCode) =>
    new MediaError('not_tried', 'Not tried.', {cause: new MediaError(code, 'The end.')});
  const failed = (error: MediaError, facts: object = {}) => outcomeOf({status: 'failed', error, ...facts});

  /** The advice after these outcomes of `media upload a b`, or of a run with these inputs and lists. */
  function adviceOf(outcomes: readonly Outcome[], flags: Partial<UploadFlags> = {}, isRemembered = false) {
    const invocation = {argv: ['upload', 'a', 'b'], optionWords: () => ['--retries', '0']};
    const options = {inputs: ['a', 'b'], types: 'extension', retries: 0, ...flags} as UploadFlags;
    const advice = retryAdvice(options, invocation as unknown as Invocation);
    for (const outcome of outcomes) advice.add(outcome);
    return {retry: advice.advice(isRemembered), goOn: advice.continuation()};
  }

  const same = ['To retry the file that may succeed later:', '  media upload a b'];
  const again = ['To retry the file that may succeed later, run the same command again.'];

  it.each<[string, string[], Partial<UploadFlags>]>([
    ['in files', same, {}],
    ['in a list in a file', same, {filesFrom: ['list', 'dev/list']}],
    ['on standard input', again, {inputs: ['a', '-']}],
    ['in a list on standard input', again, {filesFrom: ['list', '-']}],
    ['in a list of a process substitution', again, {filesFrom: ['/dev/fd/63', 'list']}],
    ['in a list of an open file', again, {filesFrom: ['/proc/self/fd/3']}],
  ])('inputs %s: %j', (_where, expected, flags) => {
    const {retry, goOn} = adviceOf([failed(busyError)], flags);
    expect(retry).toEqual(expected);
    const isSame = expected === same;
    expect(goOn.at(-1)).toMatch(
      isSame ? /^ {2}media upload a b$/ : /^To continue .*, run the same command again\.$/,
    );
  });

  it.each<[string, Outcome[], boolean, string[]]>([
    ['nothing failed', [outcomeOf({status: 'checked'})], false, []],
    ['what will fail again', [failed(new MediaError('file_missing', 'Gone.'))], false, []],
    ['what can be read only once', [failed(busyError, {isOnce: true})], false, []],
    ['not tried, since the key was refused', [failed(notTried('unauthorized'))], false, []],
    ['not tried, since nothing was reached', [failed(notTried('connection_refused'))], false, same],
    [
      'one of two',
      [failed(busyError), outcomeOf({status: 'checked'})],
      false,
      [same[0] ?? '', '  media upload --retries 0 a.png'],
    ],
    ['one of two, with a memory', [failed(busyError), outcomeOf({status: 'checked'})], true, same],
    [
      'two',
      [failed(busyError), failed(busyError)],
      false,
      ['To retry the 2 files that may succeed later:', '  media upload a b'],
    ],
  ])('%s', (_what, outcomes, isRemembered, expected) => {
    expect(adviceOf(outcomes, {}, isRemembered).retry).toEqual(expected);
  });
});
