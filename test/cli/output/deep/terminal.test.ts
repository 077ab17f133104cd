import {copyFile, readFile, stat, writeFile} from 'node:fs/promises';
import {constants} from 'node:os';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {cellsOf} from '../../../../src/cli/output/cells.ts';
import {connectedSandbox, embeddedService} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture, type Sandbox, sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {onTerminal, runOnTerminal, type TerminalOptions} from '../../../support/terminal.ts';

const photo = fixture('photo.png');

// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const style = /\u001b\[[\d;]*m/;
const frames = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const spinner = new RegExp(`[${frames.join('')}]`);
const hideCursor = '\u001b[?25l';
/** What the spinner leaves when it stops. */
const clearLine = '\u001b[1G\u001b[0K';

/** A server that answers uploads only when told to. */
async function slowService() {
  let release = () => {};
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    await released;
    connection.answer(200, someRecord);
  });
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
  return {box, requests, release};
}

describe('media upload on a terminal', () => {
  it('80 columns: a spinner on stderr alone, gone at the end, the cursor never hidden', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo, '--template', '{id}\\n'], {
      shell: 'exec "$@" > stdout.txt',
    });
    await terminal.shows('13.3 KiB sent, waiting for the response');
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).toMatch(spinner);
    expect(terminal.output()).toContain('photo.png');
    const lastFrame = Math.max(...frames.map(frame => terminal.output().lastIndexOf(frame)));
    expect(lastFrame).toBeGreaterThan(0);
    expect(terminal.output().slice(lastFrame).endsWith(clearLine)).toBe(true);
    expect(terminal.output()).not.toContain(hideCursor);
    expect(await readFile(join(box.directory, 'stdout.txt'), 'utf8')).toBe('m_1\n');
  });

  it('Ctrl-C twice while the response is awaited: ended by SIGINT at once, the cursor still there', async () => {
    const {box} = await slowService();
    const terminal = onTerminal(box, ['upload', photo]);
    await terminal.shows('waiting for the response');
    terminal.write('\u0003');
    await terminal.shows('again to quit now');
    // Within 100 ms, the same signal would count once.
    await new Promise(resolve => setTimeout(resolve, 110));
    terminal.write('\u0003');
    expect(await terminal.end).toMatchObject({signal: 2});
    expect(terminal.output()).not.toContain(hideCursor);
  });

  it('a job in the background: nothing is drawn over the prompt of the shell', async context => {
    if (process.platform !== 'linux') notRun(context, 'only Linux says so to a program without native code');
    const {box, requests, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo, '--template', '{id}\\n'], {
      shell: 'set -m; "$@" > stdout.txt & wait $!',
    });
    await eventually(() => requests.length > 0);
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).not.toContain(clearLine);
    expect(terminal.output()).not.toMatch(spinner);
  });

  it('a failure while the spinner turns: on a line of its own', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', 'gone.png', photo, '--template', '{id}\\n'], {
      shell: 'exec "$@" > stdout.txt',
    });
    await terminal.shows('waiting for the response');
    release();
    expect(await terminal.end).toMatchObject({exitCode: 3});
    expect(terminal.output()).toContain('\u001b[31mmedia:\u001b[39m gone.png does not exist.\r\n');
    expect(terminal.output()).toContain('1 uploaded, 0 skipped, 1 failed, 0 unknown\r\n');
  });

  it('several files: the whole batch, its counts, the files in flight and how many more', async () => {
    const {box, release} = await slowService();
    const names = Array.from({length: 30}, (_, index) => `${'long-'.repeat(20)}${index}.png`);
    for (const name of names) await copyFile(photo, join(box.directory, name));
    const terminal = onTerminal(box, ['upload', ...names, '-c', '20', '--template', '{id}\\n'], {
      shell: 'exec "$@" > stdout.txt',
    });
    await terminal.shows(/\d+% {2}[\d.]+ KiB of 397\.9 KiB, /);
    await terminal.shows('0 of 30 files: 0 uploaded, 0 skipped, 0 failed, 0 unknown');
    await terminal.shows('13.3 KiB sent, waiting for the response');
    await terminal.shows('  and 12 more');
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output().endsWith('30 uploaded, 0 skipped, 0 failed, 0 unknown\r\n')).toBe(true);
    const drawn = terminal
      .output()
      .split(/\r?\n/)
      .flatMap(line => line.split(clearLine.slice(0, 4)))
      .map(line => stripVTControlCharacters(line));
    expect(Math.max(...drawn.map(cellsOf))).toBeLessThanOrEqual(80);
    expect(drawn.join('\n')).toMatch(/long-\S*…\S*-\d+\.png {2}/);
  });

  it('NO_COLOR=1: no colour in spinner, table and failures', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo, 'gone.png'], {env: {NO_COLOR: '1'}});
    await terminal.shows(spinner);
    release();
    expect(await terminal.end).toMatchObject({exitCode: 3});
    expect(terminal.output()).toContain('gone.png does not exist.');
    expect(terminal.output()).toContain('  https://cdn.example/m_1');
    expect(terminal.output()).not.toMatch(style);
  });

  it('colour where it is allowed: spinner, headings and failures', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo, 'gone.png']);
    await terminal.shows(spinner);
    release();
    await terminal.end;
    expect(frames.filter(frame => terminal.output().includes(`\u001b[36m${frame}\u001b[39m`))).not.toEqual(
      [],
    );
    expect(terminal.output()).toContain('\u001b[1mfile\u001b[22m ');
    expect(terminal.output()).toContain('\u001b[32muploaded\u001b[39m');
    expect(terminal.output()).toContain('\u001b[31mfailed\u001b[39m');
    expect(terminal.output()).toContain('\u001b[31mmedia:\u001b[39m');
  });

  it.each([
    ['TERM=dumb', {env: {TERM: 'dumb'}}],
    ['a terminal of no width', {shell: 'stty cols 0 rows 0; exec "$@"'}],
    ['--quiet', {parameters: ['--quiet']}],
    ['--no-progress', {parameters: ['--no-progress']}],
  ] as [string, TerminalOptions & {parameters?: string[]}][])(
    '%s: no animation, little output',
    async (_name, options) => {
      const {sandbox, service} = await connectedSandbox();
      const terminal = onTerminal(
        sandbox,
        ['upload', photo, fixture('photo.gif'), ...(options.parameters ?? [])],
        options,
      );
      expect(await terminal.end).toMatchObject({exitCode: 0});
      expect(await service.records()).toHaveLength(2);
      expect(terminal.output()).not.toMatch(spinner);
      expect(terminal.output()).not.toContain('\u001b[?25');
      expect(terminal.output().length).toBeLessThan(3_000);
      if (options.env?.['TERM'] === 'dumb') expect(terminal.output()).not.toMatch(style);
    },
  );

  it('LC_ALL=C: spinner and table in ASCII alone', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo, fixture('photo.gif')], {
      columns: 300,
      env: {LC_ALL: 'C', NO_COLOR: '1'},
    });
    await terminal.shows('waiting for the response');
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).toMatch(/\+-+\+-+\+/);
    expect(Buffer.from(terminal.output()).every(byte => byte < 0x80)).toBe(true);
  });

  it('standard input that is to be typed: what is waited for, and how it ends', async () => {
    const {sandbox: box} = await connectedSandbox();
    const asked = async (parameters: readonly string[], text: string) => {
      const terminal = onTerminal(box, parameters);
      await terminal.shows(text);
      terminal.write('\u0004');
      return (await terminal.end).exitCode;
    };
    const content = 'Waiting for the content of a file, on this terminal. End with Ctrl-D.\r\n';
    expect(await asked(['upload', '-', '--name', 'a.png'], content)).toBe(1);
    const names = 'Waiting for the names of files, one per line, on this terminal. End with';
    expect(await asked(['upload', '--files-from', '-'], names)).toBe(0);
    expect(await asked(['graphql', '-'], 'Waiting for a query, on this terminal. End with Ctrl-D.')).toBe(2);
  });

  it('one file that was uploaded before: said; Ctrl-C while it is being sent: no response is waited for', async () => {
    const {sandbox: box} = await connectedSandbox();
    await box.run(['upload', photo, '--journal', 'a.journal']);
    const {output} = await runOnTerminal(box, ['upload', photo, '--journal', 'a.journal']);
    expect(output).toContain('photo.png was uploaded before, and is not sent again. This is its record.\r\n');
    await copyFile(photo, join(box.directory, 'photo.png'));
    await writeFile(join(box.directory, 'a.md'), '![a](photo.png)\n');
    const rewrite = await runOnTerminal(box, ['rewrite', '--write', 'a.md', '--journal', 'a.journal']);
    expect(rewrite.output).toContain('a.md: 1 URL\r\n');
    expect(rewrite.output).not.toContain('This is its record.');
    const terminal = onTerminal(box, ['upload', photo, '--limit-rate', '100']);
    await terminal.shows('/13.3 KiB');
    terminal.write('\u0003');
    await terminal.shows('Stopping. Press Ctrl-C again to quit now.\r\n');
    expect(await terminal.end).toMatchObject({signal: 2});
  });

  it('a terminal that loses its width while the spinner turns: the spinner stops, little output', async () => {
    const {box, release} = await slowService();
    const terminal = onTerminal(box, ['upload', photo]);
    await terminal.shows('waiting for the response');
    await execa('stty', ['-F', terminal.pty, 'cols', '0']);
    await eventually(() => terminal.output().endsWith(clearLine));
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).toContain('m_1');
    expect(terminal.output().length).toBeLessThan(20_000);
  });
});

