import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {encode} from 'uqr';
import {describe, expect, it} from 'vitest';
import {cellsOf} from '../../src/output/cells.ts';
import {mayLink} from '../../src/output/terminal.ts';
import {connectedSandbox} from '../support/embedded.ts';
import {eventually} from '../support/eventually.ts';
import {fixture, type Sandbox, sandbox} from '../support/media.ts';
import {scriptedServer} from '../support/scripted-server.ts';
import {runOnTerminal} from '../support/terminal.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');
const address = 'https://cdn.example/m_1.png?a=(b),c+d;e';

/** A sandbox with a service that answers every upload with this PUBLIC URL. */
async function sandboxFor(url: string): Promise<Sandbox> {
  const record = JSON.stringify({id: 'm_1', type: 'IMAGE', urls: [{variant: 'PUBLIC', url}]});
  const server = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, record);
  });
  return sandbox({MEDIA_BASE_URL: server.url, MEDIA_API_KEY: 'mk_some-key'});
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const clipboard = /\u001b\]52;c;([A-Za-z0-9+/=]*)\u0007/;

describe('media upload --copy', () => {
  it('on a terminal: the address goes to its clipboard, nothing of it to stdout', async () => {
    const box = await sandboxFor(address);
    const shell = 'exec "$@" > stdout.txt';
    const {output, exitCode} = await runOnTerminal(box, ['upload', photo, '--copy', '--format', 'id'], {
      shell,
    });
    expect(Buffer.from(clipboard.exec(output)?.[1] ?? '', 'base64').toString()).toBe(address);
    expect(output).toContain("Sent the URL to the terminal's clipboard.");
    expect(await readFile(join(box.directory, 'stdout.txt'), 'utf8')).toBe('m_1\n');
    expect(exitCode).toBe(0);
  });

  it('two files: both addresses, a line each, in the order of the inputs', async () => {
    const {sandbox: box, service} = await connectedSandbox();
    const {output} = await runOnTerminal(box, ['upload', photo, clip, '--copy']);
    const lines = Buffer.from(clipboard.exec(output)?.[1] ?? '', 'base64')
      .toString()
      .split('\n');
    const records = (await service.records()).map(({record}) => record);
    const urlOf = (type: string) => records.find(record => record.type === type)?.fileUrl;
    expect(lines).toEqual([urlOf('IMAGE'), urlOf('VIDEO')]);
  });

  it.each(['--copy', '--qr'])(
    '%s off a terminal: a warning, the upload counts, no escape sequence',
    async option => {
      const box = await sandboxFor(address);
      const {stdout, stderr, exitCode} = await box.run(['upload', photo, option, '--format', 'id']);
      expect({stdout, stderr, exitCode}).toEqual({
        stdout: 'm_1\n',
        stderr: `warning: ${option} needs a terminal on standard error.\n`,
        exitCode: 0,
      });
    },
  );

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'not a url'])(
    'a record whose URL is %s: a warning, nothing is copied, drawn or opened',
    async url => {
      const box = await sandboxFor(url);
      const {env, opened} = await desktop(box);
      const {output, exitCode} = await runOnTerminal(box, ['upload', photo, '--copy', '--qr', '--open'], {
        env,
      });
      expect(output).toContain('the record has no web URL.');
      expect(output).not.toMatch(clipboard);
      expect(output).not.toContain('▀');
      expect(exitCode).toBe(0);
      expect(await opened()).toBe('');
    },
  );

  it('a failed upload and --dry-run: nothing to hand over', async () => {
    const box = await sandboxFor(address);
    for (const parameters of [['gone.png'], [photo, '--dry-run']]) {
      const {output} = await runOnTerminal(box, ['upload', '--copy', '--qr', ...parameters]);
      expect(output).not.toMatch(clipboard);
      expect(output).not.toContain('▀');
    }
  });
});

