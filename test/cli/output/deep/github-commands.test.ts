import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../../../support/media.ts';
import {optionOf} from '../../../support/output-formats.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';
import {commandsIn, onGithub} from '../github.ts';

const photo = fixture('photo.png');

describe('untrusted text on GitHub', () => {
  const hostile = [
    '::add-mask::x',
    '##[add-mask]x',
    'a ##[group]b',
    '\u00a0::stop-commands::t',
    'x\n::warning::y',
    'x\r##[error]z',
  ];
  const record = JSON.stringify({
    id: '::set-output name=a::b',
    type: '##[debug]t',
    urls: [{variant: 'PUBLIC', url: '::error::https://x.example/##[x]'}],
    imageType: 'x\n::error::y\r::notice::z',
  });

  it.each(['table', 'json', 'ndjson', 'url', 'markdown'] as const)(
    '--format %s: names and records form no command on either stream',
    async format => {
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(200, record);
      });
      const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
      await onGithub(box);
      // Names from a list are never patterns.
      const input = hostile.map(name => `${name}.png\0`).join('');
      for (const ci of [[], ['--ci']]) {
        const {stdout, stderr} = await box.run(
          ['upload', photo, '--files-from', '-', ...optionOf(format), ...ci],
          {stdin: 'pipe', input},
        );
        expect(commandsIn(stdout)).toEqual([]);
        const commands = commandsIn(stderr);
        // The URL of the record is none of the web.
        const reported = format === 'markdown' ? 7 : 6;
        expect(commands).toHaveLength(ci.length === 0 ? 0 : reported);
        for (const command of commands) {
          expect(command).toMatch(/^::error file=[^:,\n]*,title=media upload%3A (?:file_missing|no_url)::/);
          expect(command).not.toContain('##[');
        }
        if (format === 'json') expect(JSON.parse(stdout)).toEqual(JSON.parse(record));
      }
    },
  );
});