describe('a terminal that is resized during a run', () => {
  it('from 120 to 80 columns: the table fits into 80', async () => {
    const {box, release} = await slowService();
    const name = `${'long-'.repeat(30)}.png`;
    await copyFile(photo, join(box.directory, name));
    const terminal = onTerminal(box, ['upload', name, fixture('photo.gif')], {columns: 120});
    await terminal.shows('waiting for the response');
    const before = terminal.output().length;
    await execa('stty', ['-F', terminal.pty, 'cols', '80']);
    // The line of this file fills the width that the program knows.
    const widths = () =>
      terminal
        .output()
        .slice(before)
        .replaceAll(clearLine.slice(0, 4), '\n')
        .split(/[\r\n]+/)
        .map(line => stripVTControlCharacters(line))
        .filter(line => line.includes('long-') && line.includes('waiting for'))
        .map(cellsOf);
    await eventually(() => widths().some(width => width > 70 && width <= 80));
    release();
    expect(await terminal.end).toMatchObject({exitCode: 0});
    const lines = stripVTControlCharacters(terminal.output()).split('\r\n');
    // The first line of the table follows what was drawn before it.
    const table = lines.slice(lines.findIndex(line => /file$/.test(line)) + 1);
    expect(table.length).toBeGreaterThan(4);
    expect(Math.max(...table.map(cellsOf))).toBeLessThanOrEqual(80);
  });
});