describe('media upload --qr', () => {
  /** The dark modules of a drawn code, read from its half blocks. */
  function modules(output: string): boolean[][] {
    const rows = stripVTControlCharacters(output)
      .split('\r\n')
      .flatMap(line => /[█▀▄ ]{20,}$/.exec(line) ?? []);
    return rows.flatMap(row => [
      [...row].map(block => block === ' ' || block === '▄'),
      [...row].map(block => block === ' ' || block === '▀'),
    ]);
  }

  it.each([
    ['in colour', []],
    ['without colour', ['--no-color']],
  ])('on a terminal, %s: the code of the address, on stderr', async (name, parameters) => {
    const box = await sandboxFor(address);
    const shell = 'exec "$@" > stdout.txt';
    const {output, exitCode} = await runOnTerminal(box, ['upload', photo, '--qr', '--json', ...parameters], {
      shell,
    });
    const expected = encode(new URL(address).href, {border: 2}).data;
    expect(modules(output).slice(0, expected.length)).toEqual(expected);
    expect(output.includes('\u001b[97;40m')).toBe(name === 'in colour');
    expect(output).toContain(`\r\n${address}\r\n`);
    expect(await readFile(join(box.directory, 'stdout.txt'), 'utf8')).toMatch(/^\{"id":"m_1".*\}\n$/);
    expect(exitCode).toBe(0);
  });

  it('a terminal too narrow for it: a warning with the address', async () => {
    const box = await sandboxFor(address);
    const {output} = await runOnTerminal(box, ['upload', photo, '--qr'], {columns: 24});
    expect(output.replace(/\s+/g, ' ')).toContain('The terminal is too narrow for the QR code of');
    expect(modules(output)).toEqual([]);
  });
});

/** A desktop for the sandbox whose opener notes what it is asked to open. */
async function desktop(box: Sandbox) {
  const directory = join(box.directory, 'bin');
  const notes = join(box.directory, 'opened');
  await mkdir(directory);
  const opener = `#!/bin/sh\nenv > '${notes}.env'\nprintf '%s\\n' "$#" "$@" >> '${notes}'\n`;
  await writeFile(join(directory, 'xdg-open'), opener, {mode: 0o755});
  return {
    env: {PATH: `${directory}:${box.env['PATH']}`},
    opened: () => readFile(notes, 'utf8').catch(() => ''),
    environment: () => readFile(`${notes}.env`, 'utf8'),
  };
}

describe.runIf(process.platform === 'linux')('media upload --open', () => {
  it('the address, as one argument, in the browser; also off a terminal', async () => {
    const box = await sandboxFor('https://cdn.example/a b$(touch x);`id`.png');
    const {env, opened, environment} = await desktop(box);
    const secrets = {
      MEDIA_CLIENT_KEY_PASSPHRASE: 'open sesame',
      https_proxy: 'http://me:p%40ss@proxy.example:3128',
    };
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--open', '--format', 'id'], {
      env: {...box.env, ...env, ...secrets},
    });
    expect({stdout, stderr, exitCode}).toEqual({stdout: 'm_1\n', stderr: '', exitCode: 0});
    await eventually(async () => (await opened()).endsWith('.png\n'));
    expect(await opened()).toBe('1\nhttps://cdn.example/a%20b$(touch%20x);%60id%60.png\n');
    const inherited = await environment();
    expect(inherited).toContain(`HOME=${box.directory}\n`);
    expect(inherited).toContain('https_proxy=http://proxy.example:3128\n');
    expect(inherited).not.toMatch(/MEDIA_API_KEY|PASSPHRASE|sesame|p%40ss/);
  });

  it('12 files: the first 10, and that is said', async () => {
    const box = await sandboxFor(address);
    const {env, opened} = await desktop(box);
    const png = await readFile(photo);
    const names = Array.from({length: 12}, (_, index) => `${index}.png`);
    for (const name of names) await writeFile(join(box.directory, name), png);
    const {stderr} = await box.run(['upload', ...names, '--open', '--format', 'id'], {
      env: {...box.env, ...env},
    });
    expect(stderr).toContain('warning: Only the first 10 of 12 URLs were shown.\n');
    await eventually(async () => (await opened()).split('\n').length === 21);
  });
});

