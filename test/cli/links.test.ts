import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {describe, expect, it} from 'vitest';
import {cellsOf} from '../../src/output/cells.ts';
import {mayLink} from '../../src/output/terminal.ts';
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