describe('a URL that is longer than the terminal', () => {
  it('40 columns: whole in one piece, in the table of several and of one', async () => {
    const columns = 40;
    const url = `https://cdn.example/${'a-long-way/'.repeat(20)}photo.png?signature=abc`;
    const {url: base} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, JSON.stringify({id: 'm_1', urls: [{variant: 'PUBLIC', url}], fileUrl: url}));
    });
    const box = await sandbox({MEDIA_BASE_URL: base, MEDIA_API_KEY: 'mk_some-key-for-tests'});
    for (const inputs of [[photo], [photo, fixture('photo.gif')]]) {
      const terminal = onTerminal(box, ['upload', ...inputs], {columns, shell: 'exec "$@" 2> /dev/null'});
      expect(await terminal.end).toMatchObject({exitCode: 0});
      const shown = stripVTControlCharacters(terminal.output());
      expect(shown.split(url)).toHaveLength(inputs.length + 1);
      const others = shown.replaceAll(url, '').split('\r\n');
      expect(Math.max(...others.map(cellsOf))).toBeLessThanOrEqual(columns);
    }
  });
});

describe('tables on narrow terminals', () => {
  const longName = 'a long name of a photo from last summer, 夏の写真 🏖️.png';

  // Random widths: test/cli/output/deep/output-property.test.ts.
  it('40 columns: no line is longer but a URL, nothing is left out', async () => {
    const columns = 40;
    const {sandbox, service} = await connectedSandbox();
    await copyFile(photo, join(sandbox.directory, longName));
    const shell = 'exec "$@" 2> /dev/null';
    const several = onTerminal(sandbox, ['upload', longName, fixture('photo.gif'), 'gone.png'], {
      columns,
      shell,
    });
    await several.end;
    const one = onTerminal(sandbox, ['upload', photo], {columns, shell});
    await one.end;
    const records = (await service.records()).map(({record}) => record);
    for (const output of [several.output(), one.output()]) {
      const lines = stripVTControlCharacters(output)
        .split('\r\n')
        .filter(line => !/^ *http:\S+$/.test(line));
      expect(Math.max(...lines.map(line => cellsOf(line.replaceAll('\ufe0f', ''))))).toBeLessThanOrEqual(
        columns,
      );
      expect(output).not.toContain('…');
    }
    const flat = (text: string) => stripVTControlCharacters(text).replace(/[│\s]/g, '');
    for (const {id, fileUrl} of records.slice(0, 2)) {
      expect(stripVTControlCharacters(several.output())).toContain(fileUrl);
      expect(stripVTControlCharacters(several.output())).toContain(id);
    }
    expect(flat(several.output())).toContain('file_missing');
    expect(stripVTControlCharacters(one.output())).toContain(records[2]?.fileUrl);
  });
});