describe('links in tables', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
  const links = /\u001b\]8;id=([^;]+);(https?:[^\u001b]*)\u001b\\(.*?)\u001b\]8;;\u001b\\/g;
  const known = {TERM_PROGRAM: 'WezTerm'};

  it.each([200, 100, 60, 40, 20])(
    '%i columns: the parts of an address are one link, no line is longer',
    async columns => {
      const box = await sandboxFor(address);
      const shell = 'exec "$@" 2> /dev/null';
      for (const inputs of [[photo], [photo, clip]]) {
        const {output} = await runOnTerminal(box, ['upload', ...inputs], {columns, shell, env: known});
        const plain = await runOnTerminal(box, ['upload', ...inputs], {columns, shell});
        const found = [...output.matchAll(links)];
        expect(new Set(found.map(([, , href]) => href))).toEqual(new Set([address]));
        const texts = new Map<string, string>();
        for (const [, id = '', , text = ''] of found) texts.set(id, (texts.get(id) ?? '') + text);
        expect([...texts.values()]).toEqual(inputs.map(() => address));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
        expect(output.replace(/\u001b\]8;[^\u001b]*\u001b\\/g, '')).toBe(plain.output);
        const lines = stripVTControlCharacters(plain.output.replaceAll(address, '')).split('\r\n');
        expect(Math.max(...lines.map(cellsOf))).toBeLessThanOrEqual(columns);
      }
    },
  );

  it('a pipe and a file: never a link, even under FORCE_HYPERLINK', async () => {
    const box = await sandboxFor(address);
    const env = {...known, FORCE_HYPERLINK: '1', FORCE_COLOR: '1'};
    expect((await box.run(['upload', photo], {env: {...box.env, ...env}})).stdout).not.toContain('\u001b]8');
    const shell = 'exec "$@" > stdout.txt';
    await runOnTerminal(box, ['upload', photo], {env, shell});
    expect(await readFile(join(box.directory, 'stdout.txt'), 'utf8')).not.toContain('\u001b]8');
  });

  it('an address of another scheme, or with escapes in it: no link', async () => {
    for (const url of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://a.example/\u001b]8;;https://evil.example\u0007',
    ]) {
      const {output} = await runOnTerminal(await sandboxFor(url), ['upload', photo], {env: known});
      expect(output).not.toContain('\u001b]8');
    }
  });

  it.each([
    [{TERM_PROGRAM: 'iTerm.app'}, true],
    [{TERM_PROGRAM: 'vscode'}, true],
    [{TERM: 'xterm-kitty'}, true],
    [{TERM: 'foot'}, true],
    [{WT_SESSION: 'x'}, true],
    [{VTE_VERSION: '7006'}, true],
    [{VTE_VERSION: '5001'}, false],
    [{KONSOLE_VERSION: '220400'}, true],
    [{TERM: 'xterm-256color'}, false],
    [{TERM_PROGRAM: 'Apple_Terminal'}, false],
    [{TERM: 'tmux-256color', TMUX: 'x', VTE_VERSION: '7006'}, false],
    [{TERM: 'tmux-256color', TMUX: 'x', FORCE_HYPERLINK: '1'}, true],
    [{TERM_PROGRAM: 'WezTerm', FORCE_HYPERLINK: '0'}, false],
    [{TERM_PROGRAM: 'WezTerm', CI: 'true'}, false],
  ])('a terminal with %j: links %s', (env, expected) => {
    const terminal = {isTTY: true} as Parameters<typeof mayLink>[0];
    expect(mayLink(terminal, env, true)).toBe(expected);
    expect(mayLink(terminal, env, false)).toBe(false);
    expect(mayLink({isTTY: false} as typeof terminal, env, true)).toBe(false);
  });
});
