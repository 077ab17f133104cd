import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execaNode} from 'execa';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture} from '../../../support/media.ts';

describe('what a script author tries first, with jq', () => {
  it.each([
    ['the URL of a file', ['photo.png', '--format', 'ndjson'], '.url', 'URL'],
    ['the same from the record', ['photo.png', '--format', 'json'], '.fileUrl', 'URL'],
    ['the ID', ['photo.png', '--ndjson'], '.id', 'ID'],
    [
      'files and URLs',
      ['photo.png', 'gone.png', '--ndjson'],
      'select(.url) | [.file, .url] | @tsv',
      'photo.png\tURL',
    ],
    [
      'what failed',
      ['photo.png', 'gone.png', '--ndjson'],
      'select(.error) | "\\(.file) \\(.error.code)"',
      'gone.png file_missing',
    ],
    ['one file of several', ['photo.png', 'gone.png', '--ndjson'], 'select(.file == "photo.png").id', 'ID'],
    [
      'how many of each',
      ['photo.png', 'gone.png', '--ndjson'],
      '[., inputs] | group_by(.status) | map("\\(.[0].status) \\(length)") | join(", ")',
      'failed 1, uploaded 1',
    ],
  ])('%s', async (_task, words, filter, expected) => {
    const {sandbox, service} = await connectedSandbox();
    await copyFile(fixture('photo.png'), join(sandbox.directory, 'photo.png'));
    const {stdout} = await sandbox.run(['upload', ...words]);
    const {id = '', fileUrl = ''} = (await service.records())[0]?.record ?? {};
    const jq = fileURLToPath(new URL('../../../support/jq.js', import.meta.url));
    const found = await execaNode(jq, ['-r', filter], {input: stdout});
    expect(found.stdout).toBe(expected.replace('URL', `${fileUrl}`).replace('ID', `${id}`));
  });
});