describe('off a terminal', () => {
  it('FORCE_COLOR=1: colour in table and failures', async () => {
    const {sandbox} = await connectedSandbox();
    const {stdout, stderr} = await sandbox.run(['upload', photo, 'gone.png'], {
      env: {...sandbox.env, FORCE_COLOR: '1'},
    });
    expect(stdout).toContain('\u001b[1m file ');
    expect(stderr).toContain('\u001b[31mmedia:\u001b[39m');
    expect(stderr).not.toMatch(spinner);
  });

  it('one file: nothing on stderr; several: the summary alone', async () => {
    const {sandbox} = await connectedSandbox();
    expect(await sandbox.run(['upload', photo])).toMatchObject({stderr: '', exitCode: 0});
    expect(await sandbox.run(['upload', photo, fixture('photo.jpg')])).toMatchObject({
      stderr: '2 uploaded, 0 skipped, 0 failed, 0 unknown\n',
      exitCode: 0,
    });
  });
});

describe('media login on a terminal', () => {
  const config = (box: Sandbox) => join(box.directory, 'config/config.json');

  it('asks for base URL and key; the key never shows; both are stored', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const terminal = onTerminal(box, ['login']);
    await terminal.shows('Base URL of the service');
    terminal.write(`${service.url}\r`);
    await terminal.shows(`API key for ${service.url}`);
    terminal.write(`${key}\r`);
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).toContain('is stored in');
    for (const part of [key, key.slice(3, 10), key.slice(-6)]) expect(terminal.output()).not.toContain(part);
    expect(JSON.parse(await readFile(config(box), 'utf8')).profiles.default).toMatchObject({
      'base-url': service.url,
      key,
    });
    expect((await stat(config(box))).mode & 0o777).toBe(0o600);
    expect(await box.run(['whoami'])).toMatchObject({exitCode: 0});
  });

  it.each(['--no-verify', '--key-stdin'])(
    'a base URL that is known, %s: only the key is asked for, on stderr, and not shown',
    async option => {
      const box = await sandbox();
      const shell = 'exec "$@" > stdout.txt';
      const words = ['login', '--base-url', 'https://one.example', '--no-verify', option];
      const terminal = onTerminal(box, words, {shell});
      await terminal.shows('API key for https://one.example');
      terminal.write('mk_typed-by-hand\r');
      expect(await terminal.end).toMatchObject({exitCode: 0});
      expect(terminal.output()).not.toMatch(/Base URL|typed-by-hand/);
      expect(await readFile(join(box.directory, 'stdout.txt'), 'utf8')).toBe('');
    },
  );

  it('a bare host, and a key that the service does not know: asked for again, three times', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const question = new RegExp(`API key for ${service.url}`, 'g');
    for (const keys of [
      ['mk_wrong-one', key],
      ['mk_wrong-one', 'mk_wrong-two', 'mk_wrong-three'],
    ]) {
      const terminal = onTerminal(box, ['login']);
      if (keys.length === 2) {
        await terminal.shows('Base URL of the service');
        terminal.write(`${new URL(service.url).host}\r`);
      }
      for (const [index, typed] of keys.entries()) {
        await eventually(() => (terminal.output().match(question) ?? []).length === index + 1);
        terminal.write(`${typed}\r`);
      }
      expect(await terminal.end).toMatchObject({exitCode: keys.length === 2 ? 0 : 4});
      expect(terminal.output().match(/does not know this API key/g)).toHaveLength(keys.length === 2 ? 1 : 3);
      expect(terminal.output()).not.toContain('wrong');
    }
    expect(await readFile(config(box), 'utf8')).toContain(key);
  });

  it('certificates that cannot be read, for a base URL that is asked for: an error before the key is asked for', async () => {
    const terminal = onTerminal(await sandbox(), ['login', '--cacert', 'gone.pem']);
    await terminal.shows('Base URL of the service');
    terminal.write('https://one.example\r');
    expect(await terminal.end).toMatchObject({exitCode: 2});
    expect(terminal.output()).toContain('gone.pem');
    expect(terminal.output()).not.toContain('API key for');
  });

  it('what cannot be right: asked again, with the reason', async () => {
    const box = await sandbox();
    const terminal = onTerminal(box, ['login', '--no-verify']);
    await terminal.shows('Base URL of the service');
    terminal.write('http://media.example\r');
    await terminal.shows('unencrypted');
    terminal.write(`${'\u007f'.repeat(20)}https://media.example\r`);
    await terminal.shows('API key for https://media.example');
    terminal.write('two words\r');
    await terminal.shows('has spaces, line breaks or other characters that no key has');
    terminal.write(`${'\u007f'.repeat(9)}mk_one-word\r`);
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(await readFile(config(box), 'utf8')).toContain('mk_one-word');
  });

  it.each(['Base URL of the service', 'API key for'])(
    'Ctrl-C at "%s": nothing is stored, ended by SIGINT',
    async question => {
      const box = await sandbox();
      const terminal = onTerminal(box, ['login', '--no-verify']);
      await terminal.shows('Base URL of the service');
      if (question !== 'Base URL of the service') terminal.write('https://one.example\r');
      await terminal.shows(question);
      terminal.write('mk_half-a-key');
      terminal.write('\u0003');
      expect(await terminal.end).toMatchObject({signal: 2});
      expect(terminal.output()).not.toContain(hideCursor);
      if (question !== 'Base URL of the service') expect(terminal.output()).not.toContain('half');
      await expect(stat(join(box.directory, 'config'))).rejects.toThrow('ENOENT');
    },
  );

  it.each(['Base URL of the service', 'API key for'])(
    'Ctrl-D at "%s": cancelled with a sentence, exit 1',
    async question => {
      const box = await sandbox();
      const terminal = onTerminal(box, ['login', '--no-verify']);
      await terminal.shows('Base URL of the service');
      if (question !== 'Base URL of the service') terminal.write('https://one.example\r');
      await terminal.shows(question);
      terminal.write('\u0004');
      expect(await terminal.end).toMatchObject({exitCode: 1});
      expect(terminal.output()).not.toContain(hideCursor);
      const shown = stripVTControlCharacters(terminal.output());
      expect(shown).toMatch(/: \r\nmedia: The login was cancelled\.\r\n {2}Nothing was stored\.\r\n$/);
      await expect(stat(join(box.directory, 'config'))).rejects.toThrow('ENOENT');
    },
  );

  it('Ctrl-Z and fg: the terminal is as it was meanwhile, and the question is still there', async () => {
    const box = await sandbox();
    const shell = 'set -m; stty -g; "$@"; echo "status $?"; stty -g; fg; echo "status $?"';
    const terminal = onTerminal(box, ['login', '--no-verify', '--base-url', 'https://one.example'], {shell});
    await terminal.shows('API key for https://one.example');
    terminal.write('mk_half-and-\u001a');
    await terminal.shows(/status 148.*API key for/s);
    terminal.write('half\r');
    await terminal.shows('status 0');
    await terminal.end;
    const [before, stopped] = terminal.output().match(/^[\da-f]+(:[\da-f]+)+/gm) ?? [];
    expect(stopped).toBe(before);
    expect(terminal.output()).not.toMatch(/half/);
    expect(terminal.output()).not.toContain(hideCursor);
    expect(await readFile(config(box), 'utf8')).toContain('mk_half-and-half');
  });

  it('Ctrl-Z without a shell that could continue it: goes on, and the key does not show', async () => {
    const box = await sandbox();
    const terminal = onTerminal(box, ['login', '--no-verify', '--base-url', 'https://one.example']);
    await terminal.shows('API key for https://one.example');
    terminal.write('\u001a');
    await terminal.shows(/(API key for.*){2}/s);
    terminal.write('mk_key-for-tests\r');
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).not.toContain('for-tests');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s: the terminal is as it was', async signal => {
    const box = await sandbox();
    const shell = `stty -g; sh -c 'echo pid $$; exec "$@"' sh "$@"; echo "status $?"; stty -g`;
    const terminal = onTerminal(box, ['login', '--base-url', 'https://one.example'], {shell});
    await terminal.shows('API key for https://one.example');
    process.kill(Number(/pid (\d+)/.exec(terminal.output())?.[1]), signal);
    await terminal.end;
    expect(terminal.output()).toContain(`status ${128 + constants.signals[signal]}`);
    const [before, after] = terminal.output().match(/^[\da-f]+(:[\da-f]+)+/gm) ?? [];
    expect(after).toBe(before);
    expect(terminal.output()).not.toContain(hideCursor);
  });

  it('a shell around it: sees status 130', async () => {
    const box = await sandbox();
    const terminal = onTerminal(box, ['login'], {
      shell: 'trap "" INT; (trap - INT; exec "$@"); echo "status $?"',
    });
    await terminal.shows('Base URL of the service');
    terminal.write('\u0003');
    await terminal.shows('status 130');
    expect(await terminal.end).toMatchObject({exitCode: 0});
  });

  it('a terminal that does not say how wide it is: each question in one line', async () => {
    const box = await sandbox();
    const shell = 'stty columns 0; exec "$@"';
    const terminal = onTerminal(box, ['login', '--no-verify', '--base-url', 'https://one.example'], {shell});
    await terminal.shows('API key for https://one.example');
    terminal.write('mk_key-for-tests\r');
    expect(await terminal.end).toMatchObject({exitCode: 0});
  });

  it('NO_COLOR=1: questions without colour', async () => {
    const box = await sandbox();
    const terminal = onTerminal(box, ['login', '--no-verify'], {env: {NO_COLOR: '1'}});
    await terminal.shows('Base URL of the service');
    terminal.write('https://one.example\r');
    await terminal.shows('API key for');
    terminal.write('mk_key-for-tests\r');
    expect(await terminal.end).toMatchObject({exitCode: 0});
    expect(terminal.output()).not.toMatch(style);
  });
});
